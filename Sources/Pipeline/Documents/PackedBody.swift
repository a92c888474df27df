import Base
import Cache
import Catalog
import Transport

/// Decompresses responses and files that are gzip data, and brings them into the form that decoders read.
///
/// The first bytes show whether they are gzip data.
package enum PackedBody {
  /// Decompresses a body if it is gzip data, converts JSON Lines to an array, and writes the encoding of an HTML page into
  /// the page.
  ///
  /// JSON Lines are recognized by the name, such as `feed.jsonl` or `feed.jsonl.gz`, or by the media type. A large body
  /// stays in a file.
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
  ///   - layout: The cache that stores a large body; nil to keep the body in memory.
  /// - Returns: The bytes to decode.
  /// - Throws: ``TransferFailure`` if the body cannot be read or decompressed, or expands beyond `limit` or the limit of
  ///   ``BombGuard``.
  package static func plain(
    _ body: DocumentBody,
    of url: String,
    name: String? = nil,
    type: String? = nil,
    sent: ByteCount? = nil,
    limit: ByteCount,
    in layout: CacheLayout? = nil
  ) throws(TransferFailure) -> DocumentBody {
    do {
      // The magic number of gzip, and the method "deflate". (RFC 1952, section 2.3.1)
      let isPacked = try body.piece(at: 0, most: 3).starts(with: [0x1F, 0x8B, 0x08])
      let plain = isPacked ? try unpack(body, url, sent: sent, limit: limit, in: layout) : body
      if let mark = try encodingMark(of: plain, type) {
        var spool = BodySpool(in: layout)
        spool.append(mark)
        try plain.forEachPiece { piece in piece.withUnsafeBytes { spool.append($0) } }
        return spool.take()
      }
      guard JSONLines.isDeclared(name: unpackedName(name ?? url), type: type),
        !JSONLines.isDocument(try plain.piece(at: 0, most: 1024))
      else { return plain }
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

  /// The element that names the encoding of an HTML page, if only the `Content-Type` header field names one; nil
  /// otherwise.
  ///
  /// It goes before the page, because the header field has priority over the page's own `meta` element. (HTML, section
  /// 13.2.3.2)
  private static func encodingMark(of body: DocumentBody, _ type: String?) throws -> [UInt8]? {
    // XHTML has an XML declaration, or is UTF-8.
    guard let type, type.prefix(while: { $0 != ";" && $0 != " " }).lowercased() == "text/html",
      let name = type.firstMatch(of: /(?i)charset\s*=\s*["']?([A-Za-z0-9_:.\-]{1,40})/)?.1,
      TextEncoding(name) != nil
    else { return nil }
    let start = String(decoding: try body.piece(at: 0, most: 1024), as: UTF8.self)
    let page = /(?i)(<!--(?:(?!-->)[\s\S])*-->\s*)*<(!doctype\s+html|html|head)\b/
    guard start.trimmed.starts(with: page) else { return nil }
    return Array("<meta charset=\"\(name)\">".utf8)
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
    var spool = BodySpool(in: layout)
    var total = 0
    do {
      let gunzip = try Gunzip()
      try body.forEachPiece { piece in
        try piece.withUnsafeBytes { packed in
          try gunzip.decompress(packed) { plain in
            total += plain.count
            guard total <= Int(most.count) else {
              let isBomb = most < limit
              throw failure(
                isBomb ? BombGuard.words : "decompressed, it is larger than \(limit) bytes",
                .tooLarge
              )
            }
            spool.append(plain)
          }
        }
      }
      guard gunzip.isWhole else { throw failure("its gzip data ends too early") }
    } catch let fault as Gunzip.Fault {
      switch fault {
      case .damaged: throw failure("its gzip data is damaged")
      case .outOfMemory: throw failure("there is not enough memory to decompress its gzip data")
      }
    }
    return spool.take()
  }
}
