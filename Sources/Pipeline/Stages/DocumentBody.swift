import Cache
import Catalog

/// A document's body: in memory, or when it is large in a file of the cache.
struct DocumentBody: RandomAccessBody {
  private enum Place {
    case memory([UInt8])
    case file(BodyFile, digest: Int64)
  }

  private let place: Place
  /// How many bytes there are.
  let count: Int

  /// A body in memory.
  init(_ bytes: [UInt8]) {
    place = .memory(bytes)
    count = bytes.count
  }

  /// A body in a file.
  init(_ file: BodyFile, count: Int, digest: Int64) {
    place = .file(file, digest: digest)
    self.count = count
  }

  /// What ``ContentDigest/number(of:)`` says of it.
  var digest: Int64 {
    switch place {
    case .memory(let bytes): ContentDigest.number(of: bytes)
    case .file(_, let digest): digest
    }
  }

  /// The bytes of a body in memory; none of one in a file.
  var inMemory: [UInt8] {
    if case .memory(let bytes) = place { bytes } else { [] }
  }

  /// All bytes, in memory.
  ///
  /// - Returns: The bytes.
  /// - Throws: ``CacheError`` when they are in a file that cannot be read.
  func whole() throws(CacheError) -> [UInt8] {
    try piece(at: 0, most: count)
  }

  /// Whether there is nothing in it, or nothing but `null`.
  func isVoid() throws(CacheError) -> Bool {
    guard count <= 64 else { return false }
    let text = try whole().filter { !" \t\r\n".utf8.contains($0) }
    return text.isEmpty || text == Array("null".utf8)
  }

  /// Decodes the body with all its bytes in memory.
  ///
  /// - Parameter decode: The decoder.
  /// - Returns: What the decoder returns.
  /// - Throws: What the decoder throws; ``CatalogError`` also when the body is in a file that cannot be read.
  func decoded<Value>(
    by decode: ([UInt8]) throws(CatalogError) -> Value
  ) throws(CatalogError) -> Value {
    let bytes: [UInt8]
    do throws(CacheError) {
      bytes = try whole()
    } catch {
      throw CatalogError(.malformedJSON, subject: "the body", reason: error.description)
    }
    return try decode(bytes)
  }

  /// Copies bytes; false when the file cannot be read, which ``whole()`` says more of.
  func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) -> Bool {
    switch place {
    case .memory(let bytes): return bytes.copy(range, to: buffer)
    case .file(let file, _):
      do throws(CacheError) {
        try file.read(into: buffer, at: range.lowerBound)
        return true
      } catch {
        return false
      }
    }
  }

  /// Hands on the body piece by piece.
  ///
  /// - Parameter take: Told of each piece.
  /// - Throws: ``CacheError`` when it is in a file that cannot be read.
  func forEachPiece(_ take: (ArraySlice<UInt8>) -> Void) throws(CacheError) {
    if case .memory(let bytes) = place { return take(bytes[...]) }
    var offset = 0
    while offset < count {
      let piece = try piece(at: offset, most: BodySpool.piece)
      take(piece[...])
      offset += piece.count
    }
  }

  /// Some of the bytes.
  ///
  /// - Parameters:
  ///   - offset: Where they begin.
  ///   - most: How many at most.
  /// - Returns: As many as there are; none at the end.
  /// - Throws: ``CacheError`` when they are in a file that cannot be read.
  func piece(at offset: Int, most: Int) throws(CacheError) -> [UInt8] {
    let range = offset..<min(count, offset + most)
    switch place {
    case .memory(let bytes): return range.count == count ? bytes : Array(bytes[range])
    case .file(let file, _):
      var bytes = [UInt8](repeating: 0, count: range.count)
      try file.fill(&bytes, from: offset)
      return bytes
    }
  }
}

extension BodyFile {
  /// Reads as many bytes as there is room for.
  ///
  /// - Parameters:
  ///   - bytes: The room.
  ///   - offset: Where they are in the file.
  /// - Throws: ``CacheError`` when they cannot be read.
  func fill(_ bytes: inout [UInt8], from offset: Int) throws(CacheError) {
    var failure: CacheError?
    bytes.withUnsafeMutableBytes { buffer in
      do throws(CacheError) { try read(into: buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
