import Base
import CAVIF

/// The boxes of an HEIC.
///
/// larder reads them itself, so that every size is checked before a decoder gets a byte. (ISO/IEC 23008-12 and
/// 14496-15)
struct HEICHeader: HEIFHeader {
  let coded: PixelSize
  private(set) var aperture: PixelRegion
  private(set) var ownOrientation: Orientation?
  /// How the colours are encoded.
  ///
  /// If no box names the matrix and the range, the matrix and the range in the HEVC data are used.
  private(set) var colour: cavif_colour
  private(set) var isFullRange: Bool?
  /// The HEVC pictures that contain the colours; `alpha` has the HEVC pictures that contain the alpha.
  let tiles: HEVCTiles
  let alpha: HEVCTiles?
  /// Whether the stored colours are multiplied by alpha.
  let isPremultiplied: Bool
  private(set) var profile: [UInt8] = []
  private(set) var exif: [UInt8] = []
  private(set) var xmp: [UInt8] = []

  var depth: Int { tiles.depth }
  var hasAlpha: Bool { alpha != nil }

  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    let items = try HEIFItems(bytes, limits)
    guard let primary = items.primary else {
      throw limits.unsupported("it is a video without a still picture; save a frame of it")
    }
    let mostBytes = bytes.count * 4
    tiles = try HEVCTiles(items, primary, mostBytes: mostBytes, limits)
    // libavif needs even sides, so that no chroma sample belongs to two cells.
    guard
      tiles.format == 3 || tiles.stills.count == 1
        || tiles.cell.width % 2 == 0 && tiles.cell.height % 2 == 0
    else { throw items.broken }
    coded = tiles.size
    aperture = PixelRegion(x: 0, y: 0, width: coded.width, height: coded.height)
    colour = cavif_colour(chroma: tiles.chroma, primaries: 2, transfer: 2, matrix: 2)
    let alpha = items.sources(to: primary, "auxl").first { item in
      let kind = items[item].property("auxC")?.rest.dropFirst(4) ?? []
      return Self.alphaKinds.contains { kind.starts(with: $0.utf8) }
    }
    if let alpha {
      let tiles = try HEVCTiles(items, alpha, mostBytes: mostBytes, limits)
      guard tiles.isAlike(self.tiles) else {
        throw limits.unsupported(
          "its alpha has another size or depth than its colours; save it as PNG"
        )
      }
      self.alpha = tiles
    } else {
      self.alpha = nil
    }
    isPremultiplied = alpha.map { items.targets(of: primary, "prem").contains($0) } ?? false
    let properties = items[primary].properties
    try readTransforms(properties)
    // Some phones write the colour boxes for the whole picture, and others write them for each cell.
    let colours = properties.filter { $0.type == "colr" }
    let parts = items.targets(of: primary, "dimg").first.map { items[$0].properties } ?? []
    try readColours(colours.isEmpty ? parts.filter { $0.type == "colr" } : colours)
    try readMetadata(items, about: primary, limits)
    try limits.check(metadata: profile.count + exif.count + xmp.count)
  }

  /// The types of auxiliary pictures that are alpha.
  private static let alphaKinds = [
    "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
  ]

  /// Reads the visible part, turns and mirrorings, which apply one after the other. (6.5.9, 6.5.10 and 6.5.12)
  private mutating func readTransforms(_ properties: [HEIFItems.Property]) throws(LarderError) {
    var (quarters, mirror) = (0, -1)
    for var property in properties {
      switch property.type {
      case "clap": try readAperture(property.body)
      case "irot":
        let angle = try property.body.number(1) & 3
        quarters += mirror < 0 ? angle : -angle
      case "imir":
        let axis = try property.body.number(1) & 1
        // Mirroring along both axes is the same as half a turn.
        if mirror >= 0, mirror != axis { quarters += 2 }
        mirror = mirror < 0 ? axis : -1
      default: break
      }
    }
    ownOrientation = Orientation(quarters: quarters, mirror: mirror)
  }

  /// Reads the visible part, which is given by four fractions: its width and height, and the place of its centre.
  private mutating func readAperture(_ box: BoxReader) throws(LarderError) {
    var (box, fractions) = (box, [Double]())
    for _ in 0..<4 {
      let numerator = Int32(truncatingIfNeeded: try box.number(4))
      let denominator = try box.number(4)
      guard denominator > 0 else { return }
      fractions.append(Double(numerator) / Double(denominator))
    }
    let (width, height) = (fractions[0], fractions[1])
    let left = (Double(coded.width) - width) / 2 + fractions[2]
    let top = (Double(coded.height) - height) / 2 + fractions[3]
    // An aperture that extends beyond the picture is ignored.
    guard width >= 1, height >= 1, left >= 0, top >= 0, left + width <= Double(coded.width),
      top + height <= Double(coded.height)
    else { return }
    aperture = PixelRegion(x: Int(left), y: Int(top), width: Int(width), height: Int(height))
  }

  /// Reads the colour boxes.
  ///
  /// A box has either numbers of ITU-T H.273 or an ICC profile. (ISO/IEC 14496-12, 12.1.5)
  private mutating func readColours(_ boxes: [HEIFItems.Property]) throws(LarderError) {
    for var box in boxes {
      switch String(decoding: try box.body.bytes(4), as: UTF8.self) {
      case "nclx":
        colour.primaries = Int32(try box.body.number(2))
        colour.transfer = Int32(try box.body.number(2))
        colour.matrix = Int32(try box.body.number(2))
        isFullRange = try box.body.number(1) & 0x80 != 0
      case "prof", "rICC": profile = Array(box.body.rest)
      default: break
      }
    }
  }

  private mutating func readMetadata(
    _ items: HEIFItems,
    about primary: Int,
    _ limits: NamedLimits
  ) throws(LarderError) {
    for item in items.sources(to: primary, "cdsc").map({ items[$0] }) {
      let isXMP =
        item.type == "mime" && Array(item.entry).holds(Array("application/rdf+xml".utf8))
      guard isXMP && xmp.isEmpty || item.type == "Exif" && exif.isEmpty else { continue }
      try limits.check(metadata: item.parts.reduce(0) { $0 + $1.count })
      let data = Array(item.parts.joined())
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

extension HEICHeader {
  static let name = "HEIC"
  static let fileExtensions = ["heic", "heif", "hif"]
  /// The format of a result is JPEG.
  ///
  /// An HEIC is usually a phone's photo, and a lossless format would make the result much larger.
  static var kept: PictureFormat { .jpeg }
  static var isShown: Bool { false }

  /// Whether a file begins with a brand of HEVC pictures. (ISO/IEC 23008-12, annex B.4)
  static func begins(_ head: [UInt8]) -> Bool {
    FileType.isOne(of: ["heic", "heix", "heim", "heis", "hevc", "hevx"], head)
  }

  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows
  {
    let rows = try HEICRows(self, request.region, limits)
    return OpenRows(source: rows) { rows.isDamaged }
  }
}
