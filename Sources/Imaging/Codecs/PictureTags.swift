import CPNG

/// The ICC profile and the metadata that are written to a picture, in a form that suits every format.
struct PictureTags: Equatable {
  /// The ICC profile; empty if there is none.
  var profile: [UInt8] = []
  /// The EXIF data, beginning with its TIFF header; empty if there is none.
  var exif: [UInt8] = []
  /// The XMP packet; empty if there is none.
  var xmp: [UInt8] = []
  /// The list of Photoshop's resources, such as the IPTC fields; empty if there are none, or if the format is no JPEG.
  var resources: [UInt8] = []

  init() {}

  /// Takes the tags of `file`, for an upright picture of `size` that was made from it.
  ///
  /// If `metadata` is true, the metadata is taken as well as the profile, and adapted to the new picture.
  init(of file: PictureFile, size: PixelSize, metadata: Bool) {
    let structure = file.probe.structure
    profile = structure.profile
    guard metadata else { return }
    // The EXIF data of a TIFF is not kept, because it is spread over the file.
    if file.probe.format != .tiff {
      exif = Exif.cropped(structure.exif, width: size.width, height: size.height)
    }
    xmp = structure.xmp
    Previews.mend(xmp: &xmp)
    if let markers = structure as? JPEGMarkers {
      resources = Previews.removed(from: markers.resources)
      Previews.blank(in: &resources)
    }
  }

  /// Drops the profile, unless its colour space is grey, or RGB if `isGrey` is false.
  mutating func keepProfile(ofGrey isGrey: Bool) {
    if !Self.isProfile(profile, of: isGrey ? "GRAY" : "RGB ") { profile = [] }
  }

  /// Whether an ICC profile is for a colour space, which bytes 16 to 19 of it name. (ICC.1:2022, 7.2.6)
  static func isProfile(_ profile: [UInt8], of space: String) -> Bool {
    profile.dropFirst(16).starts(with: space.utf8)
  }

  /// The bytes before the packet in a PNG chunk with XMP, of type `iTXt`: the keyword, and no compression, language or
  /// translated keyword.
  static let pngXMP = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8)
}

extension PictureTags {
  /// Adds these tags to the JPEG `bytes`.
  func added(toJPEG bytes: consuming [UInt8]) -> [UInt8] {
    // Without this, a large file would be copied for nothing.
    guard self != PictureTags() else { return bytes }
    var segments: [UInt8] = []
    func add(_ marker: UInt8, _ payload: [UInt8]) {
      // A payload that does not fit into one segment is left out.
      guard payload.count <= 65_533 else { return }
      let length = payload.count + 2
      segments += [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + payload
    }
    if !exif.isEmpty { add(0xE1, Array("Exif\0\0".utf8) + exif) }
    if !xmp.isEmpty { add(0xE1, Array(JPEGMarkers.xmpName.utf8) + xmp) }
    // The longest part of a list of resources or of a profile: both follow 14 bytes of a payload.
    let most = 65_519
    for start in stride(from: 0, to: resources.count, by: most) {
      let part = resources[start..<min(start + most, resources.count)]
      add(0xED, Array(JPEGMarkers.photoshopName.utf8) + part)
    }
    // The name is followed by the number of this segment and the number of all segments. (ICC.1:2022, annex B.4)
    let count = (profile.count + most - 1) / most
    for index in 0..<count where count <= 255 {
      let part = profile[(index * most)..<min((index + 1) * most, profile.count)]
      add(0xE2, Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(count)] + part)
    }
    // The JFIF segment must be the first one.
    let hasJFIF = bytes.count > 6 && bytes[2] == 0xFF && bytes[3] == 0xE0
    let place = hasJFIF ? min(4 + Int(bytes[4]) << 8 + Int(bytes[5]), bytes.count) : 2
    bytes.insert(contentsOf: segments, at: place)
    return bytes
  }

  /// These tags as chunks of a PNG.
  var chunks: [UInt8] {
    var chunks: [UInt8] = []
    if !profile.isEmpty {
      var size = compressBound(UInt(profile.count))
      let packed = [UInt8](unsafeUninitializedCapacity: Int(size)) { target, count in
        let isDone = compress(target.baseAddress, &size, profile, UInt(profile.count)) == Z_OK
        count = isDone ? Int(size) : 0
      }
      chunks += PNGCodec.chunk("iCCP", Array("ICC profile\0\0".utf8) + packed)
    }
    if !exif.isEmpty { chunks += PNGCodec.chunk("eXIf", exif) }
    if !xmp.isEmpty { chunks += PNGCodec.chunk("iTXt", Self.pngXMP + xmp) }
    return chunks
  }

  /// Adds these tags to the WebP `bytes`, which contain nothing but one still. (RFC 9649, section 2.7)
  func added(toWebP bytes: consuming [UInt8], _ shape: RowShape) -> [UInt8] {
    guard self != PictureTags() else { return bytes }
    func long(_ value: Int) -> [UInt8] {
      [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
      payload.isEmpty
        ? []
        : Array(type.utf8) + long(payload.count) + payload + (payload.count & 1 == 1 ? [0] : [])
    }
    var flags = shape.layout == .rgba ? 0x10 : 0
    if !profile.isEmpty { flags |= 0x20 }
    if !exif.isEmpty { flags |= 0x08 }
    if !xmp.isEmpty { flags |= 0x04 }
    // If the still consists of two chunks, libwebp has written a VP8X header before them.
    let hasHeader = bytes.count >= 30 && bytes[12..<16].elementsEqual("VP8X".utf8)
    let head =
      long(flags) + long(shape.width - 1).prefix(3) + long(shape.height - 1).prefix(3)
    let body =
      chunk("VP8X", head) + chunk("ICCP", profile) + bytes[(hasHeader ? 30 : 12)...]
      + chunk("EXIF", exif) + chunk("XMP ", xmp)
    return Array("RIFF".utf8) + long(body.count + 4) + Array("WEBP".utf8) + body
  }
}

/// Removes previews of the whole picture from metadata.
///
/// A preview would still show the parts that were cropped away.
enum Previews {
  /// Overwrites every JPEG in metadata with zeroes: thumbnails, and previews in maker notes, which have unpublished
  /// formats.
  static func blank(in data: inout [UInt8]) {
    var offset = 0
    while let start = data[offset...].firstRange(of: [0xFF, 0xD8, 0xFF])?.lowerBound {
      let end = data[start...].firstRange(of: [0xFF, 0xD9])?.upperBound ?? data.endIndex
      for index in start..<end { data[index] = 0 }
      offset = end
    }
  }

  /// Removes the thumbnails from a list of Photoshop's resources; the result is empty if the list cannot be read.
  ///
  /// A thumbnail can consist of plain samples, or of a JPEG with another JPEG in it, so that its length alone tells where
  /// it ends. (Photoshop File Formats, image resource blocks)
  static func removed(from resources: [UInt8]) -> [UInt8] {
    var kept: [UInt8] = []
    var rest = resources[...]
    while !rest.isEmpty {
      // A block consists of a signature, a number, a name, the size of its data, and the data. The name with its
      // length, and the data, are padded to an even size.
      let start = rest.startIndex
      guard rest.count >= 12, rest.starts(with: "8BIM".utf8) else { return [] }
      let number = Int(rest[start + 4]) << 8 | Int(rest[start + 5])
      let size = rest.dropFirst(6 + (Int(rest[start + 6]) + 2) / 2 * 2).prefix(4)
      let data = rest[size.endIndex...]
      let count = size.reduce(0) { $0 << 8 | Int($1) }
      guard size.count == 4, count <= data.count else { return [] }
      let block = rest[..<data.dropFirst(count + count % 2).startIndex]
      // Blocks 1033 and 1036 are the thumbnails of Photoshop 4 and 5.
      if number != 1033, number != 1036 { kept += block }
      rest = rest[block.endIndex...]
    }
    return kept
  }

  /// Corrects an XMP packet for a picture that was turned upright and cropped.
  ///
  /// The orientation becomes 1. Thumbnails, and other pictures such as the one before an edit, are overwritten with spaces,
  /// so that the packet keeps its length. They are in base64, in properties of many names.
  static func mend(xmp packet: inout [UInt8]) {
    for (before, after) in [
      ("tiff:Orientation=\"", "\""), ("tiff:Orientation='", "'"), ("<tiff:Orientation>", "<"),
    ] {
      var offset = 0
      while let start = packet[offset...].firstRange(of: Array(before.utf8))?.upperBound,
        let end = packet[start...].firstRange(of: Array(after.utf8))?.lowerBound
      {
        if end - start == 1 { packet[start] = UInt8(ascii: "1") }
        offset = start
      }
    }
    for beginning in beginnings {
      var offset = 0
      while let start = packet[offset...].firstRange(of: Array(beginning.utf8)) {
        offset = start.upperBound
        // A picture begins at the beginning of a value.
        if start.lowerBound > 0, isBase64(packet[start.lowerBound - 1]) { continue }
        // Base64 can have line breaks, also as `&#xA;`, and indentation.
        let rest = packet[start.lowerBound...]
        let end =
          rest.firstIndex { !isBase64($0) && !" \t\r\n&#;".utf8.contains($0) } ?? rest.endIndex
        offset = end
        guard packet[start.lowerBound..<end].count(where: isBase64) >= 128 else { continue }
        for index in start.lowerBound..<end { packet[index] = UInt8(ascii: " ") }
      }
    }
  }

  /// How pictures begin in base64: JPEG, PNG, WebP, GIF, TIFF, AVIF and HEIC.
  private static let beginnings = [
    "/9j/", "iVBORw0KGgo", "UklGR", "R0lGOD", "SUkqA", "TU0AK", "AAAA",
  ]

  private static func isBase64(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || "+/=".utf8.contains(byte)
  }
}
