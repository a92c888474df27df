import Base

/// The boxes of an HEIC.
///
/// larder reads them itself, so that every size is checked before a decoder gets a byte. (ISO/IEC 23008-12 and
/// 14496-15)
struct HEICHeader: Sendable {
  /// The size of the decoded picture.
  let coded: PixelSize
  /// The visible part of the decoded picture, which programs show.
  private(set) var aperture: PixelRegion
  /// How the picture has to be turned to be upright.
  ///
  /// An orientation in its EXIF data is ignored.
  private(set) var orientation = Orientation.upright
  /// How the colours are encoded.
  ///
  /// If no box names the matrix and the range, the matrix and the range in the HEVC data are used.
  private(set) var colour: AVIFHeader.Colour
  private(set) var isFullRange: Bool?
  /// The HEVC pictures that contain the colours; `alpha` has the HEVC pictures that contain the alpha.
  let tiles: HEVCTiles
  let alpha: HEVCTiles?
  /// Whether the stored colours are multiplied by alpha.
  let isPremultiplied: Bool
  /// The ICC profile; empty if there is none.
  private(set) var profile: [UInt8] = []
  /// The EXIF data, beginning with its TIFF header; empty if there is none.
  private(set) var exif: [UInt8] = []
  /// The XMP packet; empty if there is none.
  private(set) var xmp: [UInt8] = []

  /// Reads the boxes of `bytes`.
  ///
  /// - Throws: ``LarderError`` when the boxes are broken, or the picture exceeds `limits`.
  init(_ bytes: [UInt8], name: String, limits: PictureLimits) throws(LarderError) {
    self = try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      try HEICHeader(ByteReader(bytes: bytes), name, limits)
    }
  }

  private init(
    _ reader: ByteReader,
    _ name: String,
    _ limits: PictureLimits
  ) throws(LarderError) {
    guard MediaBox.visit(reader, in: 0..<reader.bytes.count, { _ in }) else {
      throw .damaged(name, "the file ends too early")
    }
    guard let items = HEIFItems(reader) else { throw .damaged(name, "its boxes are broken") }
    guard let primary = items.primary else {
      throw LarderError(
        .unsupported,
        "cannot read \(name): it is a video without a still picture; save a frame of it"
      )
    }
    let properties = items.properties(of: primary)
    tiles = try HEVCTiles(items, primary, reader, limits, name)
    coded = tiles.size
    aperture = PixelRegion(x: 0, y: 0, width: coded.width, height: coded.height)
    colour = AVIFHeader.Colour(chroma: tiles.chroma, primaries: 2, transfer: 2, matrix: 2)
    let alpha = items.sources(to: primary, "auxl").first { item in
      items.properties(of: item).contains { Self.isAlpha($0, reader) }
    }
    if let alpha {
      let tiles = try HEVCTiles(items, alpha, reader, limits, name)
      guard tiles.isAlike(self.tiles) else {
        throw LarderError(
          .unsupported,
          "cannot read \(name): its alpha has another size or depth than its colours; save it as PNG"
        )
      }
      self.alpha = tiles
    } else {
      self.alpha = nil
    }
    isPremultiplied = alpha.map { items.targets(of: primary, "prem").contains($0) } ?? false
    readTransforms(properties, reader)
    // Some phones write the colour boxes for the whole picture, and others write them for each cell.
    let colours = properties.filter { $0.type == "colr" }
    let parts = items.targets(of: primary, "dimg").first.map { items.properties(of: $0) } ?? []
    readColours(colours.isEmpty ? parts.filter { $0.type == "colr" } : colours, reader)
    try readMetadata(items, about: primary, reader, limits, name)
    try limits.check(metadata: profile.count + exif.count + xmp.count, of: name)
  }

  private static func isAlpha(_ property: MediaBox, _ reader: ByteReader) -> Bool {
    property.type == "auxC"
      && ["urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"].contains {
        reader.matches($0, at: property.body.lowerBound + 4)
      }
  }

  /// Reads the visible part, turns and mirrorings, which apply one after the other. (6.5.9, 6.5.10 and 6.5.12)
  private mutating func readTransforms(_ properties: [MediaBox], _ reader: ByteReader) {
    var (quarters, mirror) = (0, -1)
    for property in properties {
      let start = property.body.lowerBound
      switch property.type {
      case "clap": readAperture(start, reader)
      case "irot":
        let angle = (reader.byte(start) ?? 0) & 3
        quarters += mirror < 0 ? angle : -angle
      case "imir":
        let axis = (reader.byte(start) ?? 0) & 1
        // Mirroring along both axes is the same as half a turn.
        if mirror >= 0, mirror != axis { quarters += 2 }
        mirror = mirror < 0 ? axis : -1
      default: break
      }
    }
    orientation = AVIFHeader.orientation(quarters: quarters, mirror: mirror)
  }

  private mutating func readAperture(_ start: Int, _ reader: ByteReader) {
    let numbers = (0..<8).compactMap { reader.long(start + $0 * 4) }
    guard numbers.count == 8, [1, 3, 5, 7].allSatisfy({ numbers[$0] > 0 }) else { return }
    func fraction(_ index: Int) -> Double {
      Double(Int32(truncatingIfNeeded: numbers[index])) / Double(numbers[index + 1])
    }
    let (width, height) = (fraction(0), fraction(2))
    let left = (Double(coded.width) - width) / 2 + fraction(4)
    let top = (Double(coded.height) - height) / 2 + fraction(6)
    // An aperture that extends beyond the picture is ignored.
    guard width >= 1, height >= 1, left >= 0, top >= 0, left + width <= Double(coded.width),
      top + height <= Double(coded.height)
    else { return }
    aperture = PixelRegion(x: Int(left), y: Int(top), width: Int(width), height: Int(height))
  }

  /// Reads the colour boxes.
  ///
  /// A box has either numbers of ITU-T H.273 or an ICC profile. (ISO/IEC 14496-12, 12.1.5)
  private mutating func readColours(_ boxes: [MediaBox], _ reader: ByteReader) {
    for box in boxes {
      let start = box.body.lowerBound
      if reader.matches("nclx", at: start), let primaries = reader.short(start + 4),
        let transfer = reader.short(start + 6), let matrix = reader.short(start + 8),
        let range = reader.byte(start + 10)
      {
        (colour.primaries, colour.transfer) = (Int32(primaries), Int32(transfer))
        (colour.matrix, isFullRange) = (Int32(matrix), range & 0x80 != 0)
      } else if reader.matches("prof", at: start) || reader.matches("rICC", at: start) {
        profile = Array(reader.bytes[box.body.dropFirst(4)])
      }
    }
  }

  private mutating func readMetadata(
    _ items: HEIFItems,
    about primary: Int,
    _ reader: ByteReader,
    _ limits: PictureLimits,
    _ name: String
  ) throws(LarderError) {
    for item in items.sources(to: primary, "cdsc") {
      let parts = items.bytes(of: item)
      let entry = Array(reader.bytes[items.entry(of: item)])
      let isXMP = items.type(of: item) == "mime" && entry.holds(Array("application/rdf+xml".utf8))
      guard isXMP && xmp.isEmpty || items.type(of: item) == "Exif" && exif.isEmpty else {
        continue
      }
      try limits.check(metadata: parts.reduce(0) { $0 + $1.count }, of: name)
      let data = parts.flatMap { reader.bytes[$0] }
      guard !isXMP else {
        xmp = data
        continue
      }
      // The first four bytes are the offset of the TIFF header, counted from the fifth byte.
      let skip = data.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      if data.count > 4, skip < data.count - 4 { exif = Exif.tiff(in: Array(data[(4 + skip)...])) }
    }
  }
}
