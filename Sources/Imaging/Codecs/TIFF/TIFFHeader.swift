import Base

/// The first directory of a TIFF.
///
/// larder reads it itself, so that every size is checked before libtiff gets a byte. (TIFF 6.0)
struct TIFFHeader: Sendable {
  private(set) var size = PixelSize(width: 0, height: 0)
  /// The number of bits of a stored sample: 1, 2, 4, 8 or 16.
  private(set) var bits = 1
  /// The number of samples of a stored pixel, including those that are not used.
  private(set) var samples = 1
  /// The layout of the used samples; further samples without a known meaning are ignored.
  private(set) var layout = Bitmap.Layout.rgb
  /// Whether 0 is white.
  private(set) var isInverted = false
  /// Whether the stored colours are multiplied by alpha.
  private(set) var isAssociated = false
  /// The size of a tile; nil if the picture is stored in strips.
  private(set) var tile: PixelSize?
  /// Whether the picture consists of JPEGs, which libtiff converts to RGB.
  private(set) var hasJPEGColours = false
  /// The ICC profile, also that of CMYK, which is used only to read the rows.
  private var ownProfile: [UInt8] = []
  private(set) var xmp: [UInt8] = []
  /// The whole file, because it is the same structure as EXIF data.
  let exif: [UInt8]

  /// The number of bytes of a row that libtiff delivers.
  func rowBytes(_ width: Int) -> Int { (width * samples * bits + 7) / 8 }

  /// Reads the first directory of `bytes`.
  ///
  /// - Throws: ``LarderError`` when the directory is incomplete, the picture exceeds `limits`, or it is of an
  ///   unsupported kind.
  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    exif = bytes
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      guard let directory = TIFFDirectory(of: bytes) else {
        throw limits.damaged("its first directory is broken or missing")
      }
      // The first directory of a camera's raw file is a small preview of the photo. (DNG 1.6; Canon's CR2 is marked in
      // another way.)
      let isRaw =
        directory.number(254).map { $0 & 1 == 1 } ?? false || directory[50_706] != nil
        || directory.reader.matches("CR", at: 8)
      guard !isRaw else { throw .unread(limits.name, .raw) }
      try readShape(directory, limits)
      try readTiles(directory, limits)
      let tags = [34_675, 700].map { directory[$0]?.value ?? 0..<0 }
      try limits.check(metadata: tags[0].count + tags[1].count)
      (ownProfile, xmp) = (Array(bytes[tags[0]]), Array(bytes[tags[1]]))
    }
  }

  private mutating func readShape(
    _ directory: TIFFDirectory,
    _ limits: NamedLimits
  ) throws(LarderError) {
    guard let width = directory.number(256), let height = directory.number(257) else {
      throw limits.damaged("its size is missing")
    }
    try limits.check(width: width, height: height)
    size = PixelSize(width: width, height: height)
    samples = directory.number(277) ?? 1
    // Some programs write more numbers of bits than there are samples; libtiff ignores them.
    let all = directory.numbers(258, most: min(max(samples, 1), 64))
    bits = all.first ?? 1
    let photometric = directory.number(262) ?? -1
    let packing = directory.number(259) ?? 1
    func refusal(_ what: String) -> LarderError {
      .unread(limits.name, UnreadKind(name: "TIFFs \(what)", converter: "ImageMagick"))
    }
    guard directory.number(284) != 2 || samples == 1 else {
      throw refusal("with separate channels")
    }
    guard all.allSatisfy({ $0 == bits }) else { throw refusal("with samples of different sizes") }
    guard [1, 2, 4, 8, 16].contains(bits) else { throw refusal("with samples of \(bits) bits") }
    // Samples of type 4 have no declared type. They are unsigned, as in other programs.
    let types = directory.numbers(339, most: 64).filter { $0 != 1 && $0 != 4 }
    if let type = types.first {
      throw refusal("with \([2: "signed", 3: "floating-point"][type, default: "complex"]) samples")
    }
    // These numbers are, in this order: no compression, the three CCITT schemes, LZW, JPEG, Deflate, PackBits, and
    // Deflate by its older number.
    guard [1, 2, 3, 4, 5, 7, 8, 32_773, 32_946].contains(packing) else {
      throw refusal("with compression \(packing)")
    }
    switch photometric {
    case 0, 1: (layout, isInverted) = (.grey, photometric == 0)
    case 2: layout = .rgb
    case 3 where bits <= 8:
      layout = .indexed(Bitmap.Palette(colours: try readPalette(directory, limits)))
    case 5 where directory.number(332) ?? 1 == 1 && bits >= 8: layout = .cmyk
    case 6 where packing == 7 && samples == 3 && bits == 8:
      (layout, hasJPEGColours) = (.rgb, true)
    default:
      throw refusal(
        "with photometric interpretation \(photometric), \(samples) samples of \(bits) bits"
      )
    }
    let needed = layout.channels
    guard (needed...64).contains(samples), bits >= 8 || needed == 1, packing != 7 || bits == 8
    else { throw refusal("with \(samples) samples of \(bits) bits") }
    // If there are several further samples, only the first one can be alpha. The file need not say whether it is alpha.
    if samples > needed, let kind = directory.number(338), kind == 1 || kind == 2 {
      if layout == .grey { layout = .greyAlpha }
      if layout == .rgb { layout = .rgba }
      isAssociated = kind == 1 && layout.hasAlpha
    }
    // A compressed picture of more than 16 megapixels must have a byte for each 4,096 pixels.
    let (count, pixels) = (directory.reader.bytes.count, width * height)
    guard packing == 1 || pixels < 1 << 24 || count > pixels / 4096 else {
      throw limits.tooLarge("\(count) bytes are too few for \(width) × \(height) pixels")
    }
    guard packing != 1 || rowBytes(width) * height <= count else {
      throw limits.damaged("the file ends too early")
    }
  }

  /// Reads the palette.
  ///
  /// The standard requires 16 bits for each number, but some programs write numbers of 8 bits. (Section 5)
  private func readPalette(
    _ directory: TIFFDirectory,
    _ limits: NamedLimits
  ) throws(LarderError) -> [UInt8] {
    let count = 1 << bits
    let numbers = directory.numbers(320, most: 3 * count)
    guard numbers.count == 3 * count else { throw limits.damaged("its palette is incomplete") }
    let shift = numbers.contains { $0 > 255 } ? 8 : 0
    return (0..<count).flatMap { index in
      (0..<3).map { UInt8(truncatingIfNeeded: numbers[$0 * count + index] >> shift) }
    }
  }

  private mutating func readTiles(
    _ directory: TIFFDirectory,
    _ limits: NamedLimits
  ) throws(LarderError) {
    guard directory.number(278) != 0 else { throw limits.damaged("its strips have no rows") }
    guard let width = directory.number(322) else { return }
    let tile = PixelSize(width: width, height: directory.number(323) ?? 0)
    try limits.check(width: width, height: tile.height)
    // A row of a tile must consist of whole bytes. (Section 15)
    guard width * tile.height <= size.width * size.height * 4 + 1_000_000, width * bits % 8 == 0
    else { throw limits.damaged("its tiles have an invalid size") }
    // A row of tiles is in memory as a whole.
    let across = (size.width + width - 1) / width
    try limits.check(memory: rowBytes(width) * tile.height * across)
    self.tile = tile
  }
}

extension TIFFHeader: PictureCodec {
  static let name = "TIFF"
  static let fileExtensions = ["tif", "tiff"]
  static var kept: PictureFormat { .png }
  static var isShown: Bool { false }

  /// Whether a file begins with a byte order and then 42.
  static func begins(_ head: [UInt8]) -> Bool {
    head.starts(with: "II*\0".utf8) || head.starts(with: "MM\0*".utf8)
  }

  var depth: Int { bits == 16 && layout != .cmyk ? 16 : 8 }
  /// The number of channels after the rows are read: CMYK counts as three, because it becomes RGB.
  var channels: Int { layout == .cmyk ? 3 : layout.channels }
  var isIndexed: Bool { if case .indexed = layout { true } else { false } }
  var chroma: ChromaSampling? { layout == .grey || layout == .greyAlpha ? nil : .full }
  var profile: [UInt8] { layout == .cmyk ? [] : ownProfile }

  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows
  {
    let rows = try TIFFRows(self, bytes, limits)
    var source = rows.placed(PixelRegion(size), over: request.region)
    if layout == .cmyk {
      source = try source.inksConverted(profile: ownProfile, isInverted: false, name: limits.name)
    }
    return OpenRows(source: source) { rows.isDamaged }
  }
}
