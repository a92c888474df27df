import Foundation
import Glibc

/// A test's own folder, removed with this object.
package final class TemporaryFolder: Sendable {
  /// The folder's path, without a trailing slash.
  package let path: String

  /// Makes an empty folder.
  package init() throws {
    // In memory if possible, because thousands of commits would wait for the device.
    let memory = URL(filePath: "/dev/shm")
    let parent =
      access(memory.path, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory
    let url = parent.appending(path: "larder-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of an entry in the folder.
  package func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file, creating the folders above it.
  package func write(_ bytes: [UInt8], to name: String) throws {
    let url = URL(filePath: path(name))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(bytes).write(to: url)
  }

  /// Writes a text file, creating the folders above it.
  ///
  /// - Returns: The file's path.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    try write(Array(text.utf8), to: name)
    return path(name)
  }

  /// A file's bytes as text.
  package func text(_ name: String) throws -> String {
    String(decoding: try read(name), as: UTF8.self)
  }

  /// A file's bytes.
  package func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: path(name))))
  }

  /// The state of every regular file, link, pipe and socket below `name`, by relative path.
  package func files(below name: String) -> [String: FileState] {
    var found: [String: FileState] = [:]
    let root = path(name)
    for case let relative as String in FileManager.default.enumerator(atPath: root) ?? .init() {
      var status = stat()
      guard lstat("\(root)/\(relative)", &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
        continue
      }
      found["\(name)/\(relative)"] = FileState(status)
    }
    return found
  }

  /// The state of one file from `lstat`; nil if it does not exist.
  package func state(of name: String) -> FileState? {
    var status = stat()
    return lstat(path(name), &status) == 0 ? FileState(status) : nil
  }
}

/// The identity, time and permissions of a file, to detect rewrites.
package struct FileState: Hashable, Sendable {
  /// The inode number.
  package let inode: UInt
  /// The size in bytes.
  package let bytes: Int
  /// The modification time: seconds and nanoseconds.
  package let modified: [Int]
  /// The permission bits.
  package let mode: UInt32

  init(_ status: stat) {
    inode = UInt(status.st_ino)
    bytes = Int(status.st_size)
    modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    mode = status.st_mode & 0o7777
  }
}
