import Base
import CUnpack
import Cache
import Catalog
import Glibc
import Transport

/// Decompresses responses and files that are gzip data.
///
/// The first bytes show whether they are.
package enum PackedBody {
  /// The reason why a body cannot be decompressed.
  package enum Fault: Error, Sendable, Equatable {
    /// The gzip data is damaged or ends too early. The text is the reason for a message.
    case broken(String)
    /// The decompressed body is larger than this limit.
    case tooLarge(ByteCount)
    /// The body expands so much that it is probably meant to fill the memory; see ``BombGuard``.
    case bomb
    /// The body is in a file that cannot be read.
    case unread(LarderError)
  }

  /// Decompresses a body if it is gzip data, and converts JSON Lines to an array.
  ///
  /// JSON Lines are recognized by the name, such as `feed.jsonl` or `feed.jsonl.gz`, or by the media type.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - name: A URL or a file's path.
  ///   - type: The value of the `Content-Type` header field; nil if there is none.
  ///   - sent: The number of bytes that were received, if the transport has already decompressed the body. Nil means
  ///     that the body was received as it is.
  ///   - limit: The maximum size of the result.
  /// - Returns: The bytes to decode.
  /// - Throws: ``Fault`` if the body cannot be decompressed, or expands beyond `limit` or the limit of ``BombGuard``.
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
    do throws(LarderError) { return try plain.whole() } catch { throw .unread(error) }
  }

  /// Decompresses a body if it is gzip data, and converts JSON Lines to an array.
  ///
  /// A large body stays in a file.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - name: A URL or a file's path.
  ///   - type: The value of the `Content-Type` header field; nil if there is none.
  ///   - sent: The number of bytes that were received, if the transport has already decompressed the body. Nil means
  ///     that the body was received as it is.
  ///   - limit: The maximum size of the result. It is checked while the body is decompressed, so that the memory stays
  ///     limited.
  ///   - layout: The cache that stores a large body. Pass nil to keep the body in memory.
  /// - Returns: The bytes to decode.
  /// - Throws: ``Fault`` if the body cannot be decompressed, or expands beyond `limit` or the limit of ``BombGuard``.
  static func plain(
    _ body: DocumentBody,
    name: String,
    type: String?,
    sent: ByteCount? = nil,
    limit: ByteCount,
    in layout: CacheLayout?
  ) throws(Fault) -> DocumentBody {
    // The magic number of gzip, and the method "deflate". (RFC 1952, section 2.3.1)
    let isPacked = try beginning(of: body).starts(with: [0x1F, 0x8B, 0x08])
    let plain = isPacked ? try unpack(body, sent: sent, limit: limit, in: layout) : body
    guard JSONLines.isDeclared(name: unpackedName(name), type: type) else { return plain }
    var joining = JSONLines.Joining()
    var spool = BodySpool(in: layout)
    do throws(LarderError) {
      try plain.forEachPiece { spool.append(joining.joined($0)) }
    } catch {
      throw .unread(error)
    }
    spool.append(joining.end)
    return spool.take()
  }

  private static func beginning(of body: DocumentBody) throws(Fault) -> [UInt8] {
    do throws(LarderError) { return try body.piece(at: 0, most: 3) } catch {
      throw .unread(error)
    }
  }

  /// Removes `.gz` from a name: `feed.jsonl.gz` becomes `feed.jsonl`.
  private static func unpackedName(_ name: String) -> String {
    let path = name.prefix { $0 != "?" && $0 != "#" }
    return path.lowercased().hasSuffix(".gz") ? String(path.dropLast(3)) : name
  }

  /// The input and output of the C function that decompresses.
  private struct Passage {
    let body: DocumentBody
    var offset = 0
    var spool: BodySpool
    var failure: LarderError?

    /// Reads the next bytes of the body.
    ///
    /// The result is that of `read(2)`: the number of bytes, 0 at the end, or -1.
    mutating func read(into room: UnsafeMutableRawBufferPointer) -> Int {
      do throws(LarderError) {
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

  private static func unpack(
    _ body: DocumentBody,
    sent: ByteCount?,
    limit: ByteCount,
    in layout: CacheLayout?
  ) throws(Fault) -> DocumentBody {
    var passage = Passage(body: body, spool: BodySpool(in: layout))
    let most = min(limit, BombGuard.limit(ofPacked: sent ?? ByteCount(body.count)))
    let result = withUnsafeMutablePointer(to: &passage) { passage in
      cunpack_gzip(
        { passage, start, count in
          // SAFETY: the pointer is that of `passage`, which outlives the call. Only this call uses `passage`
          // meanwhile. `start` has room for `count` bytes.
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
    case cunpack_cut: throw .broken("its gzip data ends too early")
    case cunpack_no_memory: throw .broken("there is not enough memory to decompress its gzip data")
    default:
      if let failure = passage.failure { throw .unread(failure) }
      throw .broken("its gzip data is damaged")
    }
  }
}

extension PackedBody.Fault: CustomStringConvertible {
  /// The reason as a part of an error message, for example "its gzip data is damaged".
  package var description: String {
    switch self {
    case .broken(let words): words
    case .tooLarge(let limit): "decompressed, it is larger than \(limit) bytes"
    case .bomb: BombGuard.words
    case .unread(let error): error.description
    }
  }

  /// The failure to report for the document at a URL.
  func failure(of url: String) -> TransferFailure {
    switch self {
    case .broken: TransferFailure(reason: .undecodable, url: url, detail: description)
    case .tooLarge, .bomb: TransferFailure(reason: .tooLarge, url: url, detail: description)
    case .unread: TransferFailure(reason: .fileUnreadable, url: url, detail: description)
    }
  }
}
