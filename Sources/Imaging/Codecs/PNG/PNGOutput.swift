import Base
import CPNG

/// The destination of a PNG, and the chunks that are written to it in addition to the pixels.
struct PNGOutput {
  /// Whole chunks that define the meaning of samples.
  ///
  /// They are written before the palette.
  var head: [UInt8] = []
  /// Whole chunks that are written after the palette and before the pixels.
  var middle: [UInt8] = []
  /// Where the PNG is written if it is large; nil if it stays in memory.
  var place: Place?

  /// The output file of a large PNG.
  struct Place {
    let open: PartFile.Opening
    /// A PNG of more bytes than this is written to the temporary file while it is compressed.
    let most: Int
  }

  /// A whole chunk.
  static func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    func long(_ value: UInt) -> [UInt8] {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
    }
    let body = Array(type.utf8) + payload
    return long(UInt(payload.count)) + body + long(crc32_z(0, body, body.count))
  }
}

extension PNGOutput {
  /// The destination of a PNG with chunks of `file`, adapted to an upright picture of `size`.
  ///
  /// These are the chunks that define colours and, if `metadata` is true, those with metadata. If `keepsShape` is true,
  /// the result has the channels and the depth of `file`, so that its background and its significant bits (sBIT) are
  /// kept, too. If `converted` is true, the pixels were converted to sRGB, and the chunks that define other colours are
  /// left out.
  init(
    from file: PictureFile,
    _ chunks: PNGChunks,
    size: PixelSize,
    metadata: Bool,
    keepsShape: Bool,
    profile: Bool,
    converted: Bool,
    to place: Place?
  ) {
    self.place = place
    var tags: [UInt8] = []
    for chunk in chunks.chunks {
      let type = chunk.type(in: file.bytes)
      switch type {
      case "bKGD":
        if keepsShape { middle += file.bytes[chunk.range] }
      case "eXIf":
        guard metadata, file.probe.exif != nil else { continue }
        let tiff = file.bytes[chunk.payload]
        tags += Self.chunk("eXIf", Exif.cropped(tiff, width: size.width, height: size.height))
      case "tEXt", "zTXt", "iTXt", "tIME":
        if metadata { tags += Self.cropped(file.bytes[chunk.range], type) }
      case "sBIT":
        if keepsShape { head += file.bytes[chunk.range] }
      default:
        if !converted, profile || type != "iCCP" { head += file.bytes[chunk.range] }
      }
    }
    // The rendering intent 1, relative colorimetric, is the one that the conversion uses. (PNG, 11.3.2.5)
    if converted { head += Self.chunk("sRGB", [1]) }
    middle += tags
  }

  /// Adapts a chunk of metadata to an upright, cropped picture.
  ///
  /// The result is empty for compressed EXIF or XMP, because these can contain previews of the whole picture.
  private static func cropped(_ chunk: ArraySlice<UInt8>, _ type: String) -> [UInt8] {
    let payload = chunk.dropFirst(8).dropLast(4)
    func begins(_ text: String) -> Bool { payload.starts(with: text.utf8) }
    if begins("Raw profile type ") { return [] }
    guard type == "iTXt", begins("XML:com.adobe.xmp\0") else { return Array(chunk) }
    guard payload.dropFirst(18).first == 0 else { return [] }
    var packet = Array(payload)
    Previews.mend(xmp: &packet)
    return Self.chunk(type, packet)
  }
}
