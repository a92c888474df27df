import Base
import CPNG

/// The chunks that are written to a PNG in addition to the pixels.
struct WrittenChunks {
  /// Whole chunks that define the meaning of samples.
  ///
  /// They are written before the palette.
  var head: [UInt8] = []
  /// Whole chunks that are written after the palette and before the pixels.
  var middle: [UInt8] = []

  /// A whole chunk.
  static func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    func long(_ value: UInt) -> [UInt8] {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
    }
    let body = Array(type.utf8) + payload
    return long(UInt(payload.count)) + body + long(crc32_z(0, body, body.count))
  }
}

extension WrittenChunks {
  /// Adds the chunks of `file` that define its colours, before the other chunks.
  ///
  /// If `keepsShape` is true, the result has the channels and the depth of `file`, so that its background and its
  /// significant bits (sBIT) are kept, too. If `converted` is true, the pixels were converted to sRGB, and the chunks
  /// that define other colours are left out.
  mutating func copyColours(
    of file: PictureFile,
    _ chunks: PNGChunks,
    keepsShape: Bool,
    profile: Bool,
    converted: Bool
  ) {
    var colours: [UInt8] = []
    for chunk in chunks.chunks {
      switch chunk.type(in: file.bytes) {
      case "bKGD": if keepsShape { middle += file.bytes[chunk.range] }
      case "sBIT": if keepsShape { colours += file.bytes[chunk.range] }
      case let type:
        if !converted, profile || type != "iCCP" { colours += file.bytes[chunk.range] }
      }
    }
    // The rendering intent 1, relative colorimetric, is the one that the conversion uses. (PNG, 11.3.2.5)
    if converted { colours += Self.chunk("sRGB", [1]) }
    head = colours + head
  }
}
