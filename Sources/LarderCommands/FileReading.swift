import Base
import Foundation
import Glibc
import Imaging
import Larder

/// Reads files that the user names on the command line.
enum FileReading {
  /// Reads a file of a limited size.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - what: The kind of file, such as "catalog file", for the message.
  ///   - limit: The largest allowed size, in bytes.
  ///   - takesInput: Whether the path `-` means stdin.
  ///   - tooLong: The exit status for a larger file.
  /// - Returns: The bytes.
  /// - Throws: ``CommandFailure`` when the file cannot be read or is larger.
  static func bytes(
    _ path: String,
    what: String,
    limit: Int,
    takesInput: Bool = false,
    tooLong: ExitStatus = .data
  ) throws -> [UInt8] {
    let isInput = takesInput && path == "-"
    let name = "\(what) \(isInput ? "stdin" : path)"
    do throws(LarderError) {
      let bytes =
        isInput
        ? try BoundedReading.bytes(of: STDIN_FILENO, "stdin", limit: limit)
        : try BoundedReading.bytes(ofFile: path, limit: limit)
      if bytes.count <= limit { return bytes }
    } catch {
      throw CommandFailure(
        "cannot read \(name): \(systemMessage(error.errno ?? EIO)); check the path and its permissions",
        error.errno == ENOENT ? .usage : .io
      )
    }
    let size = ByteCount(Int64(limit)).formatted()
    throw CommandFailure("cannot read \(name): it has more than \(size)", tooLong)
  }

  /// Reads a secret from a file, or else from an environment variable.
  ///
  /// - Parameters:
  ///   - path: The file; nil to read the variable.
  ///   - what: The kind of file, such as "secret file", for the message.
  ///   - content: What belongs in the file, such as "the URL".
  ///   - variable: The name of the environment variable.
  /// - Returns: The secret, without white space around it; nil if there is neither.
  /// - Throws: ``CommandFailure`` when the file cannot be read, or is no text, or is empty.
  static func secret(
    in path: String?,
    _ what: String,
    content: String,
    or variable: String
  ) throws -> String? {
    guard let path else { return OutboxOptions.variable(variable) }
    let bytes = try bytes(path, what: what, limit: 1 << 16, tooLong: .usage)
    let text = String(validating: bytes, as: UTF8.self)?
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard let text, !text.isEmpty else {
      let fault = text == nil ? "is no text" : "is empty"
      throw CommandFailure(
        "cannot send: \(what) \(path) \(fault); write \(content) into it, on one line"
      )
    }
    return text
  }

  /// Whether a path leads to a folder.
  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
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
    let bytes = try BoundedReading.bytes(of: STDIN_FILENO, "stdin", limit: limits.fileBytes)
    guard bytes.count <= limits.fileBytes else {
      throw LarderError(
        .tooLarge,
        "cannot read stdin: it has more than \(limits.fileBytes) bytes; make it smaller first"
      )
    }
    return bytes
  }
}
