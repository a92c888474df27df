import Base
import CAVIF

/// The HEVC pictures that make up one picture of an HEIC: a single one, or the cells of a grid.
struct HEVCTiles: Equatable, Sendable {
  /// The size of the whole picture.
  let size: PixelSize
  /// The size of each cell.
  ///
  /// Cells at the right and at the bottom can extend beyond the picture.
  let cell: PixelSize
  let columns: Int
  let stills: [HEVCStill]
  /// The chroma format and the depth, which all HEVC pictures share.
  private let kind: HEVCStill.Kind

  /// The number of bits of a sample: 8, 10 or 12.
  var depth: Int { kind.depth }
  /// The chroma format as a number of H.265: 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
  var format: Int { kind.format }
  var chroma: Int32 { Int32([cavif_400, cavif_420, cavif_422, cavif_444][format]) }

  /// Whether `other` has the same size, cells and depth.
  func isAlike(_ other: HEVCTiles) -> Bool {
    size == other.size && cell == other.cell && columns == other.columns && depth == other.depth
  }

  /// Reads an item and its cells.
  ///
  /// - Throws: ``LarderError`` when the item is damaged, of an unsupported kind, or exceeds `limits`.
  init(
    _ items: HEIFItems,
    _ item: Int,
    _ reader: ByteReader,
    _ limits: PictureLimits,
    _ name: String
  ) throws(LarderError) {
    let broken = LarderError.damaged(name, "its boxes are broken")
    guard let size = Self.size(of: item, items, reader) else { throw broken }
    try limits.check(width: size.width, height: size.height, of: name)
    var cells = [item]
    switch items.type(of: item) {
    case "hvc1", "hev1":
      (self.size, cell, columns) = (size, size, 1)
    case "grid":
      cells = items.targets(of: item, "dimg")
      guard let grid = Self.grid(items.bytes(of: item), reader), grid.size == size,
        let first = cells.first, cells.count == grid.columns * grid.rows,
        let cell = Self.size(of: first, items, reader), cell.width > 0, cell.height > 0
      else { throw broken }
      try limits.check(width: cell.width, height: cell.height, of: name)
      // Every cell must show a part of the picture, and the cells together must not be much larger than the picture.
      guard (size.width + cell.width - 1) / cell.width == grid.columns,
        (size.height + cell.height - 1) / cell.height == grid.rows,
        cell.width * cell.height * cells.count <= size.width * size.height * 4 + 4_000_000
      else { throw broken }
      (self.size, self.cell, columns) = (size, cell, grid.columns)
    case let type:
      throw LarderError(
        .unsupported,
        "cannot read \(name): an HEIC with items of the type \(type ?? "none"); save it as PNG"
      )
    }
    // A property box that several cells share is read once.
    var known: [Range<Int>: HEVCStill.Parameters] = [:]
    var found: [Int: (still: HEVCStill, bytes: Int)] = [:]
    var (stills, kind, bytes) = ([HEVCStill](), HEVCStill.Kind?.none, 0)
    for item in cells {
      if found[item] == nil {
        guard ["hvc1", "hev1"].contains(items.type(of: item)),
          Self.size(of: item, items, reader) == cell,
          let box = items.properties(of: item).first(where: { $0.type == "hvcC" })?.body,
          let parameters = known[box] ?? HEVCStill.Parameters(box, reader),
          kind == nil || kind == parameters.kind
        else { throw broken }
        (known[box], kind) = (parameters, parameters.kind)
        let parts = items.bytes(of: item)
        let still = HEVCStill(parameters: parameters, parts: parts)
        found[item] = (still, parts.reduce(0) { $0 + $1.count })
      }
      guard let one = found[item], one.bytes > 0 else {
        throw .damaged(name, "the file ends too early")
      }
      stills.append(one.still)
      bytes += one.bytes
    }
    // Cells can share bytes, but the sum of their sizes must be at most four times the size of the file.
    guard let kind, bytes <= reader.bytes.count * 4 else { throw broken }
    guard kind.isRead else {
      throw LarderError(
        .unsupported,
        "cannot read \(name): an HEIC with \(kind.depth) bits for luma and \(kind.colourDepth) for chroma; save it as PNG"
      )
    }
    // If the chroma is subsampled, the sides of cells must be even, so that no chroma sample belongs to two cells.
    guard
      kind.format == 0 || kind.format == 3 || cells.count == 1
        || cell.width % 2 == 0 && cell.height % 2 == 0
    else { throw broken }
    (self.stills, self.kind) = (stills, kind)
  }

  /// The size in an item's `ispe` box. (ISO/IEC 23008-12, 6.5.3)
  private static func size(
    of item: Int,
    _ items: HEIFItems,
    _ reader: ByteReader
  ) -> PixelSize? {
    guard let box = items.properties(of: item).first(where: { $0.type == "ispe" })?.body,
      let width = reader.long(box.lowerBound + 4), let height = reader.long(box.lowerBound + 8)
    else { return nil }
    return PixelSize(width: width, height: height)
  }

  /// Reads the header of a grid. (ISO/IEC 23008-12, 6.6.2.3)
  private static func grid(
    _ parts: [Range<Int>],
    _ reader: ByteReader
  ) -> (columns: Int, rows: Int, size: PixelSize)? {
    guard parts.count == 1, let part = parts.first, part.count >= 8,
      let flags = reader.byte(part.lowerBound + 1), let rows = reader.byte(part.lowerBound + 2),
      let columns = reader.byte(part.lowerBound + 3)
    else { return nil }
    let (start, isLong) = (part.lowerBound + 4, flags & 1 == 1)
    guard let width = isLong ? reader.long(start) : reader.short(start),
      let height = isLong ? reader.long(start + 4) : reader.short(start + 2)
    else { return nil }
    return (columns + 1, rows + 1, PixelSize(width: width, height: height))
  }
}

/// One HEVC picture: the byte ranges of its data in the file, and its parameter sets.
struct HEVCStill: Equatable, Sendable {
  /// The chroma format, as in ``HEVCTiles/format``, and the number of bits of luma and of chroma samples.
  struct Kind: Equatable, Sendable {
    let format: Int
    let depth: Int
    let colourDepth: Int

    /// Whether larder can convert a picture of this kind to RGB.
    var isRead: Bool { [8, 10, 12].contains(depth) && (format == 0 || colourDepth == depth) }
  }

  /// The parameter sets, which a decoder needs before the picture. (ISO/IEC 14496-15, 8.3.3.1)
  struct Parameters: Equatable, Sendable {
    let kind: Kind
    /// The byte ranges of the parameter sets: VPS, SPS and PPS units.
    private(set) var units: [Range<Int>] = []
    /// The data consists of units; this many bytes before each unit are its length.
    let lengthBytes: Int

    init?(_ box: Range<Int>, _ reader: ByteReader) {
      let start = box.lowerBound
      guard box.count >= 23, let format = reader.byte(start + 16),
        let depth = reader.byte(start + 17), let colourDepth = reader.byte(start + 18),
        let length = reader.byte(start + 21), let arrays = reader.byte(start + 22)
      else { return nil }
      kind = Kind(format: format & 3, depth: depth & 7 + 8, colourDepth: colourDepth & 7 + 8)
      lengthBytes = length & 3 + 1
      var place = start + 23
      for _ in 0..<arrays {
        guard let count = reader.short(place + 1) else { return nil }
        place += 3
        for _ in 0..<count {
          guard let size = reader.short(place), size > 0, size <= box.upperBound - place - 2 else {
            return nil
          }
          units.append(place + 2..<place + 2 + size)
          place += 2 + size
        }
      }
    }
  }

  let parameters: Parameters
  /// The byte ranges in the file that together are the picture's data.
  let parts: [Range<Int>]

  /// The maximum number of NAL units of a picture; real pictures never have thousands.
  private static let mostUnits = 1 << 16

  /// Calls `body` with the NAL units that a decoder needs: the parameter sets and the slices, without SEI messages.
  ///
  /// - Returns: The result of `body`; nil if the data ends within a unit.
  func withUnits<Result>(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ body: ([UnsafeBufferPointer<UInt8>]) -> Result
  ) -> Result? {
    var units = parameters.units.map { UnsafeBufferPointer(rebasing: bytes[$0]) }
    if parts.count == 1, let part = parts.first {
      guard split(UnsafeBufferPointer(rebasing: bytes[part]), into: &units) else { return nil }
      return body(units)
    }
    return parts.flatMap { bytes[$0] }.withUnsafeBufferPointer { data in
      split(data, into: &units) ? body(units) : nil
    }
  }

  private func split(
    _ data: UnsafeBufferPointer<UInt8>,
    into units: inout [UnsafeBufferPointer<UInt8>]
  ) -> Bool {
    var place = 0
    while place < data.count {
      guard parameters.lengthBytes <= data.count - place, units.count < Self.mostUnits else {
        return false
      }
      let size = data[place..<place + parameters.lengthBytes].reduce(0) { $0 << 8 | Int($1) }
      place += parameters.lengthBytes
      guard size >= 2, size <= min(data.count - place, Int(Int32.max)) else { return false }
      // Units of the types 0 to 31 are slices, and those of the types 32 to 34 are parameter sets. (ITU-T H.265, table
      // 7-1)
      if data[place] >> 1 & 63 <= 34 {
        units.append(UnsafeBufferPointer(rebasing: data[place..<place + size]))
      }
      place += size
    }
    return true
  }
}
