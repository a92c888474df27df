import Foundation
import Glibc

/// A folder that goes away with its owner.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "command-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of something in the folder.
  func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file and gives its path.
  func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: path(name)))
    return path(name)
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self)
  }

  /// Every file below a folder with its bytes.
  func files(below name: String) throws -> [String: Data] {
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
