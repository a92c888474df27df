import Base
import CAVIF

/// The fields of an AVIF's boxes, which libavif reads before any pixel is decoded. (AV1 Image File Format 1.1)
struct AVIFHeader: HEIFHeader {
  typealias Colour = cavif_colour

  let coded: PixelSize
  let aperture: PixelRegion
  /// The number of bits of a sample: 8, 10 or 12.
  let depth: Int
  let hasAlpha: Bool
  /// The orientation in the boxes, which takes precedence over EXIF. (ISO/IEC 23000-22, 7.3.6.7)
  let ownOrientation: Orientation?
  let colour: Colour
  let profile: [UInt8]
  let exif: [UInt8]
  let xmp: [UInt8]

  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    // libavif checks only whether the picture's own data is complete.
    _ = try BoxReader.meta(of: bytes, limits.damaged("the file ends too early"))
    try limits.checkOpened(cavif_open(), "libavif", for: "AVIF")
    self = try bytes.withUnsafeBufferPointer { (pointer) throws(LarderError) in
      let (most, side) = (UInt32(clamping: limits.pixels), UInt32(clamping: limits.side))
      var (header, outcome) = (cavif_header(), cavif_outcome())
      let parsed = cavif_parse(pointer.baseAddress, pointer.count, most, side, &header, &outcome)
      guard let decoder = parsed else {
        // libavif reports a size above its limit as damage. This check throws an error that names the limit instead.
        if outcome.status == CInt(cavif_broken), let items = try? HEIFItems(bytes, limits),
          let size = try? items.primary.map(items.size)
        {
          try limits.check(width: size.width, height: size.height)
        }
        throw .avif(limits, outcome)
      }
      defer { cavif_decoder_free(decoder) }
      return try AVIFHeader(header, limits)
    }
  }

  /// Makes a header from the one that libavif read, and copies the tags, which the decoder frees when it is closed.
  private init(_ header: cavif_header, _ limits: NamedLimits) throws(LarderError) {
    let tags = [header.profile, header.exif, header.xmp]
    try limits.check(metadata: tags.reduce(0) { $0 + $1.count })
    coded = PixelSize(width: header.width, height: header.height)
    try limits.check(width: coded.width, height: coded.height)
    let part = header.aperture
    aperture = PixelRegion(x: part.x, y: part.y, width: part.width, height: part.height)
    (depth, hasAlpha, colour) = (header.depth, header.has_alpha, header.colour)
    ownOrientation = Orientation(quarters: header.angle, mirror: header.mirror)
    let bytes = tags.map { Array(UnsafeBufferPointer(start: $0.bytes, count: $0.count)) }
    (profile, exif, xmp) = (bytes[0], Exif.tiff(in: bytes[1]), bytes[2])
  }

  /// The maximum memory, in bytes, that dav1d takes to decode `pixels` pixels, in addition to the file's bytes.
  ///
  /// Colours and alpha are two separate pictures. Film grain is added to a copy of the planes. If the picture is stored
  /// as a grid of frames, these are copied into one picture.
  static func decoderMemory(pixels: Int, colour: Colour, depth: Int, hasAlpha: Bool) -> Int {
    func bytes(_ chromaSamples: Double) -> Double {
      1 + 3.5 * (1 + chromaSamples) * (depth > 8 ? 2 : 1)
    }
    return Int(Double(pixels) * (bytes(colour.chromaSamples) + (hasAlpha ? bytes(0) : 0)))
  }
}

extension AVIFHeader {
  static let name = "AVIF"
  static var kept: PictureFormat { .avif }

  static func begins(_ head: [UInt8]) -> Bool {
    FileType.isOne(of: ["avif", "avis"], head)
  }

  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows
  {
    let rows = PlaneRows(self, request.region, limits)
    let pixels = coded.width * coded.height
    try limits.check(memory: planeBytes(pixels))
    let held = Self.decoderMemory(pixels: pixels, colour: colour, depth: depth, hasAlpha: hasAlpha)
    try limits.check(decoding: held)
    // The limits are for the frames in the file. If an AVIF stores its picture as a grid of frames, the frames together
    // can be a little larger than the picture.
    let most = UInt32(clamping: min(limits.pixels, max(pixels * 4, 4_000_000)))
    let side = UInt32(clamping: limits.side)
    var (header, outcome) = (cavif_header(), cavif_outcome())
    if let decoder = cavif_parse(bytes.baseAddress, bytes.count, most, side, &header, &outcome) {
      rows.planes = cavif_decode(decoder, cavif_region(rows.padded), &outcome)
      cavif_decoder_free(decoder)
    }
    guard rows.planes != nil else { throw .avif(limits, outcome) }
    rows.firstColumn = rows.padded.x
    rows.held = rows.padded.y..<rows.padded.y + rows.padded.height
    return OpenRows(source: rows)
  }

  /// The default quality, which is the same as libavif's.
  private static let usualQuality = 60

  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding
  ) throws(LarderError) -> EncodedFile {
    let (shape, limits, tags) = (rows.shape, encoding.limits, encoding.tags)
    try limits.checkOpened(cavif_open(), "libavif", for: "AVIF")
    var colour = colour(of: encoding)
    var depth = 8
    if shape.depth == 16 {
      // If the source is an AVIF, the result has its depth. Other samples of 16 bits become 10 bits, which every
      // decoder shows, or 12 bits if they are encoded without loss.
      depth = encoding.lossless ? 12 : 10
      if let header = encoding.source.probe.structure as? AVIFHeader { depth = header.depth }
    }
    if encoding.lossless {
      // The identity matrix (0) stores RGB itself, without a conversion to luma and chroma.
      (colour.chroma, colour.matrix) = (CInt(cavif_444), 0)
    }
    try limits.check(memory: shape.rowBytes * shape.height)
    let feed = RowFeed(rows)
    var outcome = cavif_outcome()
    var settings = cavif_encoding()
    (settings.next, settings.context) = (RowFeed.next, feed.context)
    (settings.width, settings.height) = (shape.width, shape.height)
    settings.rows = cavif_pixels(shape, stride: shape.rowBytes)
    (settings.depth, settings.colour) = (depth, colour)
    settings.quality = encoding.crop.quality ?? usualQuality
    settings.lossless = encoding.lossless
    let (profile, exif, xmp) = (tags.profile, tags.exif, tags.xmp)
    let made = withExtendedLifetime(feed) {
      cavif_encode(
        &settings,
        profile,
        profile.count,
        exif,
        exif.count,
        xmp,
        xmp.count,
        &outcome
      )
    }
    defer { cavif_bytes_free(made) }
    guard outcome.status == CInt(cavif_done) else {
      if let failure = feed.failure { throw failure }
      if outcome.status != CInt(cavif_broken) { throw .avif(limits, outcome) }
      // The encoder has no other code for a lack of memory.
      throw LarderError(
        .tooLarge,
        "cannot write \(limits.name) as AVIF: the encoder failed, probably for lack of memory; "
          + "choose a smaller size or another format"
      )
    }
    return .held(Array(UnsafeBufferPointer(start: made.bytes, count: made.count)))
  }

  /// How the colours of the output are encoded.
  ///
  /// If the source is an AVIF, they are encoded as in the source. Otherwise they are sRGB, or the colours that the
  /// source names by numbers, with the chroma subsampling of the source.
  private static func colour(of encoding: PictureEncoding) -> Colour {
    // These numbers are BT.709's primaries, sRGB's curve and BT.601's matrix. (ITU-T H.273)
    var colour = Colour(chroma: CInt(cavif_444), primaries: 1, transfer: 13, matrix: 6)
    let source = encoding.source.probe.structure
    if let header = source as? AVIFHeader {
      colour = header.colour
      // The identity matrix (0) has no chroma to subsample. Decoders take an unspecified matrix (2) for BT.601's (6).
      if colour.matrix == 0 || colour.matrix == 2 { colour.matrix = 6 }
    } else {
      colour.chroma = source.chroma.map(\.forAVIF) ?? Int32(cavif_400)
      if let named = source.namedColours, named.primaries != 2 {
        (colour.primaries, colour.transfer) = (named.primaries, named.transfer)
      }
    }
    if encoding.isConverted { (colour.primaries, colour.transfer, colour.matrix) = (1, 13, 6) }
    if let chroma = encoding.crop.chroma, !colour.isGrey { colour.chroma = chroma.forAVIF }
    if encoding.hasNewColours, colour.isGrey { colour.chroma = CInt(cavif_444) }
    return colour
  }
}
