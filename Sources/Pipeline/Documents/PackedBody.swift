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
  /// Decompresses a body if it is gzip data, and converts JSON Lines to an array.
  ///
  /// JSON Lines are recognized by the name, such as `feed.jsonl` or `feed.jsonl.gz`, or by the media type.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - url: The URL of the body without secrets, for the failure.
  ///   - name: A URL or a file's path; nil if it is `url`.
  ///   - type: The value of the `Content-Type` header field; nil if there is none.
  ///   - sent: The number of bytes that were received, if the transport has already decompressed the body. Nil means
  ///     that the body was received as it is.
  ///   - limit: The maximum size of the result.
  /// - Returns: The bytes to decode.
  /// - Throws: ``TransferFailure`` if the body cannot be read or decompressed, or expands beyond `limit` or the limit of
  ///   ``BombGuard``.
  package static func plain(
    _ body: [UInt8],
    of url: String,
    name: String? = nil,
    type: String? = nil,
    sent: ByteCount? = nil,
    limit: ByteCount
  ) throws(TransferFailure) -> [UInt8] {
    try plain(
      DocumentBody(body),
      of: url,
      name: name,
      type: type,
      sent: sent,
      limit: limit,
      in: nil
    ).inMemory
  }

  /// Decompresses a body if it is gzip data, and converts JSON Lines to an array.
  ///
  /// A large body stays in a file.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - url: The URL of the body without secrets, for the failure.
  ///   - name: A URL or a file's path; nil if it is `url`.
  ///   - type: The value of the `Content-Type` header field; nil if there is none.
  ///   - sent: The number of bytes that were received, if the transport has already decompressed the body. Nil means
  ///     that the body was received as it is.
  ///   - limit: The maximum size of the result. It is checked while the body is decompressed, so that the memory stays
  ///     limited.
  ///   - layout: The cache that stores a large body. Pass nil to keep the body in memory.
  /// - Returns: The bytes to decode.
  /// - Throws: ``TransferFailure`` if the body cannot be read or decompressed, or expands beyond `limit` or the limit of
  ///   ``BombGuard``.
  static func plain(
    _ body: DocumentBody,
    of url: String,
    name: String? = nil,
    type: String?,
    sent: ByteCount?,
    limit: ByteCount,
    in layout: CacheLayout?
  ) throws(TransferFailure) -> DocumentBody {
    do {
      // The magic number of gzip, and the method "deflate". (RFC 1952, section 2.3.1)
      let isPacked = try body.piece(at: 0, most: 3).starts(with: [0x1F, 0x8B, 0x08])
      let plain = isPacked ? try unpack(body, url, sent: sent, limit: limit, in: layout) : body
      guard JSONLines.isDeclared(name: unpackedName(name ?? url), type: type) else { return plain }
      var joining = JSONLines.Joining()
      var spool = BodySpool(in: layout)
      try plain.forEachPiece { spool.append(joining.joined($0)) }
      spool.append(joining.end)
      return spool.take()
    } catch let failure as TransferFailure {
      throw failure
    } catch {
      throw TransferFailure(reason: .fileUnreadable, url: url, detail: "\(error)")
    }
  }

  /// Removes `.gz` from a name: `feed.jsonl.gz` becomes `feed.jsonl`.
  private static func unpackedName(_ name: String) -> String {
    let path = name.prefix { $0 != "?" && $0 != "#" }
    return path.lowercased().hasSuffix(".gz") ? String(path.dropLast(3)) : name
  }

  /// Decompresses gzip data, which may consist of several members, one after the other. (RFC 1952, section 2.2)
  private static func unpack(
    _ body: DocumentBody,
    _ url: String,
    sent: ByteCount?,
    limit: ByteCount,
    in layout: CacheLayout?
  ) throws -> DocumentBody {
    func failure(_ detail: String, _ reason: FailureReason = .undecodable) -> TransferFailure {
      TransferFailure(reason: reason, url: url, detail: detail)
    }
    let most = min(limit, BombGuard.limit(ofPacked: sent ?? ByteCount(body.count)))
    let noMemory = failure("there is not enough memory to decompress its gzip data")
    // zlib requires that its state stays at the same address.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer {
      inflateEnd(stream)
      stream.deallocate()
    }
    // 15 is the size of the window, and 16 stands for gzip. The call is that of the macro `inflateInit2`.
    let size = Int32(MemoryLayout<z_stream>.size)
    guard inflateInit2_(stream, 15 + 16, ZLIB_VERSION, size) == Z_OK else { throw noMemory }
    var spool = BodySpool(in: layout)
    var room = [UInt8](repeating: 0, count: 1 << 16)
    var (offset, total, status) = (0, 0, Z_OK)
    var length = room.count
    while true {
      // zlib can leave a part of a piece if the room is full. The next piece begins with this part. A member can be very
      // short, so its first piece is short too.
      length = status == Z_STREAM_END ? 64 : min(2 * length, room.count)
      var piece = try body.piece(at: offset, most: length)
      if status == Z_STREAM_END {
        guard piece.starts(with: [0x1F, 0x8B]) else { return spool.take() }
        inflateReset(stream)
      }
      let (taken, made) = inflate(&piece, into: &room, stream, &status)
      offset += taken
      total += made
      guard total <= Int(most.count) else {
        let isBomb = most < limit
        throw failure(
          isBomb ? BombGuard.words : "decompressed, it is larger than \(limit) bytes",
          .tooLarge
        )
      }
      room.withUnsafeBytes { spool.append(UnsafeRawBufferPointer(rebasing: $0[..<made])) }
      switch status {
      case Z_STREAM_END: break
      case Z_OK where taken > 0 || made > 0: break
      case Z_OK, Z_BUF_ERROR: throw failure("its gzip data ends too early")
      case Z_MEM_ERROR: throw noMemory
      default: throw failure("its gzip data is damaged")
      }
    }
  }

  /// Decompresses the next bytes.
  ///
  /// - Returns: The number of bytes that zlib took from the piece, and the number that it wrote to the room.
  private static func inflate(
    _ piece: inout [UInt8],
    into room: inout [UInt8],
    _ stream: UnsafeMutablePointer<z_stream>,
    _ status: inout Int32
  ) -> (taken: Int, made: Int) {
    piece.withUnsafeMutableBufferPointer { input in
      room.withUnsafeMutableBufferPointer { output in
        (stream.pointee.next_in, stream.pointee.avail_in) = (
          input.baseAddress, UInt32(input.count)
        )
        (stream.pointee.next_out, stream.pointee.avail_out) = (
          output.baseAddress, UInt32(output.count)
        )
        status = CUnpack.inflate(stream, Z_NO_FLUSH)
        let (left, free) = (Int(stream.pointee.avail_in), Int(stream.pointee.avail_out))
        return (input.count - left, output.count - free)
      }
    }
  }
}
