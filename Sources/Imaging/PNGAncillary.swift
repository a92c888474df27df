import CPNG

/// Carries chunks of one PNG over to another.
enum PNGAncillary {
  /// The colour chunks of `file`, and on request its metadata, made true for a picture of `size` that stands upright, for
  /// a PNG that goes to `place`; one that is `converted` is sRGB, whatever `file` was.
  static func output(
    from file: PictureFile,
    size: PixelSize,
    metadata: Bool,
    background: Bool,
    significantBits: Bool,
    profile: Bool = true,
    converted: Bool = false,
    to place: PNGOutput.Place?
  ) -> PNGOutput {
    guard case .png(let chunks) = file.probe.structure else { return PNGOutput(place: place) }
    var first: [UInt8] = []
    for chunk in chunks.colour {
      let type = file.bytes[chunk.lowerBound + 4..<chunk.lowerBound + 8]
      if type.elementsEqual("sBIT".utf8), !significantBits { continue }
      if type.elementsEqual("iCCP".utf8), !profile { continue }
      if converted, !type.elementsEqual("sBIT".utf8) { continue }
      first += file.bytes[chunk]
    }
    // Relative colorimetric, as the conversion was. (PNG, 11.3.2.5)
    if converted { first += Self.chunk("sRGB", [1]) }
    var later: [UInt8] = []
    for chunk in background ? chunks.background : [] { later += file.bytes[chunk] }
    for chunk in metadata ? chunks.metadata : [] {
      if let tiff = chunks.exif, tiff.lowerBound == chunk.lowerBound + 8,
        let exif = file.probe.exif
      {
        let exif = exif.cropped(file.bytes[tiff], width: size.width, height: size.height)
        later += Self.chunk("eXIf", exif)
      } else {
        later += cropped(file.bytes[chunk])
      }
    }
    return PNGOutput(head: first, middle: later, place: place)
  }

  /// A chunk of metadata for a picture that was cropped and stands upright; empty where it holds
  /// EXIF or XMP that is packed, which may have previews of the whole picture.
  private static func cropped(_ chunk: ArraySlice<UInt8>) -> [UInt8] {
    let type = String(decoding: chunk.dropFirst(4).prefix(4), as: UTF8.self)
    let payload = chunk.dropFirst(8).dropLast(4)
    func begins(_ text: String) -> Bool { payload.starts(with: text.utf8) }
    if begins("Raw profile type ") { return [] }
    guard type == "iTXt", begins("XML:com.adobe.xmp\0") else { return Array(chunk) }
    guard payload.dropFirst(18).first == 0 else { return [] }
    var packet = Array(payload)
    Previews.mend(xmp: &packet)
    return Self.chunk(type, packet)
  }

  static func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + payload
    let sum = body.withUnsafeBufferPointer { cpng_crc($0.baseAddress, $0.count) }
    return bigEndian(UInt32(payload.count)) + body + bigEndian(sum)
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
  }
}
