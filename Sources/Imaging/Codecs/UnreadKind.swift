/// A kind of picture that larder knows and does not read.
struct UnreadKind {
  /// The usual name of it.
  let name: String
  /// A program that makes a picture of it that larder reads.
  let converter: String

  /// A camera's own file, which is a TIFF with a small copy of the photo first.
  static let raw = UnreadKind("raw photos of cameras", "darktable-cli")

  private init(_ name: String, _ converter: String) {
    (self.name, self.converter) = (name, converter)
  }

  /// Knows a file by its first bytes, ``PictureFormat/sniffLength`` of them unless it has fewer; nil for any other kind.
  init?(_ head: [UInt8]) {
    let kind = Self.kinds.first { kind in
      head.starts(with: kind.mark.unicodeScalars.map { UInt8($0.value) })
    }
    guard let kind else { return nil }
    self.init(kind.name, kind.converter)
  }

  private static let kinds: [(mark: String, name: String, converter: String)] = [
    ("8BPS", "PSD", "ImageMagick"),
    ("\0\0\0\u{0C}JXL \r\n", "JPEG XL", "djxl"), ("\u{FF}\n", "JPEG XL", "djxl"),
    ("\0\0\0\u{0C}jP  \r\n", "JPEG 2000", "ImageMagick"),
    ("\u{FF}O\u{FF}Q", "JPEG 2000", "ImageMagick"), ("\0\0\u{01}\0", "ICO", "ImageMagick"),
    ("<svg", "SVG", "rsvg-convert"), ("qoif", "QOI", "ImageMagick"),
    ("FUJIFILMCCD-RAW", "RAF", "darktable-cli"), ("v/1\u{01}", "OpenEXR", "ImageMagick"),
    ("#?RADIANCE", "Radiance HDR", "ImageMagick"), ("DDS ", "DDS", "ImageMagick"),
  ]
}
