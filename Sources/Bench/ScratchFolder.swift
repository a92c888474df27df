import FoundationEssentials
import Glibc
import Transport

/// A folder of its own for one measurement, gone when it ends.
final class ScratchFolder: Sendable {
  let path: String

  /// Makes an empty folder in `parent`.
  init(in parent: String) throws(BenchError) {
    var template = Array("\(parent)/larder-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      let words = systemWords(errno)
      throw BenchError(
        .disk,
        "cannot make a folder in \(parent): \(words)",
        remedy: .otherScratch
      )
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// An empty folder in it, where nothing is left of an older one of that name.
  func empty(_ name: String) throws -> String {
    let folder = "\(path)/\(name)"
    if access(folder, F_OK) == 0 { try FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
