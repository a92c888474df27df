import Base
import Cache
import Crypto
import FoundationEssentials
import Pipeline
import Synchronization
import SystemPackage

/// Writes a file of a shard plan, and computes the file's length and SHA-256 at the same time.
///
/// Thread-safe. The bytes are written in the order of the calls.
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

  /// The number of bytes to collect for one write.
  private static let piece = 256 * 1024

  /// Creates an empty file.
  ///
  /// - Throws: ``LarderError``.
  init(_ name: String, in folder: Folder, on disk: any Disk) throws(LarderError) {
    file = try disk.create(name, in: folder)
    self.disk = disk
  }

  /// Appends bytes.
  ///
  /// If they cannot be written, ``close()`` throws the error.
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

  /// The length and digest of the bytes that were appended so far.
  var sum: FileSum {
    state.withLock { state in
      FileSum(bytes: state.bytes, sha256: Hexadecimal.text(state.hash.finalize()))
    }
  }

  /// Writes the bytes that are still in memory, and syncs the file.
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

/// The length of a file in bytes, and the SHA-256 of the file as hexadecimal text.
struct FileSum: Codable, Equatable {
  var bytes: Int64
  var sha256: String
}

extension FileSum {
  /// Computes the length and digest of bytes in memory.
  init(of contents: some ContiguousBytes & Collection) {
    bytes = Int64(contents.count)
    sha256 = contents.withUnsafeBytes { Hexadecimal.text(SHA256.hash(data: $0)) }
  }
}

/// Reads a file line by line, and hashes the bytes that it has returned.
final class LineReader {
  private let file: FileDescriptor
  private var buffer: [UInt8] = []
  private var place = 0
  private var hash = SHA256()
  /// The offset in the file of the next byte to return.
  private(set) var offset: Int64 = 0

  /// The number of bytes to read at once.
  private static let piece = 256 * 1024

  /// Opens a file.
  ///
  /// - Throws: `Errno`.
  init(_ path: String) throws {
    file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
  }

  deinit { try? file.close() }

  /// The length and digest of the file up to ``offset``.
  var sum: FileSum { FileSum(bytes: offset, sha256: Hexadecimal.text(hash.finalize())) }

  /// Returns the next line without its line feed, or nil at the end of the file.
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

  private func pass(_ count: Int) {
    hash.update(data: buffer[place..<place + count])
    place += count
    offset += Int64(count)
  }

  /// Reads the next piece if all bytes in the buffer were returned.
  ///
  /// The result is false at the end of the file.
  private func fill() throws -> Bool {
    if place < buffer.count { return true }
    buffer = try file.bytes(from: offset, count: Self.piece)
    place = 0
    return !buffer.isEmpty
  }
}

extension FileDescriptor {
  /// Reads `count` bytes from an offset, or fewer if the file ends earlier.
  func bytes(from offset: Int64, count: Int) throws(Errno) -> [UInt8] {
    do throws(SystemError) {
      return try Files.bytes(of: rawValue, count, at: Int(offset))
    } catch {
      throw Errno(rawValue: error.code)
    }
  }
}
