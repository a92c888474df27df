import Base

/// EXIF data in a text chunk of a PNG, as ImageMagick writes it.
///
/// Programs wrote it in this way before PNG had a chunk for EXIF data. The text has a line with a name, a line with the
/// number of bytes, and lines with the bytes as hexadecimal digits.
enum RawProfile {
  /// Whether the payload of a chunk of type `tEXt` or `zTXt` begins with a keyword of EXIF data.
  static func begins(_ payload: ByteReader) -> Bool {
    ["exif", "APP1"].contains { payload.matches("Raw profile type \($0)\0", at: 0) }
  }

  /// The EXIF data in the text, beginning with its TIFF header; nil if there is none.
  static func exif(in text: some Collection<UInt8>) -> [UInt8]? {
    let lineFeed = UInt8(ascii: "\n")
    let lines = text.split(separator: lineFeed, maxSplits: 2)
    guard lines.count == 3 else { return nil }
    let digits = String(decoding: lines[2].filter { $0 != lineFeed }, as: UTF8.self)
    let exif = Exif.tiff(in: Hexadecimal.bytes(digits) ?? [])
    return exif.withUnsafeBufferPointer { TIFFDirectory(of: $0) != nil } ? exif : nil
  }
}
