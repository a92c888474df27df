import Base

/// Why a picture could not be read, cropped, stamped or written, with a remedy.
public typealias ImagingError = LarderError

extension LarderError {
  /// The error of a picture that does not keep to its format.
  static func damaged(_ name: String, _ reason: String) -> LarderError {
    LarderError(
      .damagedPicture,
      "cannot read \(name): \(reason); get it again from where it came from"
    )
  }

  /// The error of bytes that begin with `head` and are of no format that is read.
  static func noPicture(_ name: String, _ head: some Collection<UInt8>) -> LarderError {
    if let kind = UnreadKind(Array(head.prefix(PictureFormat.sniffLength))) {
      return .unread(name, kind)
    }
    return LarderError(
      .unsupported,
      "cannot read \(name): it is no picture; give a JPEG, PNG, WebP, AVIF, GIF, HEIC, TIFF or BMP"
    )
  }

  /// The error of a picture of a kind that is known and not read.
  static func unread(_ name: String, _ kind: UnreadKind) -> LarderError {
    LarderError(
      .unreadKind,
      "cannot read \(name): larder does not read \(kind.name); convert it with \(kind.converter)"
    )
  }

  /// The error of a picture whose library is not there; `words` are the dynamic loader's.
  static func noLibrary(
    _ name: String,
    _ format: String,
    _ package: String,
    _ words: String
  ) -> LarderError {
    LarderError(
      .library,
      "cannot work on \(name): \(format) needs a library that cannot be opened (\(words)); install "
        + "\(package)"
    )
  }

  /// The error of a picture that goes beyond `PictureLimits`.
  static func tooLarge(_ name: String, _ reason: String) -> LarderError {
    LarderError(.tooLarge, "cannot read \(name): \(reason); make it smaller first")
  }

  /// The same, where a limit can be raised.
  static func overLimit(_ name: String, _ reason: String) -> LarderError {
    LarderError(
      .tooLarge,
      "cannot read \(name): \(reason)",
      remedy: .smallerOrMorePixels
    )
  }
}
