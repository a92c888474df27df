/// What a file's first bytes say it is, whatever its name or the origin says.
package enum PictureType: String, Sendable, CaseIterable {
  /// A JPEG (ISO/IEC 10918-1).
  case jpeg = "image/jpeg"
  /// A PNG (ISO/IEC 15948).
  case png = "image/png"
  /// A GIF, 87a or 89a.
  case gif = "image/gif"
  /// A WebP (RFC 9649).
  case webp = "image/webp"
  /// An AVIF still or sequence.
  case avif = "image/avif"

  /// How many bytes are enough to judge any type.
  package static let sniffLength = 12

  /// The type that the first bytes of a file say, or nil when they are of no picture.
  package init?(sniffing bytes: some Collection<UInt8>) {
    let head = Array(bytes.prefix(Self.sniffLength))
    if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)) {
      self = .gif
    } else if head.count == 12, head.starts(with: Array("RIFF".utf8)),
      head[8...].elementsEqual("WEBP".utf8)
    {
      self = .webp
    } else if head.count == 12, head[4..<8].elementsEqual("ftyp".utf8),
      head[8...].elementsEqual("avif".utf8) || head[8...].elementsEqual("avis".utf8)
    {
      self = .avif
    } else {
      return nil
    }
  }
}
