import Base
import Glibc

/// The segments of a JPEG, which are found without decoding it. (ISO/IEC 10918-1, annex B)
///
/// A segment begins with a marker, such as 0xFFC0, and its length.
struct JPEGMarkers: Sendable {
  /// The size of the stored picture.
  private(set) var size = PixelSize(width: 0, height: 0)
  /// The horizontal and vertical sampling factors of each component, for example 2 × 2, 1 × 1 and 1 × 1 for 4:2:0.
  private(set) var sampling: [PixelSize] = []
  private(set) var isProgressive = false
  /// The number of scans, which are the passes in which a picture is stored.
  private(set) var scans = 0
  /// The first quantization table, from which the quality is estimated.
  private(set) var firstTable: [Int] = []
  /// Whether a quantization table contains a zero, which the standard forbids and decoders tolerate.
  private(set) var hasZeroInTable = false
  /// Whether the quantization table of a component is defined behind the first scan, where an encoder that copies the
  /// tables does not look for it.
  private(set) var hasLateTable = false
  /// The payload of the first Exif segment, beginning with the TIFF header.
  private(set) var exif: [UInt8] = []
  /// The payloads of the segments of the ICC profile, in the order of the file.
  private(set) var profileSegments: [[UInt8]] = []
  /// The first XMP packet.
  private(set) var xmp: [UInt8] = []
  /// The list of Photoshop's resources, such as the IPTC fields.
  ///
  /// A list that is too long for one segment is divided into several, at any byte.
  private(set) var resources: [UInt8] = []
  /// The colour transform in the Adobe segment; nil if there is no such segment.
  ///
  /// The segment means that CMYK is stored inverted.
  private(set) var adobeTransform: Int?
  /// Whether the end marker was reached.
  ///
  /// A file without it is incomplete.
  private(set) var isWhole = false

  private var hasJFIF = false
  /// The identifier of each component, by which scans name components.
  private var components: [Int] = []
  /// The number of the quantization table of each component.
  private var tables: [Int] = []
  /// The numbers of the tables that are defined behind the first scan.
  private var lateTables: Set<Int> = []
  /// For each component and each of its 64 coefficients, the number of low bits that no scan has delivered yet.
  ///
  /// It is nil before the first scan of the coefficient.
  private var leftOut: [[Int?]] = []
  /// Whether the scans together deliver every coefficient of every component to its last bit.
  var isComplete: Bool { leftOut.joined().allSatisfy { $0 == 0 } }

  /// The size of a block (MCU) in pixels; a lossless crop must begin at the border of a block.
  var block: PixelSize {
    // A single component is never subsampled.
    guard sampling.count > 1 else { return PixelSize(side: 8) }
    let (across, down) = (sampling.map(\.width).max() ?? 1, sampling.map(\.height).max() ?? 1)
    return PixelSize(width: 8 * across, height: 8 * down)
  }

  /// The approximate number of bytes of all coefficients, at two bytes for each coefficient.
  var coefficientBytes: Int {
    let parts = sampling.count == 1 ? 1 : sampling.reduce(0) { $0 + $1.width * $1.height }
    return size.width * size.height * 128 * parts / max(block.width * block.height, 1)
  }

  /// Whether the samples are RGB, which is unusual, and not YCbCr; libjpeg decides it in the same way.
  var isRGB: Bool {
    components.count == 3 && !hasJFIF
      && adobeTransform.map { $0 == 0 } ?? components.elementsEqual("RGB".utf8.map(Int.init))
  }

  /// The layout in which the pixels are decoded.
  func layout(_ limits: NamedLimits) throws(LarderError) -> Bitmap.Layout {
    switch sampling.count {
    case 1: return .grey
    case 3: return .bgrx
    case 4: return .cmyk
    default:
      throw limits.unsupported(
        "a JPEG with \(sampling.count) channels of an unknown kind; save it as RGB"
      )
    }
  }

  /// The longest side, in pixels, that libjpeg reads.
  private static let longestSide = 65_500

  /// The number of bytes from the first scan to the end of the file.
  private var codedBytes = 0
  /// The fewest bits that a block of 64 coefficients takes; 0 if that is unknown, as for arithmetic coding.
  private var leastBits = 0

  /// Reads the segments of `bytes`.
  ///
  /// - Throws: ``LarderError`` when the bytes end before the picture begins, or exceed `limits`.
  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      try walk(ByteReader(bytes: bytes), limits)
    }
    guard scans > 0 else { throw limits.damaged("it ends before the picture begins") }
    // A photo whose end is missing is accepted if it has at least a sixteenth of `least`, the smallest possible number
    // of bytes for a whole photo of this size.
    let least = (size.width + 7) / 8 * ((size.height + 7) / 8) * leastBits / 8
    guard codedBytes * 16 >= least else {
      throw limits.damaged("it has too little data for \(size.width) × \(size.height) pixels")
    }
  }

  private mutating func walk(_ reader: ByteReader, _ limits: NamedLimits) throws(LarderError) {
    var offset = 2
    var metadataBytes = 0
    while let (marker, start) = Self.nextMarker(reader.bytes, from: offset) {
      switch marker {
      case 0xD9:
        isWhole = true
        // Bytes behind the end marker are no part of the picture.
        if scans > 0 { codedBytes -= reader.bytes.count - start }
        return
      // Restart markers are within a scan.
      case 0x01, 0xD0...0xD7:
        offset = start
        continue
      case 0xD8:
        throw limits.damaged("a second picture begins inside the first")
      default:
        break
      }
      guard var length = reader.short(start), length <= reader.bytes.count - start else { return }
      if length < 2 {
        // Decoders treat an application or comment segment with an impossibly small length as empty. Any other segment
        // with such a length ends the file.
        guard (0xE0...0xEF).contains(marker) || marker == 0xFE else { return }
        length = 2
      }
      offset = start + length
      let payload = start + 2..<offset
      switch marker {
      case 0xC0, 0xC1, 0xC2, 0xC9, 0xCA:
        try readFrame(reader, payload, marker, limits)
      case 0xC3, 0xC5...0xC7, 0xCB, 0xCD...0xCF:
        throw limits.unsupported("a lossless or hierarchical JPEG; save it as baseline")
      case 0xDB:
        readTables(reader, payload)
      case 0xE0...0xEF, 0xFE:
        metadataBytes += length
        try limits.check(metadata: metadataBytes)
        if length > 2 { readApplication(reader, payload, marker) }
      case 0xDA:
        guard size.width > 0 else { throw limits.damaged("a scan comes before the frame") }
        scans += 1
        try limits.check(scans: scans, pixels: size.width * size.height)
        readScan(reader, payload)
        if scans == 1 { codedBytes = reader.bytes.count - offset }
      default:
        break
      }
    }
  }

  /// The next marker, and the offset of the segment after it; bytes before the marker are skipped, as libjpeg does.
  ///
  /// 0xFF and a zero are a byte of a scan.
  private static func nextMarker(
    _ bytes: UnsafeBufferPointer<UInt8>,
    from offset: Int
  ) -> (marker: UInt8, start: Int)? {
    guard let base = bytes.baseAddress else { return nil }
    var offset = offset
    while offset < bytes.count, let found = memchr(base + offset, 0xFF, bytes.count - offset) {
      offset = UnsafeRawPointer(base).distance(to: UnsafeRawPointer(found))
      while offset < bytes.count, bytes[offset] == 0xFF { offset += 1 }
      guard offset < bytes.count else { return nil }
      if bytes[offset] != 0 { return (bytes[offset], offset + 1) }
    }
    return nil
  }

  private mutating func readFrame(
    _ reader: ByteReader,
    _ payload: Range<Int>,
    _ marker: UInt8,
    _ limits: NamedLimits
  ) throws(LarderError) {
    guard size.width == 0 else { throw limits.damaged("it has two frames") }
    guard payload.count >= 6, let depth = reader.byte(payload.lowerBound),
      let height = reader.short(payload.lowerBound + 1),
      let width = reader.short(payload.lowerBound + 3),
      let components = reader.byte(payload.lowerBound + 5), payload.count >= 6 + components * 3
    else { throw limits.damaged("its frame header is cut short") }
    try limits.check(width: width, height: height)
    guard max(width, height) <= Self.longestSide else {
      throw limits.tooLarge(
        "\(width) × \(height) has a side of more than \(Self.longestSide) pixels"
      )
    }
    guard depth == 8 else {
      throw limits.unsupported("a JPEG with \(depth) bits per sample; save it with 8")
    }
    size = PixelSize(width: width, height: height)
    isProgressive = marker == 0xC2 || marker == 0xCA
    // A block has at least one code for its DC coefficient. In a file that is not progressive, a block also has at
    // least one code for its AC coefficients.
    leastBits = marker == 0xC2 ? 1 : marker < 0xC2 ? 2 : 0
    self.components = (0..<components).map {
      reader.byte(payload.lowerBound + 6 + $0 * 3) ?? 0
    }
    tables = (0..<components).map { reader.byte(payload.lowerBound + 8 + $0 * 3) ?? 0 }
    leftOut = Array(repeating: Array(repeating: nil, count: 64), count: components)
    sampling = (0..<components).map { component in
      let factors = reader.byte(payload.lowerBound + 7 + component * 3) ?? 0
      return PixelSize(width: factors >> 4, height: factors & 15)
    }
  }

  /// Records the bits of the coefficients that a scan delivers. (Sections B.2.3 and G.1.1.1)
  private mutating func readScan(_ reader: ByteReader, _ payload: Range<Int>) {
    let start = payload.lowerBound
    guard let count = reader.byte(start), payload.count >= count * 2 + 4,
      let first = reader.byte(start + 1 + count * 2),
      let last = reader.byte(start + 2 + count * 2),
      let bits = reader.byte(start + 3 + count * 2), first <= last, last < 64
    else { return }
    // A scan of a sequential picture has all coefficients, even if these numbers say otherwise.
    let (told, left) = isProgressive ? (first...last, bits & 15) : (0...63, 0)
    for index in 0..<count {
      guard let number = reader.byte(start + 1 + index * 2),
        let component = components.firstIndex(of: number)
      else { continue }
      // A decoder keeps the table that a component has in its first scan.
      if leftOut[component].allSatisfy({ $0 == nil }), lateTables.contains(tables[component]) {
        hasLateTable = true
      }
      for coefficient in told { leftOut[component][coefficient] = left }
    }
  }

  /// Reads the tables of a DQT segment. (Section B.2.4.1)
  private mutating func readTables(_ reader: ByteReader, _ payload: Range<Int>) {
    var offset = payload.lowerBound
    while offset < payload.upperBound, let kind = reader.byte(offset) {
      let step = kind >> 4 == 0 ? 1 : 2
      guard offset + 1 + 64 * step <= payload.upperBound else { return }
      let values = (0..<64).compactMap { index in
        let place = offset + 1 + index * step
        return step == 1 ? reader.byte(place) : reader.short(place)
      }
      if values.contains(0) { hasZeroInTable = true }
      if scans > 0 { lateTables.insert(kind & 15) }
      if firstTable.isEmpty, kind & 15 == 0 { firstTable = values }
      offset += 1 + 64 * step
    }
  }

  private mutating func readApplication(
    _ reader: ByteReader,
    _ payload: Range<Int>,
    _ marker: UInt8
  ) {
    let content = reader.bytes[payload]
    switch marker {
    case 0xE0 where reader.matches("JFIF\0", at: payload.lowerBound):
      // libjpeg ignores a shorter segment, and a segment behind the first scan.
      if payload.count >= 14, scans == 0 { hasJFIF = true }
    case 0xE1 where reader.matches("Exif\0\0", at: payload.lowerBound) && exif.isEmpty:
      exif = Array(content.dropFirst(6))
    case 0xE1 where reader.matches(Self.xmpName, at: payload.lowerBound) && xmp.isEmpty:
      xmp = Array(content.dropFirst(Self.xmpName.utf8.count))
    case 0xE2 where reader.matches("ICC_PROFILE\0", at: payload.lowerBound):
      profileSegments.append(Array(content))
    case 0xED where reader.matches(Self.photoshopName, at: payload.lowerBound):
      resources += content.dropFirst(Self.photoshopName.utf8.count)
    case 0xEE where reader.matches("Adobe", at: payload.lowerBound):
      if payload.count >= 12, scans == 0 { adobeTransform = reader.byte(payload.lowerBound + 11) }
    default: break
    }
  }

  /// The first bytes of a segment with an XMP packet.
  static let xmpName = "http://ns.adobe.com/xap/1.0/\0"
  /// The first bytes of a segment with Photoshop's resources.
  static let photoshopName = "Photoshop 3.0\0"
}
