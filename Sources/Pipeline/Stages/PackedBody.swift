import CUnpack
import Catalog
import Glibc
import Transport

/// A compression that a feed is stored in, told by the body itself or, for brotli, by name or type.
package enum PackedBody: Int32, Sendable {
  case gzip, brotli, zstandard

  /// Why a body cannot be unpacked.
  package enum Fault: Error, Sendable, Equatable {
    /// It is no such data, or damaged.
    case broken(String)
    /// It would be larger than allowed.
    case tooLarge(ByteCount)
  }

  /// The compression of a body; nil when it is to be read as it is.
  ///
  /// - Parameters:
  ///   - body: The body, after any `Content-Encoding` was undone.
  ///   - name: A URL or a file's path.
  ///   - type: The `Content-Type` field; nil when there is none.
  init?(of body: [UInt8], name: String, type: String? = nil) {
    // (RFC 1952, section 2.3.1; RFC 8878, section 3.1.1)
    if body.starts(with: [0x1F, 0x8B, 0x08]) {
      self = .gzip
    } else if body.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
      self = .zstandard
    } else if Self.ending(of: name) == ".br" || Self.isBrotli(type) {
      // Brotli has no beginning of its own; what its server undid already is JSON.
      self = .brotli
    } else {
      return nil
    }
  }

  /// A body as it is decoded: unpacked, and JSON Lines, known by their name or type, as an array.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - name: A URL or a file's path.
  ///   - type: The `Content-Type` field; nil when there is none.
  ///   - limit: How large it may become.
  /// - Returns: What is to be decoded.
  /// - Throws: ``Fault`` when it cannot be unpacked, or would be larger than `limit`.
  package static func plain(
    _ body: [UInt8],
    name: String,
    type: String? = nil,
    limit: ByteCount
  ) throws(Fault) -> [UInt8] {
    let body = try unpacked(body, name: name, type: type, limit: limit)
    let isLines = JSONLines.isMeant(name: unpackedName(name), type: type)
    return isLines ? JSONLines.array(of: body) : body
  }

  /// A body as it was before it was packed; one that is not packed is returned as it is.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - name: A URL or a file's path.
  ///   - type: The `Content-Type` field; nil when there is none.
  ///   - limit: How large it may become.
  /// - Returns: The body unpacked.
  /// - Throws: ``Fault`` when it cannot be, or would be larger than `limit`, which is counted as it grows.
  static func unpacked(
    _ body: [UInt8],
    name: String,
    type: String? = nil,
    limit: ByteCount
  ) throws(Fault) -> [UInt8] {
    guard let coding = PackedBody(of: body, name: name, type: type) else { return body }
    do throws(Fault) {
      return try coding.unpack(body, limit: limit)
    } catch {
      if case .broken = error, coding == .brotli, isText(body) { return body }
      throw error
    }
  }

  /// A name without the ending of its compression: `feed.jsonl` for `feed.jsonl.gz`.
  static func unpackedName(_ name: String) -> String {
    let path = name.prefix { $0 != "?" && $0 != "#" }
    guard let ending = ending(of: name) else { return name }
    return String(path.dropLast(ending.count))
  }

  private static func ending(of name: String) -> String? {
    let path = name.prefix { $0 != "?" && $0 != "#" }.lowercased()
    return [".gz", ".br", ".zst"].first { path.hasSuffix($0) }
  }

  private static func isBrotli(_ type: String?) -> Bool {
    let essence = (type ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
    return ["application/brotli", "application/x-brotli", "application/x-br"].contains(essence)
  }

  private static func isText(_ body: [UInt8]) -> Bool {
    let first = body.first { $0 > 0x20 }
    return first.map { "{[<\u{EF}".utf8.contains($0) } ?? true
  }

  private func unpack(_ body: [UInt8], limit: ByteCount) throws(Fault) -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    var size = 0
    let result = body.withUnsafeBufferPointer {
      cunpack_whole(rawValue, $0.baseAddress, $0.count, Int(limit.count), &bytes, &size)
    }
    defer { free(bytes) }
    switch Int(result) {
    case cunpack_done: return Array(UnsafeBufferPointer(start: bytes, count: size))
    case cunpack_too_large: throw .tooLarge(limit)
    case cunpack_cut: throw .broken("its \(words) data ends too early")
    case cunpack_no_memory: throw .broken("there is no memory for its \(words) data")
    case cunpack_no_library:
      let reason = cunpack_failure(rawValue).map { String(cString: $0) } ?? "it is not there"
      throw .broken("it is \(words) data, and the library for it cannot be loaded: \(reason)")
    default: throw .broken("its \(words) data is damaged")
    }
  }

  private var words: String {
    switch self {
    case .gzip: "gzip"
    case .brotli: "brotli"
    case .zstandard: "zstd"
    }
  }
}

extension PackedBody.Fault: CustomStringConvertible {
  /// The cause, as a sentence without subject.
  package var description: String {
    switch self {
    case .broken(let words): words
    case .tooLarge(let limit): "unpacked, it is larger than \(limit) bytes"
    }
  }

  /// The failure of a document at a URL.
  func failure(of url: String) -> TransferFailure {
    switch self {
    case .broken: TransferFailure(reason: .undecodable, url: url, detail: description)
    case .tooLarge: TransferFailure(reason: .tooLarge, url: url, detail: description)
    }
  }
}
