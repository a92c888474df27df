import Base
import CPNG

/// The chunks of a PNG, which are found without decompressing them. (PNG specification, third edition, section 5)
///
/// A chunk has a length, a type such as `IDAT`, a payload, and a checksum (CRC).
struct PNGChunks: Sendable {
  /// The size of the stored picture.
  private(set) var size = PixelSize(width: 0, height: 0)
  private(set) var depth = 0
  /// The colour type in the header: 0 for grey, 2 for RGB, 3 for palette indices, 4 for grey with alpha, 6 for RGB with
  /// alpha.
  private(set) var colourType = 0
  /// Whether the pixels are stored in seven passes.
  private(set) var isInterlaced = false
  /// Whether a tRNS chunk makes any colour transparent.
  private(set) var hasTransparency = false
  /// Whole chunks that define the meaning of samples, such as iCCP.
  ///
  /// The output always keeps them.
  private(set) var colour: [Range<Int>] = []
  /// Whole bKGD chunks, which name a background, and must follow the palette.
  private(set) var background: [Range<Int>] = []
  /// Whole chunks with metadata.
  ///
  /// The output keeps them on request.
  private(set) var metadata: [Range<Int>] = []
  /// The primaries and the transfer curve of a cICP chunk, which takes precedence over every other chunk. (Section 4.3)
  private(set) var namedColours: AVIFHeader.Colour?
  /// Whether the gamma differs from sRGB's, and gAMA is the only chunk that defines it.
  var hasOwnGamma: Bool {
    gamma.map { abs($0 - 45_455) > 500 } ?? false
      && kept.isDisjoint(with: ["cICP", "iCCP", "sRGB"])
  }
  private var gamma: Int?
  private var paletteCount = 0
  /// The payload of the eXIf chunk.
  private(set) var exif: Range<Int>?
  private var kept: Set<String> = []
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

  /// Reads the chunks of `bytes`.
  ///
  /// - Throws: ``LarderError`` when the end of the file is missing, or the file exceeds `limits`.
  init(_ bytes: [UInt8], name: String, limits: PictureLimits) throws(LarderError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      try walk(ByteReader(bytes: bytes), name, limits)
    }
    let rowBytes = (size.width * channels * depth + 7) / 8 + 1
    // A byte of deflate expands to at most 1032 bytes. With less data than this, the picture cannot be complete.
    guard rowBytes * size.height <= dataBytes * 1032 + 1032 else {
      throw .damaged(name, "it has too little data for \(size.width) × \(size.height) pixels")
    }
  }

  private mutating func walk(
    _ reader: ByteReader,
    _ name: String,
    _ limits: PictureLimits
  ) throws(LarderError) {
    var offset = 8
    var metadataBytes = 0
    while let length = reader.long(offset) {
      let payload = offset + 8
      guard length <= reader.bytes.count - payload - 4 else { break }
      let chunk = offset..<payload + length + 4
      let type = String(decoding: reader.bytes[offset + 4..<payload], as: UTF8.self)
      guard (type == "IHDR") == (offset == 8) else {
        throw .damaged(name, "its header is not at the start")
      }
      offset = chunk.upperBound
      switch type {
      case "IHDR":
        try readHeader(reader, payload, length, name, limits)
      case "IDAT":
        dataBytes += length
        dataEnd = chunk.upperBound
      case "IEND":
        return
      case "PLTE":
        paletteCount = length / 3
      case "fdAT":
        // This chunk has pixels of a later frame of an animation. larder never decompresses them.
        break
      default:
        let content = payload..<payload + length
        let unpacked = Self.unpacked(type, content, reader, limits)
        metadataBytes += max(length, unpacked.bytes)
        try limits.check(metadata: metadataBytes, of: name)
        // A chunk that cannot be decompressed is dropped, because other programs might fail on it.
        if unpacked.isWhole { collect(type, chunk, content, reader) }
      }
    }
    throw .damaged(name, "the file is cut short")
  }

  private mutating func readHeader(
    _ reader: ByteReader,
    _ payload: Int,
    _ length: Int,
    _ name: String,
    _ limits: PictureLimits
  ) throws(LarderError) {
    guard length == 13, let width = reader.long(payload), let height = reader.long(payload + 4),
      let depth = reader.byte(payload + 8), let colourType = reader.byte(payload + 9),
      let interlace = reader.byte(payload + 12)
    else { throw .damaged(name, "its header is not 13 bytes long") }
    try limits.check(width: width, height: height, of: name)
    size = PixelSize(width: width, height: height)
    self.depth = depth
    self.colourType = colourType
    isInterlaced = interlace != 0
  }

  /// The decompressed size of a chunk's content, and whether it can be decompressed.
  ///
  /// Counting stops a little beyond the limit. For a chunk without compressed content, the size is 0.
  private static func unpacked(
    _ type: String,
    _ payload: Range<Int>,
    _ reader: ByteReader,
    _ limits: PictureLimits
  ) -> (bytes: Int, isWhole: Bool) {
    guard ["iCCP", "zTXt", "iTXt"].contains(type) else { return (0, true) }
    /// The offset after the zero byte that ends the text at `start`.
    func end(of start: Int) -> Int? {
      reader.bytes[start..<payload.upperBound].firstIndex(of: 0).map { $0 + 1 }
    }
    // The chunk begins with a name, a zero and the compression method. (Sections 11.3.2.3 and 11.3.3.3)
    guard let method = end(of: payload.lowerBound), method < payload.upperBound else {
      return (0, false)
    }
    var start = method + 1
    if type == "iTXt" {
      // The chunk begins with a keyword, two flags, a language, and the translated keyword. (Section 11.3.3.4)
      guard start < payload.upperBound, let translated = end(of: start + 1),
        let text = end(of: translated)
      else { return (0, false) }
      guard reader.bytes[method] == 1 else { return (0, true) }
      start = text
    }
    guard let base = reader.bytes.baseAddress else { return (0, false) }
    var isWhole = false
    let count = cpng_unpacked_bytes(
      base + start,
      payload.upperBound - start,
      limits.metadataBytes,
      &isWhole
    )
    return (count, isWhole)
  }

  private mutating func collect(
    _ type: String,
    _ chunk: Range<Int>,
    _ payload: Range<Int>,
    _ reader: ByteReader
  ) {
    guard type != "tRNS" else {
      hasTransparency = hasTransparency || makesClear(reader, payload)
      return
    }
    // A chunk is dropped if its CRC is wrong, if it breaks the rules of its type, or if it repeats a chunk that can
    // occur only once.
    let rule = PNGChunkRule(type)
    guard let rule, rule.repeats || !kept.contains(type),
      rule.allows(reader, payload, colourType: colourType, depth: depth),
      let base = reader.bytes.baseAddress,
      let sum = reader.long(payload.upperBound),
      cpng_crc(base + payload.lowerBound - 4, payload.count + 4) == UInt32(sum)
    else { return }
    kept.insert(type)
    switch type {
    case "bKGD": background.append(chunk)
    case "tEXt", "zTXt", "iTXt", "tIME": metadata.append(chunk)
    case "eXIf":
      exif = payload
      metadata.append(chunk)
    default:
      if type == "gAMA" { gamma = reader.long(payload.lowerBound) }
      if type == "cICP", let primaries = reader.byte(payload.lowerBound),
        let transfer = reader.byte(payload.lowerBound + 1)
      {
        namedColours = AVIFHeader.Colour(
          chroma: 0,
          primaries: Int32(primaries),
          transfer: Int32(transfer),
          matrix: 0
        )
      }
      colour.append(chunk)
    }
  }
}

extension PNGChunks {
  /// Whether libpng uses a tRNS chunk.
  ///
  /// Its CRC must be right. It must precede the pixels, and be no longer than the palette allows.
  private func makesClear(_ reader: ByteReader, _ payload: Range<Int>) -> Bool {
    let isLong =
      switch colourType {
      case 0: payload.count == 2
      case 2: payload.count == 6
      case 3: (1...max(paletteCount, 1)).contains(payload.count) && paletteCount > 0
      default: false
      }
    guard isLong, dataEnd == 0, let base = reader.bytes.baseAddress,
      let sum = reader.long(payload.upperBound)
    else { return false }
    return cpng_crc(base + payload.lowerBound - 4, payload.count + 4) == UInt32(sum)
  }
}

/// The rules that a chunk must meet before it is copied. (PNG specification, third edition, section 11.3)
struct PNGChunkRule {
  /// Whether a picture is allowed to have several chunks of this type.
  let repeats: Bool
  private let holds: (Content) -> Bool

  /// A chunk's payload, and the fields of the header that the rules need.
  private struct Content {
    let reader: ByteReader
    let payload: Range<Int>
    let colourType: Int
    let depth: Int

    var count: Int { payload.count }

    func byte(_ index: Int) -> Int { reader.byte(payload.lowerBound + index) ?? 0 }

    /// The number of channels that a chunk describes; a palette has three.
    var channels: Int {
      switch colourType {
      case 0: 1
      case 4: 2
      case 6: 4
      default: 3
      }
    }

    /// Whether the payload begins with a keyword of 1 to 79 bytes and a zero.
    var hasKeyword: Bool {
      let end = reader.bytes[payload].firstIndex(of: 0)
      return end.map { (1...79).contains($0 - payload.lowerBound) } ?? false
    }
  }

  /// The rule for chunks of `type`; nil if such chunks are never copied.
  init?(_ type: String) {
    repeats = ["tEXt", "zTXt", "iTXt"].contains(type)
    switch type {
    case "tEXt": holds = \.hasKeyword
    case "iTXt", "zTXt", "iCCP": holds = \.hasKeyword
    case "gAMA": holds = { $0.count == 4 && $0.reader.long($0.payload.lowerBound) != 0 }
    case "cHRM": holds = { $0.count == 32 }
    case "sRGB": holds = { $0.count == 1 && $0.byte(0) <= 3 }
    case "sBIT":
      holds = { content in
        let most = content.colourType == 3 ? 8 : content.depth
        return content.count == content.channels
          && (0..<content.count).allSatisfy { (1...max(most, 1)).contains(content.byte($0)) }
      }
    // The third number names the matrix. A PNG has no other colours than RGB, so it must be 0.
    case "cICP": holds = { $0.count == 4 && $0.byte(2) == 0 && $0.byte(3) <= 1 }
    case "mDCV": holds = { $0.count == 24 }
    case "cLLI": holds = { $0.count == 8 }
    case "pHYs": holds = { $0.count == 9 && $0.byte(8) <= 1 }
    case "bKGD":
      holds = { content in
        switch content.colourType {
        case 3: content.count == 1
        case 0, 4: content.count == 2
        default: content.count == 6
        }
      }
    case "tIME":
      holds = {
        $0.count == 7 && (1...12).contains($0.byte(2)) && (1...31).contains($0.byte(3))
          && $0.byte(4) < 24 && $0.byte(5) < 60 && $0.byte(6) <= 60
      }
    case "eXIf":
      holds = {
        $0.count >= 8
          && ($0.reader.matches("II*\0", at: $0.payload.lowerBound)
            || $0.reader.matches("MM\0*", at: $0.payload.lowerBound))
      }
    default: return nil
    }
  }

  /// Whether a chunk meets this rule, in a picture with this colour type and depth.
  func allows(
    _ reader: ByteReader,
    _ payload: Range<Int>,
    colourType: Int,
    depth: Int
  ) -> Bool {
    holds(Content(reader: reader, payload: payload, colourType: colourType, depth: depth))
  }
}
