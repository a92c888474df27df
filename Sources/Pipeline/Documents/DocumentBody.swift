import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// The body of a response with items or details.
///
/// A small body is in memory. A large one is in a file of the cache.
package struct DocumentBody: RandomAccessBody {
  private enum Place {
    case memory([UInt8])
    case file(OpenFile, digest: Int64)
  }

  private let place: Place
  /// The length in bytes.
  package let count: Int

  /// Makes a body in memory.
  package init(_ bytes: [UInt8]) {
    place = .memory(bytes)
    count = bytes.count
  }

  /// Makes a body in a file.
  init(_ file: OpenFile, count: Int, digest: Int64) {
    place = .file(file, digest: digest)
    self.count = count
  }

  /// A digest of the bytes, equal to ``ContentDigest/number(of:)`` of them.
  var digest: Int64 {
    switch place {
    case .memory(let bytes): ContentDigest.number(of: bytes)
    case .file(_, let digest): digest
    }
  }

  /// The bytes, if the body is in memory; an empty array if it is in a file.
  package var inMemory: [UInt8] {
    if case .memory(let bytes) = place { bytes } else { [] }
  }

  /// Reads the whole body into memory.
  ///
  /// - Returns: The bytes.
  /// - Throws: ``LarderError`` if the body is in a file that cannot be read.
  func whole() throws(LarderError) -> [UInt8] {
    try piece(at: 0, most: count)
  }

  /// Whether the body is the JSON value `null`, apart from white space.
  func isNull() throws(LarderError) -> Bool {
    guard count <= 64 else { return false }
    return try whole().filter { !" \t\r\n".utf8.contains($0) } == Array("null".utf8)
  }

  /// Reads the whole body into memory and decodes it.
  ///
  /// - Parameter decode: The decoder.
  /// - Returns: The decoder's result.
  /// - Throws: The decoder's error, or ``CatalogError`` if the body is in a file that cannot be read.
  func decoded<Value>(
    by decode: ([UInt8]) throws(CatalogError) -> Value
  ) throws(CatalogError) -> Value {
    let bytes: [UInt8]
    do throws(LarderError) {
      bytes = try whole()
    } catch {
      throw CatalogError(.malformedJSON, subject: "the body", reason: error.description)
    }
    return try decode(bytes)
  }

  /// Copies a part of the body to a buffer.
  ///
  /// Returns false if the file cannot be read; ``whole()`` then throws the reason.
  package func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) -> Bool {
    switch place {
    case .memory(let bytes): return bytes.copy(range, to: buffer)
    case .file(let file, _):
      do throws(LarderError) {
        try file.read(into: buffer, at: range.lowerBound)
        return true
      } catch {
        return false
      }
    }
  }

  /// Calls `take` with one piece of the body after the other.
  ///
  /// - Parameter take: Called with each piece.
  /// - Throws: ``LarderError`` if the body is in a file that cannot be read, or an error of `take`.
  func forEachPiece(_ take: (ArraySlice<UInt8>) throws -> Void) throws {
    if case .memory(let bytes) = place { return try take(bytes[...]) }
    var offset = 0
    while offset < count {
      let piece = try piece(at: offset, most: BodySpool.piece)
      try take(piece[...])
      offset += piece.count
    }
  }

  /// Reads a part of the body.
  ///
  /// - Parameters:
  ///   - offset: The position of the first byte.
  ///   - most: The maximum number of bytes to return.
  /// - Returns: The bytes. There are fewer than `most` only if the body ends earlier.
  /// - Throws: ``LarderError`` if the body is in a file that cannot be read.
  func piece(at offset: Int, most: Int) throws(LarderError) -> [UInt8] {
    let range = offset..<min(count, offset + most)
    switch place {
    case .memory(let bytes): return range.count == count ? bytes : Array(bytes[range])
    case .file(let file, _): return try file.bytes(range)
    }
  }
}

/// Collects a body in memory, and moves it to a file of the cache when it becomes large.
///
/// If the file cannot be created or written, the whole body stays in memory.
struct BodySpool {
  /// The size in bytes of the largest body that stays in memory.
  ///
  /// A body up to this size is also decoded as a whole, instead of in parts; see ``ListingWindows``.
  static let mostInMemory = 4 << 20
  /// The number of bytes that are written or read at once.
  static let piece = 1 << 20

  /// Makes the file for a large body.
  typealias MakingFile = @Sendable () throws(LarderError) -> OpenFile

  private let makeFile: MakingFile?
  private let mostInMemory: Int
  private var waiting: [UInt8] = []
  private var file: OpenFile?
  private var written = 0
  private var digest = RunningDigest()
  private var hasFailed = false

  /// Makes an empty spool.
  ///
  /// - Parameter layout: The cache. Pass nil to keep every body in memory.
  init(in layout: CacheLayout?) {
    var makeFile: MakingFile?
    if let layout { makeFile = { () throws(LarderError) in try OpenFile(unnamedIn: layout) } }
    self.init(mostInMemory: Self.mostInMemory, makeFile: makeFile)
  }

  /// Makes an empty spool.
  ///
  /// - Parameters:
  ///   - mostInMemory: The size in bytes of the largest body that stays in memory.
  ///   - makeFile: Makes the file for a larger body. Pass nil to keep every body in memory.
  init(mostInMemory: Int, makeFile: MakingFile?) {
    self.mostInMemory = mostInMemory
    self.makeFile = makeFile
  }

  /// The number of received bytes.
  var count: Int { written + waiting.count }

  /// Adds bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    waiting.append(contentsOf: bytes)
    let most = file == nil ? mostInMemory : min(mostInMemory, Self.piece)
    if waiting.count > most, !hasFailed, let makeFile { spill(makeFile) }
  }

  /// Adds bytes.
  mutating func append(_ bytes: [UInt8]) {
    if count == 0, bytes.count <= mostInMemory { return waiting = bytes }
    bytes.withUnsafeBytes { append($0) }
  }

  /// Drops the received bytes.
  mutating func removeAll() {
    self = BodySpool(mostInMemory: mostInMemory, makeFile: makeFile)
  }

  /// Returns the received body.
  ///
  /// The spool is empty afterwards.
  mutating func take() -> DocumentBody {
    defer { removeAll() }
    if file != nil, !waiting.isEmpty, let makeFile { spill(makeFile) }
    guard let file else { return DocumentBody(waiting) }
    return DocumentBody(file, count: written, digest: digest.number)
  }

  /// Writes the waiting bytes to the file.
  ///
  /// If that fails, reads the whole body back into memory.
  private mutating func spill(_ makeFile: MakingFile) {
    do throws(LarderError) {
      let file: OpenFile
      if let open = self.file { file = open } else { file = try makeFile() }
      self.file = file
      try file.write(waiting.span.bytes, at: written)
      waiting.withUnsafeBytes { digest.add($0) }
      written += waiting.count
      // Release a large buffer, such as the one for the first write, but keep a buffer of about one piece for reuse.
      waiting.removeAll(keepingCapacity: waiting.capacity < 4 * Self.piece)
    } catch {
      hasFailed = true
      guard let file else { return }
      // The system still has these bytes in memory, so this read should not fail. If it fails, zeros take their place,
      // which are not valid JSON, and decoding fails.
      let zeros = [UInt8](repeating: 0, count: written)
      waiting = ((try? file.bytes(0..<written)) ?? zeros) + waiting
      self.file = nil
      written = 0
    }
  }
}

/// Receives the body of a transfer.
///
/// The transport enforces the size limit of the request.
///
/// The transport's thread only copies bytes. All buffers share a queue that writes full pieces to a file.
final class BodyBuffer: BodySink {
  /// The received bytes that do not fill a piece yet.
  private let waiting = Mutex<[UInt8]>([])
  /// The bytes that were received before those in `waiting`.
  ///
  /// Only the queue uses the spool, so nobody waits for the lock while a file is written.
  private let spool: Mutex<BodySpool>

  /// The queue that writes the pieces of all bodies.
  private static let queue = DispatchQueue(label: "larder.bodies")

  /// Makes an empty buffer.
  ///
  /// - Parameter layout: The cache that stores large bodies.
  init(in layout: CacheLayout) {
    spool = Mutex(BodySpool(in: layout))
  }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    // Reserve at most a megabyte, because the announced length can be false.
    let promised = Int(clamping: head.contentLength?.count ?? 0)
    waiting.withLock { $0.reserveCapacity(min(max(promised, 0), BodySpool.piece)) }
    return .accept
  }

  func receive(_ piece: RawSpan) -> BodyDecision {
    let full: [UInt8]? = waiting.withLock { waiting in
      piece.withUnsafeBytes { waiting.append(contentsOf: $0) }
      guard waiting.count >= BodySpool.piece else { return nil }
      defer { waiting = [] }
      return waiting
    }
    if let full { Self.queue.async { self.spool.withLock { $0.append(full) } } }
    return .accept
  }

  func restart() {
    waiting.withLock { $0.removeAll(keepingCapacity: true) }
    Self.queue.async { self.spool.withLock { $0.removeAll() } }
  }

  /// Returns the received body.
  ///
  /// The buffer is empty afterwards.
  ///
  /// This function waits until the queue has written all pieces.
  func take() -> DocumentBody {
    let rest = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    return Self.queue.sync {
      spool.withLock { spool in
        spool.append(rest)
        return spool.take()
      }
    }
  }
}
