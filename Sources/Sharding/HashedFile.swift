import Base
import Cache
import FoundationEssentials
import Hashing

/// Writes a file of a shard plan, and computes the file's length and SHA-256 at the same time.
struct HashedFile {
  private let file: OpenFile
  private let disk: any Disk
  private var pending: [UInt8] = []
  private var bytes: Int64 = 0
  private var hash = SHA256()

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
  /// - Throws: ``LarderError``.
  mutating func append(_ new: [UInt8]) throws(LarderError) {
    bytes += Int64(new.count)
    hash.add(new.span.bytes)
    pending += new
    if pending.count >= Self.piece { try flush() }
  }

  /// Appends a value as a line of JSON.
  ///
  /// - Throws: ``LarderError``, and errors of the encoder.
  mutating func append(line value: some Encodable) throws {
    try append(value.jsonLine() + [10])
  }

  /// The length and digest of the bytes that were appended so far.
  var sum: FileSum { FileSum(bytes: bytes, sha256: Hexadecimal.text(hash.digest)) }

  /// Writes the bytes that are still in memory, and syncs the file.
  ///
  /// - Returns: The length and digest of the file.
  /// - Throws: ``LarderError``.
  mutating func close() throws(LarderError) -> FileSum {
    try flush()
    try disk.sync(file)
    return sum
  }

  private mutating func flush() throws(LarderError) {
    guard !pending.isEmpty else { return }
    try disk.append(pending.span.bytes, to: file)
    pending.removeAll(keepingCapacity: true)
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
    sha256 = contents.withUnsafeBytes { Hexadecimal.text(SHA256.digest(of: $0.bytes)) }
  }
}
