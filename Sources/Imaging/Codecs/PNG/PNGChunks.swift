import Base
import CPNG

/// The chunks of a PNG, which are found before any pixel is decompressed. (PNG specification, third edition, section 5)
///
/// A chunk has a length, a type such as `IDAT`, a payload, and a checksum (CRC).
struct PNGChunks: Sendable {
  /// A chunk that can be copied to another PNG.
  struct Chunk {
    /// The byte range of the whole chunk.
    let range: Range<Int>
    var payload: Range<Int> { range.lowerBound + 8..<range.upperBound - 4 }

    func type(in bytes: [UInt8]) -> String {
      String(decoding: bytes[range.lowerBound + 4..<range.lowerBound + 8], as: UTF8.self)
    }
  }

  /// The size of the stored picture.
  private(set) var size = PixelSize(width: 0, height: 0)
  private(set) var depth = 0
  /// The colour type in the header: 0 for grey, 2 for RGB, 3 for palette indices, 4 for grey with alpha, 6 for RGB with
  /// alpha.
  private(set) var colourType = 0
  /// Whether the pixels are stored in seven passes.
  private(set) var isInterlaced = false
  /// The payload of the palette (PLTE), which has three bytes for each colour.
  private(set) var palette = 0..<0
  /// The payload of the chunk that makes colours transparent (tRNS); nil if there is none that libpng uses.
  private(set) var transparency: Range<Int>?
  /// Valid chunks that define colours, in the order of the file.
  private(set) var chunks: [Chunk] = []
  /// The profile in the iCCP chunk; empty if there is a cICP chunk, which takes precedence over it.
  private(set) var profile: [UInt8] = []
  private(set) var exif: [UInt8] = []
  /// The first XMP packet that is not compressed.
  private(set) var xmp: [UInt8] = []
  /// The primaries and the transfer curve of a cICP chunk, which takes precedence over every other chunk. (Section 4.3)
  private(set) var namedColours: AVIFHeader.Colour?
  private var gamma: Int?
  /// The types of `chunks`.
  private var types: Set<String> = []
  /// The number of bytes of all IDAT chunks, which contain the compressed pixels.
  private var dataBytes = 0
  /// The offset after the last IDAT chunk.
  private(set) var dataEnd = 0

  /// The number of samples of a pixel.
  var channels: Int {
    switch colourType {
    case 2: 3
    case 4: 2
    case 6: 4
    default: 1
    }
  }

  /// Whether the gamma differs from sRGB's, and gAMA is the only chunk that defines it.
  var hasOwnGamma: Bool {
    gamma.map { abs($0 - 45_455) > 500 } ?? false
      && types.isDisjoint(with: ["cICP", "iCCP", "sRGB"])
  }

  /// Reads the chunks of `bytes`.
  ///
  /// - Throws: ``LarderError`` when the end of the file is missing, or the file exceeds `limits`.
  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      try walk(ByteReader(bytes: bytes), limits)
    }
    if namedColours != nil { profile = [] }
    let rowBytes = (size.width * channels * depth + 7) / 8 + 1
    // With less data than this, the picture cannot be complete.
    guard rowBytes * size.height <= (dataBytes + 1) * Self.mostExpansion else {
      throw limits.damaged("it has too little data for \(size.width) × \(size.height) pixels")
    }
  }

  /// A byte of deflate expands to at most this many bytes.
  private static let mostExpansion = 1032

  private mutating func walk(_ reader: ByteReader, _ limits: NamedLimits) throws(LarderError) {
    var offset = 8
    var metadataBytes = 0
    while let length = reader.long(offset) {
      let start = offset + 8
      guard length <= reader.bytes.count - start - 4 else { break }
      let type = String(decoding: reader.bytes[offset + 4..<start], as: UTF8.self)
      let chunk = Chunk(range: offset..<start + length + 4)
      guard (type == "IHDR") == (offset == 8) else {
        throw limits.damaged("its header is not at the start")
      }
      offset = chunk.range.upperBound
      switch type {
      case "IHDR":
        try readHeader(reader, chunk.payload, limits)
      case "IDAT":
        dataBytes += length
        dataEnd = offset
      case "IEND":
        return
      case "PLTE":
        palette = chunk.payload
      case "fdAT":
        // This chunk has pixels of a later frame of an animation. larder never decompresses them.
        break
      default:
        let content = ByteReader(
          bytes: UnsafeBufferPointer(rebasing: reader.bytes[chunk.payload])
        )
        let unpacked =
          type == "iCCP"
          ? Self.unpacked(content.bytes, most: limits.metadataBytes) : (bytes: [], isWhole: true)
        metadataBytes += max(length, unpacked.bytes.count)
        try limits.check(metadata: metadataBytes)
        // A chunk that cannot be decompressed is dropped, because other programs might fail on it.
        guard unpacked.isWhole, Self.hasRightSum(reader, chunk) else { continue }
        collect(chunk, type, content, unpacked.bytes)
      }
    }
    throw limits.damaged("the file is cut short")
  }

  private mutating func readHeader(
    _ reader: ByteReader,
    _ payload: Range<Int>,
    _ limits: NamedLimits
  ) throws(LarderError) {
    let start = payload.lowerBound
    guard payload.count == 13, let width = reader.long(start), let height = reader.long(start + 4),
      let depth = reader.byte(start + 8), let colourType = reader.byte(start + 9),
      let interlace = reader.byte(start + 12)
    else { throw limits.damaged("its header is not 13 bytes long") }
    try limits.check(width: width, height: height)
    size = PixelSize(width: width, height: height)
    (self.depth, self.colourType, isInterlaced) = (depth, colourType, interlace != 0)
  }

  /// The compressed part of the payload of an iCCP chunk, and whether it could be decompressed. (Section 11.3.2.3)
  ///
  /// At most one byte more than the limit is decompressed.
  private static func unpacked(_ payload: FileBytes, most limit: Int)
    -> (bytes: [UInt8], isWhole: Bool)
  {
    // The payload begins with a name, a zero and the compression method.
    guard let end = payload.firstIndex(of: 0), end + 1 < payload.count else { return ([], false) }
    let packed = UnsafeBufferPointer(rebasing: payload[(end + 2)...])
    let most = min(limit, packed.count * mostExpansion) + 1
    var status = Z_OK
    let bytes = [UInt8](unsafeUninitializedCapacity: most) { target, count in
      var size = UInt(most)
      status = uncompress(target.baseAddress, &size, packed.baseAddress, UInt(packed.count))
      count = Int(size)
    }
    return (bytes, status == Z_OK || bytes.count > limit)
  }

  /// Whether the CRC of a chunk is right.
  private static func hasRightSum(_ reader: ByteReader, _ chunk: Chunk) -> Bool {
    let summed = UnsafeBufferPointer(
      rebasing: reader.bytes[chunk.range.lowerBound + 4..<chunk.payload.upperBound]
    )
    let sum = crc32_z(0, summed.baseAddress, summed.count)
    return reader.long(chunk.payload.upperBound) == Int(sum)
  }

  /// Adds a chunk, unless it breaks the rules of its type, or repeats a chunk that can occur only once.
  ///
  /// `unpacked` is the decompressed part of an iCCP chunk.
  private mutating func collect(
    _ chunk: Chunk,
    _ type: String,
    _ content: ByteReader,
    _ unpacked: [UInt8]
  ) {
    guard type != "tRNS" else {
      if transparency == nil, makesClear(chunk.payload.count) { transparency = chunk.payload }
      return
    }
    if type == "eXIf", exif.isEmpty, TIFFDirectory(of: content.bytes) != nil {
      exif = Array(content.bytes)
    }
    if type == "iTXt", xmp.isEmpty, let start = Self.packetStart(content.bytes) {
      xmp = Array(content.bytes[start...])
    }
    guard allows(type, content), types.insert(type).inserted else { return }
    chunks.append(chunk)
    if type == "iCCP" { profile = unpacked }
    if type == "gAMA" { gamma = content.long(0) }
    if type == "cICP", let primaries = content.byte(0), let transfer = content.byte(1) {
      namedColours = AVIFHeader.Colour(
        chroma: 0,
        primaries: Int32(primaries),
        transfer: Int32(transfer),
        matrix: 0
      )
    }
  }

  /// The offset of the XMP packet in the payload of an iTXt chunk; nil if the text is another, or compressed.
  ///
  /// The keyword, a zero, the compression flag and the compression method come before a language tag and a translated
  /// keyword, which can be empty, and each end with a zero. (Section 11.3.3.4)
  private static func packetStart(_ payload: UnsafeBufferPointer<UInt8>) -> Int? {
    guard payload.starts(with: PictureTags.pngXMP.prefix(19)),
      let tag = payload.dropFirst(20).firstIndex(of: 0),
      let keyword = payload[(tag + 1)...].firstIndex(of: 0)
    else { return nil }
    return keyword + 1
  }

  /// Whether libpng uses a tRNS chunk of `count` bytes.
  ///
  /// It must precede the pixels, and be no longer than the palette allows.
  private func makesClear(_ count: Int) -> Bool {
    guard dataEnd == 0 else { return false }
    return switch colourType {
    case 0: count == 2
    case 2: count == 6
    case 3: count > 0 && count <= palette.count / 3
    default: false
    }
  }

  /// Whether a chunk meets the rules of its type, so that it can be copied. (Section 11.3)
  ///
  /// Chunks of other types are never copied.
  private func allows(_ type: String, _ content: ByteReader) -> Bool {
    let count = content.bytes.count
    func byte(_ index: Int) -> Int { content.byte(index) ?? 0 }
    switch type {
    case "iCCP":
      // The payload begins with a keyword of 1 to 79 bytes and a zero.
      return (1...79).contains(content.bytes.firstIndex(of: 0) ?? 0)
    case "gAMA": return count == 4 && content.long(0) != 0
    case "cHRM": return count == 32
    case "sRGB": return count == 1 && byte(0) <= 3
    // The third number names the matrix. A PNG has no other colours than RGB, so it must be 0.
    case "cICP": return count == 4 && byte(2) == 0 && byte(3) <= 1
    case "mDCV": return count == 24
    case "cLLI": return count == 8
    case "pHYs": return count == 9 && byte(8) <= 1
    default: return false
    }
  }
}

extension PNGChunks {
  /// The chunks of the file `bytes` that define its colours, for another PNG.
  ///
  /// If `profile` is false, the ICC profile is left out. If `converted` is true, the pixels were converted to sRGB, and
  /// one chunk that says so replaces all others.
  func colours(in bytes: [UInt8], profile: Bool, converted: Bool) -> [UInt8] {
    // The rendering intent 1, relative colorimetric, is the one that the conversion uses. (PNG, 11.3.2.5)
    if converted { return PNGCodec.chunk("sRGB", [1]) }
    return chunks.filter { profile || $0.type(in: bytes) != "iCCP" }.flatMap { bytes[$0.range] }
  }
}

extension PNGChunks: PictureCodec {
  static let name = "PNG"
  static var kept: PictureFormat { .png }

  static func begins(_ head: [UInt8]) -> Bool {
    head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
  }

  /// Whether the file has the end chunk, IEND. (PNG, section 11.2.5)
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    tail.holds(Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82])
  }

  var chroma: ChromaSampling? { channels > 2 || colourType == 3 ? .full : nil }

  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows
  {
    let rows = try PNGRows(bytes, self, isNative: request.isNative, limits)
    return OpenRows(source: rows.placed(PixelRegion(size), over: request.region))
  }

  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding
  ) throws(LarderError) -> EncodedFile {
    try PNGCodec.encode(rows, with: encoding.tags.chunks, to: encoding.place, encoding.limits)
  }
}
