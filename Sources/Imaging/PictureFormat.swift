/// The kinds of picture that are told apart by their first bytes.
public enum PictureFormat: String, Sendable, CaseIterable, Codable {
  /// A JPEG (ISO/IEC 10918-1).
  case jpeg
  /// A PNG (ISO/IEC 15948).
  case png
  /// A GIF, 87a or 89a.
  case gif
  /// A WebP (RFC 9649).
  case webp
  /// An AVIF still or sequence.
  case avif

  /// How many bytes are enough to judge any format.
  @usableFromInline package static let sniffLength = 12

  /// The format that a file's first bytes show, whatever its name; nil when they show none.
  @inlinable public init?(sniffing bytes: some Collection<UInt8>) {
    // Specialized where it is called: each picture that a run fetches comes through here.
    self.init(head: Array(bytes.prefix(Self.sniffLength)))
  }

  @usableFromInline init?(head: [UInt8]) {
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

  /// The format of a media type such as `image/jpeg`; nil for any other.
  package init?(mediaType: some StringProtocol) {
    guard mediaType.hasPrefix("image/") else { return nil }
    self.init(rawValue: String(mediaType.dropFirst(6)))
  }

  /// The media type, as it stands in `Content-Type`.
  package var mediaType: String { "image/\(rawValue)" }

  /// What people call the format.
  public var name: String { self == .webp ? "WebP" : rawValue.uppercased() }

  /// The format that a picture of this one is written in unless another is asked for: GIF becomes
  /// PNG.
  public var kept: PictureFormat { self == .gif ? .png : self }

  /// Whether larder writes it.
  public var isWritten: Bool { self != .gif }

  /// The extension of a file that larder writes in this format.
  public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}
