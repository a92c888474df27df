import Foundation
import Glibc
import Support

extension TemporaryFolder {
  /// Every file below a folder with its bytes.
  func contents(below name: String) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path(name))
    return names.reduce(into: [:]) { files, file in
      files[file] = FileManager.default.contents(atPath: path("\(name)/\(file)"))
    }
  }

  /// Everything below a folder, each with its inode and the time of its last change.
  func stamps(below name: String) throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path(name)).sorted()
    return ([""] + names).map { file in
      var status = stat()
      lstat(path("\(name)/\(file)"), &status)
      let time = status.st_mtim
      return "\(file) \(status.st_ino) \(time.tv_sec).\(time.tv_nsec) \(status.st_size)"
    }
  }
}
