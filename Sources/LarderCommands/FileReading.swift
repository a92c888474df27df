import Glibc
import Larder
import SystemPackage
import Transport

/// Reads small files that the user names.
enum FileReading {
  /// The file's bytes, at most one more than `limit`, by which the caller knows that the file is larger.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - what: what it is, for the message.
  ///   - limit: how many bytes are enough.
  /// - Returns: The bytes.
  /// - Throws: ``CommandFailure`` when the file cannot be read.
  static func bytes(_ path: String, what: String, limit: Int) throws -> [UInt8] {
    do {
      return try BoundedReading.bytes(ofFile: path, limit: limit)
    } catch let error as Errno {
      let words = systemWords(error.rawValue)
      // A missing file is a slip on the command line; one that cannot be read, a matter of rights.
      throw CommandFailure(
        "cannot read \(what) \(path): \(words); check the path and its permissions",
        error == .noSuchFileOrDirectory ? .usage : .io
      )
    }
  }

  /// What comes on stdin until its end, one byte more than `limit` at most.
  static func standardInput(limit: Int) throws -> [UInt8] {
    try BoundedReading.bytes(of: .standardInput, limit: limit)
  }
}
