import Transport

/// Whether a picture's own end is there, asked where nothing else proves that all of it came.
///
/// A body that ends with its connection may have been cut by anybody, and libcurl neither minds a
/// TLS connection that ends without `close_notify` nor a gzip stream without its trailer. A length, a
/// last chunk or the end of an HTTP/2 stream proves the end; otherwise the format's own end has to.
struct PictureEnding: Equatable {
  /// How many of the first bytes are looked at.
  static let headSize = 12
  /// How many of the last bytes are looked at: some writers pad a picture.
  static let tailSize = 1024

  /// The first bytes.
  private(set) var head: [UInt8] = []
  /// The last bytes.
  private(set) var tail: [UInt8] = []
  /// How many there were in all.
  private(set) var count: ByteCount = 0

  /// Takes the next bytes.
  mutating func append(_ bytes: [UInt8]) {
    if head.count < Self.headSize { head += bytes.prefix(Self.headSize - head.count) }
    count += ByteCount(bytes.count)
    // As a slice: a sequence's own `suffix`, which an array is the result of, walks through all bytes.
    tail += bytes[max(0, bytes.count - Self.tailSize)...]
    if tail.count > Self.tailSize { tail.removeFirst(tail.count - Self.tailSize) }
  }

  /// Whether a picture of that type ends within the last bytes.
  func isWhole(_ type: PictureType) -> Bool {
    switch type {
    case .jpeg: contains([0xFF, 0xD9])  // EOI; ISO/IEC 10918-1, table B.1
    case .png: contains(Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82])  // PNG, section 11.2.5
    case .gif: tail.last { $0 != 0 } == 0x3B  // GIF89a, section 27
    case .webp: count >= size(4) + 8  // RFC 9649, section 2.4
    case .avif: true  // Boxes of any number; nothing tells the last.
    }
  }

  private func contains(_ mark: [UInt8]) -> Bool {
    tail.indices.contains { tail[$0...].starts(with: mark) }
  }

  /// The little-endian number of 32 bits at an offset of the head.
  private func size(_ offset: Int) -> ByteCount {
    guard head.count >= offset + 4 else { return ByteCount(Int64.max / 2) }
    return ByteCount(
      head[offset..<offset + 4].reversed().reduce(0 as Int64) { $0 << 8 | Int64($1) }
    )
  }
}

extension ResponseHead {
  /// Whether the transport can tell that the whole body came.
  ///
  /// A length does, a last chunk, or the end of an HTTP/2 stream, unless the connection went with it.
  /// (RFC 9112, section 6.3; RFC 9113, section 8.1)
  ///
  /// - Parameter isOpen: See ``Response/connectionIsOpen``.
  /// - Returns: Whether nothing else has to show that nothing is missing.
  func provesEnd(connectionIsOpen isOpen: Bool) -> Bool {
    guard !isEncoded else { return false }
    switch version {
    case .http2, .http3: return contentLength != nil || isOpen
    case .http11: return contentLength != nil || headers.contains("Transfer-Encoding")
    case .http10: return contentLength != nil
    }
  }
}
