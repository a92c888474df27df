/// A kind of picture that larder recognizes but cannot read.
struct UnreadKind {
  /// The usual name of the kind, which completes “larder does not read …”.
  let name: String
  /// A program that converts such a picture to a format that larder reads, for example `djxl`.
  let converter: String

  /// A camera's raw file, which is a TIFF that begins with a small preview of the photo.
  static let raw = UnreadKind(name: "raw photos of cameras", converter: "darktable-cli")
}

extension UnreadKind {
  /// Recognizes a file by its first bytes; nil if the kind is unknown.
  ///
  /// `head` has the first ``PictureFormat/sniffLength`` bytes, or all bytes of a shorter file.
  init?(_ head: [UInt8]) {
    let kind = Self.kinds.first { kind in
      head.starts(with: kind.mark.unicodeScalars.map { UInt8($0.value) })
    }
    guard let kind else { return nil }
    self.init(name: kind.name, converter: kind.converter)
  }

  private static let kinds: [(mark: String, name: String, converter: String)] = [
    ("8BPS", "PSD", "ImageMagick"),
    ("\0\0\0\u{0C}JXL \r\n", "JPEG XL", "djxl"), ("\u{FF}\n", "JPEG XL", "djxl"),
    ("\0\0\0\u{0C}jP  \r\n", "JPEG 2000", "ImageMagick"),
    ("\u{FF}O\u{FF}Q", "JPEG 2000", "ImageMagick"), ("\0\0\u{01}\0", "ICO", "ImageMagick"),
    ("<svg", "SVG", "rsvg-convert"), ("qoif", "QOI", "ImageMagick"),
    ("FUJIFILMCCD-RAW", "RAF", "darktable-cli"), ("v/1\u{01}", "OpenEXR", "ImageMagick"),
    ("#?RADIANCE", "Radiance HDR", "ImageMagick"), ("DDS ", "DDS", "ImageMagick"),
    ("II+\0", "BigTIFF", "tiffcp"), ("MM\0+", "BigTIFF", "tiffcp"),
  ]
}
