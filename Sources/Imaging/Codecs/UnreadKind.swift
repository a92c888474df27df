/// A kind of picture that larder knows and does not read.
struct UnreadKind {
  /// What people call it.
  let name: String
  /// A program that makes a picture of it that larder reads.
  let converter: String

  private init(_ name: String, _ converter: String) {
    (self.name, self.converter) = (name, converter)
  }

  /// Knows a file by its first bytes, ``PictureFormat/sniffLength`` of them unless it has fewer; nil for any other kind.
  init?(_ head: [UInt8]) {
    if let type = FileType(head) {
      guard type.holds(Self.heic) else { return nil }
      self.init("HEIC", "heif-convert")
      return
    }
    let kind = Self.kinds.first { kind in
      head.dropFirst(kind.offset).starts(with: kind.mark.unicodeScalars.map { UInt8($0.value) })
    }
    // Two letters are too few to tell a picture: a size and four zeroes follow. (BITMAPFILEHEADER)
    guard let kind, kind.mark != "BM" || head.count > 10 && head[6..<10].allSatisfy({ $0 == 0 })
    else { return nil }
    self.init(kind.name, kind.converter)
  }

  private static let heic = ["heic", "heix", "heim", "heis", "hevc", "hevx", "heif"]

  private static let kinds: [(offset: Int, mark: String, name: String, converter: String)] = [
    (0, "II*\0", "TIFF", "ImageMagick"), (0, "MM\0*", "TIFF", "ImageMagick"),
    (0, "II+\0", "TIFF", "ImageMagick"), (0, "MM\0+", "TIFF", "ImageMagick"),
    (0, "BM", "BMP", "ImageMagick"), (0, "8BPS", "PSD", "ImageMagick"),
    (0, "\0\0\0\u{0C}JXL \r\n", "JPEG XL", "djxl"), (0, "\u{FF}\n", "JPEG XL", "djxl"),
    (0, "\0\0\0\u{0C}jP  \r\n", "JPEG 2000", "ImageMagick"),
    (0, "\u{FF}O\u{FF}Q", "JPEG 2000", "ImageMagick"), (0, "\0\0\u{01}\0", "ICO", "ImageMagick"),
    (0, "<svg", "SVG", "rsvg-convert"), (0, "qoif", "QOI", "ImageMagick"),
    (0, "FUJIFILMCCD-RAW", "RAF", "darktable-cli"), (0, "v/1\u{01}", "OpenEXR", "ImageMagick"),
    (0, "#?RADIANCE", "Radiance HDR", "ImageMagick"), (0, "DDS ", "DDS", "ImageMagick"),
  ]
}
