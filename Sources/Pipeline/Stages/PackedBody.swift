import CUnpack
import Cache
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
    /// It becomes so many times as large that it is no catalog.
    case bomb
    /// It is in a file that cannot be read.
    case unread(CacheError)
  }

  /// The compression of a body; nil when it is to be read as it is.
  ///
  /// - Parameters:
  ///   - body: How the body begins, after any `Content-Encoding` was undone.
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
  ///   - sent: How many bytes came on the wire, when a coding of the transfer was undone already; nil for all of `body`.
  ///   - limit: How large it may become.
  /// - Returns: What is to be decoded.
  /// - Throws: ``Fault`` when it cannot be unpacked, or would be larger than `limit` or than ``BombGuard`` allows.
  package static func plain(
    _ body: [UInt8],
    name: String,
    type: String? = nil,
    sent: ByteCount? = nil,
    limit: ByteCount
  ) throws(Fault) -> [UInt8] {
    let plain = try plain(
      DocumentBody(body),
      name: name,
      type: type,
      sent: sent,
      limit: limit,
      in: nil
    )
    do throws(CacheError) { return try plain.whole() } catch { throw .unread(error) }
  }

  /// A body as it is decoded; a large one is in a file before and after.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - name: A URL or a file's path.
  ///   - type: The `Content-Type` field; nil when there is none.
  ///   - sent: How many bytes came on the wire, when a coding of the transfer was undone already; nil for all of `body`.
  ///   - limit: How large it may become, which is counted as it grows.
  ///   - layout: The cache in which a large body lies; nil leaves it in memory.
  /// - Returns: What is to be decoded.
  /// - Throws: ``Fault`` when it cannot be unpacked, or would be larger than `limit` or than ``BombGuard`` allows.
  static func plain(
    _ body: DocumentBody,
    name: String,
    type: String?,
    sent: ByteCount? = nil,
    limit: ByteCount,
    in layout: CacheLayout?
  ) throws(Fault) -> DocumentBody {
    var plain = body
    if let coding = try coding(of: body, name: name, type: type) {
      do throws(Fault) {
        plain = try coding.unpack(body, sent: sent, limit: limit, in: layout)
      } catch {
        guard case .broken = error, coding == .brotli, try isText(body) else { throw error }
      }
    }
    guard JSONLines.isMeant(name: unpackedName(name), type: type) else { return plain }
    var joining = JSONLines.Joining()
    var spool = BodySpool(in: layout)
    do throws(CacheError) {
      try plain.forEachPiece { spool.append(joining.joined($0)) }
    } catch {
      throw .unread(error)
    }
    spool.append(joining.end)
    return spool.take()
  }

  private static func coding(
    of body: DocumentBody,
    name: String,
    type: String?
  ) throws(Fault) -> PackedBody? {
    PackedBody(of: try beginning(of: body), name: name, type: type)
  }

  private static func beginning(of body: DocumentBody) throws(Fault) -> [UInt8] {
    do throws(CacheError) { return try body.piece(at: 0, most: 1024) } catch {
      throw .unread(error)
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

  private static func isText(_ body: DocumentBody) throws(Fault) -> Bool {
    let first = try beginning(of: body).first { $0 > 0x20 }
    return first.map { "{[<\u{EF}".utf8.contains($0) } ?? true
  }

  /// What a decoder takes from, and gives to.
  private struct Passage {
    let body: DocumentBody
    var offset = 0
    var spool: BodySpool
    var failure: CacheError?

    /// The next bytes of the body, as `read(2)` gives them.
    mutating func read(into room: UnsafeMutableRawBufferPointer) -> Int {
      do throws(CacheError) {
        let piece = try body.piece(at: offset, most: room.count)
        room.copyBytes(from: piece)
        offset += piece.count
        return piece.count
      } catch {
        failure = error
        return -1
      }
    }
  }

  private func unpack(
    _ body: DocumentBody,
    sent: ByteCount?,
    limit: ByteCount,
    in layout: CacheLayout?
  ) throws(Fault) -> DocumentBody {
    var passage = Passage(body: body, spool: BodySpool(in: layout))
    let most = min(limit, BombGuard.limit(ofPacked: sent ?? ByteCount(body.count)))
    let result = withUnsafeMutablePointer(to: &passage) { passage in
      cunpack_stream(
        rawValue,
        { passage, start, count in
          // SAFETY: the pointer is that of `passage`, which outlives the call, and nobody else uses it meanwhile;
          // `start` has room for `count` bytes.
          guard let passage else { return -1 }
          let room = UnsafeMutableRawBufferPointer(start: start, count: count)
          return passage.assumingMemoryBound(to: Passage.self).pointee.read(into: room)
        },
        { passage, bytes, count in
          // SAFETY: as above.
          let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
          passage?.assumingMemoryBound(to: Passage.self).pointee.spool.append(bytes)
        },
        passage,
        Int(most.count)
      )
    }
    switch Int(result) {
    case cunpack_done: return passage.spool.take()
    case cunpack_too_large: throw most < limit ? .bomb : .tooLarge(limit)
    case cunpack_cut: throw .broken("its \(words) data ends too early")
    case cunpack_no_memory: throw .broken("there is no memory for its \(words) data")
    case cunpack_no_library:
      let reason = cunpack_failure(rawValue).map { String(cString: $0) } ?? "it is not there"
      throw .broken("it is \(words) data, and the library for it cannot be loaded: \(reason)")
    default:
      if let failure = passage.failure { throw .unread(failure) }
      throw .broken("its \(words) data is damaged")
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
    case .bomb: BombGuard.words
    case .unread(let error): error.description
    }
  }

  /// The failure of a document at a URL.
  func failure(of url: String) -> TransferFailure {
    switch self {
    case .broken: TransferFailure(reason: .undecodable, url: url, detail: description)
    case .tooLarge, .bomb: TransferFailure(reason: .tooLarge, url: url, detail: description)
    case .unread: TransferFailure(reason: .fileUnreadable, url: url, detail: description)
    }
  }
}
