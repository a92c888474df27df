import Base
import Cache
import Crypto
import FoundationEssentials
import Pipeline
import Synchronization
import SystemPackage

/// Writes a file of a shard plan, and computes its length and SHA-256 on the way.
///
/// Thread-safe; pieces are written in the order of the calls.
final class HashedFile: Sendable {
  private struct Written {
    var pending: [UInt8] = []
    var bytes: Int64 = 0
    var hash = SHA256()
    var failure: LarderError?
  }

  private let file: OpenFile
  private let disk: any Disk
  private let state = Mutex(Written())

  /// The buffer size in bytes: this much is collected for one write.
  private static let piece = 256 * 1024

  /// Creates the empty file.
  ///
  /// - Throws: ``LarderError``.
  init(_ name: String, in folder: Folder, on disk: any Disk) throws(LarderError) {
    file = try disk.create(name, in: folder)
    self.disk = disk
  }

  /// Appends bytes; ``close()`` throws the error of a failed write.
  func append(_ pieces: [UInt8]...) {
    state.withLock { state in
      for piece in pieces {
        state.bytes += Int64(piece.count)
        state.hash.update(data: piece)
        state.pending += piece
      }
      if state.pending.count >= Self.piece { flush(&state) }
    }
  }

  /// Appends a value as a line of JSON.
  ///
  /// - Throws: Errors of the encoder.
  func append(line value: some Encodable) throws {
    append(try value.jsonLine(), [10])
  }

  /// The length and digest so far.
  var sum: FileSum {
    state.withLock { state in
      FileSum(bytes: state.bytes, sha256: Hexadecimal.text(state.hash.finalize()))
    }
  }

  /// Writes the buffered bytes and syncs the file.
  ///
  /// - Returns: The length and digest of the file.
  /// - Throws: ``LarderError`` of the first write that failed.
  func close() throws(LarderError) -> FileSum {
    let failure = state.withLock { state in
      flush(&state)
      return state.failure
    }
    if let failure { throw failure }
    try disk.sync(file)
    return sum
  }

  private func flush(_ state: inout Written) {
    let bytes = state.pending
    state.pending = []
    guard state.failure == nil, !bytes.isEmpty else { return }
    do throws(LarderError) {
      try disk.append(bytes.span.bytes, to: file)
    } catch {
      state.failure = error
    }
  }
}

/// The length of a file and the SHA-256 of its bytes.
struct FileSum: Codable, Equatable {
  var bytes: Int64
  var sha256: String

  init(bytes: Int64, sha256: String) {
    self.bytes = bytes
    self.sha256 = sha256
  }

  /// The length and digest of bytes in memory.
  init(of contents: some ContiguousBytes & Collection) {
    bytes = Int64(contents.count)
    sha256 = contents.withUnsafeBytes { Hexadecimal.text(SHA256.hash(data: $0)) }
  }
}

/// Reads a file a line at a time, and hashes the bytes that it has returned or skipped.
final class LineReader {
  private let file: FileDescriptor
  private let piece: Int
  private var buffer: [UInt8] = []
  private var place = 0
  private var hash = SHA256()
  /// The offset in the file at which the buffer ends.
  private var length: Int64
  /// The offset in the file of the next byte to return.
  private(set) var offset: Int64

  /// Opens the file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - offset: The offset in the file to begin at.
  ///   - piece: The number of bytes to read at once.
  /// - Throws: `Errno`.
  init(_ path: String, from offset: Int64 = 0, piece: Int = 256 * 1024) throws {
    file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    (self.piece, length, self.offset) = (piece, offset, offset)
  }

  deinit { try? file.close() }

  /// The length and digest of the bytes before ``offset``.
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

  /// Skips bytes.
  ///
  /// - Parameters:
  ///   - count: The number of bytes.
  ///   - take: Called with the skipped bytes, piece by piece.
  /// - Returns: Whether the file had that many bytes.
  /// - Throws: `Errno`.
  @discardableResult
  func skip(_ count: Int, _ take: (ArraySlice<UInt8>) -> Void = { _ in }) throws -> Bool {
    var left = count
    while left > 0, try fill() {
      let step = min(left, buffer.count - place)
      take(buffer[place..<place + step])
      pass(step)
      left -= step
    }
    return left <= 0
  }

  private func pass(_ count: Int) {
    hash.update(data: buffer[place..<place + count])
    place += count
    offset += Int64(count)
  }

  /// Reads the next piece if the buffer is used up; false at the file's end.
  private func fill() throws -> Bool {
    if place < buffer.count { return true }
    var next = [UInt8](repeating: 0, count: piece)
    let count = try next.withUnsafeMutableBytes { [file, length] in
      try file.read(fromAbsoluteOffset: length, into: $0)
    }
    buffer = Array(next[..<count])
    place = 0
    length += Int64(count)
    return count > 0
  }
}
