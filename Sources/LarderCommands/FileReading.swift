import Base
import Glibc
import Imaging
import Larder
import SystemPackage

/// Reads files that the user names on the command line.
enum FileReading {
  /// Reads a file, but at most `limit + 1` bytes of it.
  ///
  /// If the result has `limit + 1` bytes, the file is larger than `limit`.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - what: The kind of file, such as "catalog file", for the message.
  ///   - limit: The largest allowed size, in bytes.
  /// - Returns: The bytes.
  /// - Throws: ``CommandFailure`` when the file cannot be read.
  static func bytes(_ path: String, what: String, limit: Int) throws -> [UInt8] {
    do {
      return try BoundedReading.bytes(ofFile: path, limit: limit)
    } catch let error as Errno {
      let words = systemMessage(error.rawValue)
      // A missing file is a mistake on the command line, but a file that cannot be read is an I/O error.
      throw CommandFailure(
        "cannot read \(what) \(path): \(words); check the path and its permissions",
        error == .noSuchFileOrDirectory ? .usage : .io
      )
    }
  }

  /// Whether a path leads to a folder.
  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The bytes of stdin up to its end, but at most `limit + 1`.
  static func standardInput(limit: Int) throws -> [UInt8] {
    try BoundedReading.bytes(of: .standardInput, limit: limit)
  }

  /// Reads a whole picture from stdin.
  ///
  /// - Throws: ``LarderError`` with the code `usage` if stdin is a terminal, `too-large` if the picture exceeds the
  ///   limit, or `disk` if stdin cannot be read.
  static func picture(_ limits: PictureLimits) throws(LarderError) -> [UInt8] {
    if Terminal.isStandardInput {
      throw LarderError(
        .usage,
        "cannot read a picture from a terminal; redirect one with < or |, or give a file"
      )
    }
    let bytes: [UInt8]
    do {
      bytes = try standardInput(limit: limits.fileBytes)
    } catch {
      let words = (error as? Errno).map { systemMessage($0.rawValue) } ?? "\(error)"
      throw LarderError(.disk, "cannot read stdin: \(words); check where it comes from")
    }
    guard bytes.count <= limits.fileBytes else {
      throw LarderError(
        .tooLarge,
        "cannot read stdin: it has more than \(limits.fileBytes) bytes; make it smaller first"
      )
    }
    return bytes
  }
}
