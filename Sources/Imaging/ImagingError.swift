import Base

@_exported public import struct Base.LarderError

/// This module's name for ``LarderError``.
///
/// Such an error says why a picture could not be read, cropped, stamped or written, and suggests a remedy.
public typealias ImagingError = LarderError

extension LarderError {
  /// The error for a damaged picture; `reason` completes “cannot read NAME: …”, for example `the file ends too early`.
  static func damaged(_ name: String, _ reason: String) -> LarderError {
    LarderError(
      .damagedPicture,
      "cannot read \(name): \(reason); download it again"
    )
  }

  /// The error for a file in a format that larder does not read; `head` has the first bytes of the file.
  static func noPicture(_ name: String, _ head: some Collection<UInt8>) -> LarderError {
    if let kind = UnreadKind(Array(head.prefix(PictureFormat.sniffLength))) {
      return .unread(name, kind)
    }
    return LarderError(
      .unsupported,
      "cannot read \(name): it is not a picture; give a JPEG, PNG, WebP, AVIF, GIF, HEIC, TIFF or BMP"
    )
  }

  /// The error for a picture of a kind that larder recognizes but cannot read.
  static func unread(_ name: String, _ kind: UnreadKind) -> LarderError {
    LarderError(
      .unreadKind,
      "cannot read \(name): larder does not read \(kind.name); convert it with \(kind.converter)"
    )
  }

  /// The error for a picture that is too large; `reason` completes “cannot read NAME: …”.
  static func tooLarge(_ name: String, _ reason: String) -> LarderError {
    LarderError(.tooLarge, "cannot read \(name): \(reason); make it smaller first")
  }
}

extension String {
  /// The text in an array of C characters, which Swift imports as a tuple; it ends at a zero.
  init(inArray characters: some Any) {
    self = withUnsafeBytes(of: characters) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// The text with a small first letter, for the message of a library within a sentence.
  var uncapitalized: String { prefix(1).lowercased() + dropFirst() }
}
