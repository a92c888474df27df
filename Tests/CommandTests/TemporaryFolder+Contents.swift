import Foundation
import Glibc
import Support

extension TemporaryFolder {
  /// The files below a folder, with their bytes.
  func contents(below name: String) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path(name))
    return names.reduce(into: [:]) { files, file in
      files[file] = FileManager.default.contents(atPath: path("\(name)/\(file)"))
    }
  }

  /// The entries below a folder, each with its inode and change time.
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
