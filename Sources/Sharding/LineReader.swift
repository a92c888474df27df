import Crypto
import SystemPackage
import Transport

/// Reads a file a line at a time, and hashes what it has given out or passed over.
final class LineReader {
  private let file: FileDescriptor
  private var buffer: [UInt8] = []
  private var place = 0
  private var hash = SHA256()
  /// How much of the file was read into the buffer so far.
  private var length: Int64 = 0
  /// Where the next byte is.
  private(set) var offset: Int64 = 0

  private static let piece = 256 * 1024

  /// Opens the file.
  ///
  /// - Throws: `Errno`.
  init(_ path: String) throws {
    file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
  }

  deinit { try? file.close() }

  /// The length and digest of what stands before ``offset``.
  var sum: FileSum {
    FileSum(bytes: offset, sha256: Hexadecimal.text(hash.finalize()))
  }

  /// The next line without its line feed; nil at the end.
  func line() throws -> [UInt8]? {
    var line: [UInt8] = []
    while true {
      guard try fill() else { return line.isEmpty ? nil : line }
      if let end = buffer[place...].firstIndex(of: 10) {
        line += buffer[place..<end]
        pass(end - place + 1)
        return line
      }
      line += buffer[place...]
      pass(buffer.count - place)
    }
  }

  /// Passes over bytes.
  func skip(_ count: Int) throws {
    var left = count
    while left > 0, try fill() {
      let step = min(left, buffer.count - place)
      pass(step)
      left -= step
    }
  }

  private func pass(_ count: Int) {
    hash.update(data: buffer[place..<place + count])
    place += count
    offset += Int64(count)
  }

  /// Has a byte in the buffer; false at the file's end.
  private func fill() throws -> Bool {
    if place < buffer.count { return true }
    var next = [UInt8](repeating: 0, count: Self.piece)
    let count = try next.withUnsafeMutableBytes { [file, length] in
      try file.read(fromAbsoluteOffset: length, into: $0)
    }
    buffer = Array(next[..<count])
    place = 0
    length += Int64(count)
    return count > 0
  }
}
