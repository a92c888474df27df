import Base
import CAVIF

/// The HEVC pictures that make up one picture of an HEIC: a single one, or the cells of a grid.
struct HEVCTiles: Sendable {
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
  /// - Parameters:
  ///   - items: The items of the file.
  ///   - item: The item.
  ///   - mostBytes: The maximum number of bytes of all HEVC pictures.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when the item is damaged, of an unsupported kind, or exceeds `limits`.
  init(_ items: HEIFItems, _ item: Int, mostBytes: Int, _ limits: NamedLimits) throws(LarderError)
  {
    size = try items.size(of: item)
    try limits.check(width: size.width, height: size.height)
    switch items[item].type {
    case "hvc1", "hev1":
      (cell, columns) = (size, 1)
      stills = [try HEVCStill(items, item, limits)]
    case "grid":
      let cells = items.targets(of: item, "dimg")
      // The header of a grid has its numbers of rows and columns, less one, and its size. (ISO/IEC 23008-12, 6.6.2.3)
      guard let first = cells.first, let part = items[item].parts.first else {
        throw items.broken
      }
      cell = try items.size(of: first)
      try limits.check(width: cell.width, height: cell.height)
      var grid = BoxReader(part, items.broken)
      let numberSize = try grid.number(2) & 1 == 1 ? 4 : 2
      let rows = try grid.number(1) + 1
      columns = try grid.number(1) + 1
      let said = PixelSize(width: try grid.number(numberSize), height: try grid.number(numberSize))
      // Every cell must show a part of the picture, and the cells together must not be much larger than the picture.
      guard said == size, cells.count == columns * rows,
        (size.width + cell.width - 1) / cell.width == columns,
        (size.height + cell.height - 1) / cell.height == rows,
        cell.width * cell.height * cells.count <= size.width * size.height * 4 + 4_000_000
      else { throw items.broken }
      // An item can be several cells; it is read once.
      var known: [Int: HEVCStill] = [:]
      for item in cells where known[item] == nil {
        known[item] = try HEVCStill(items, item, limits)
        guard try items.size(of: item) == cell else { throw items.broken }
      }
      stills = cells.compactMap { known[$0] }
    case let type:
      throw limits.unsupported("an HEIC with items of the type \(type); save it as PNG")
    }
    let kind = stills[0].kind
    self.kind = kind
    guard stills.allSatisfy({ $0.kind == kind }),
      stills.reduce(0, { $0 + $1.count }) <= mostBytes
    else { throw items.broken }
    // Only these kinds can be converted to RGB.
    guard [8, 10, 12].contains(kind.depth), kind.format == 0 || kind.colourDepth == kind.depth
    else {
      throw limits.unsupported(
        "an HEIC with \(kind.depth) bits for luma and \(kind.colourDepth) for chroma; save it as PNG"
      )
    }
  }
}

/// One HEVC picture: its data, and its configuration record with the parameter sets.
struct HEVCStill: Sendable {
  /// The chroma format, as in ``HEVCTiles/format``, and the number of bits of luma and of chroma samples.
  struct Kind: Equatable, Sendable {
    let format: Int
    let depth: Int
    let colourDepth: Int
  }

  let kind: Kind
  /// The number of bytes of the data.
  let count: Int
  private let record: ArraySlice<UInt8>
  private let parts: [ArraySlice<UInt8>]

  /// The maximum number of NAL units of a picture; real pictures never have thousands.
  private static let mostUnits = 1 << 16

  init(_ items: HEIFItems, _ item: Int, _ limits: NamedLimits) throws(LarderError) {
    let item = items[item]
    guard ["hvc1", "hev1"].contains(item.type), var box = item.property("hvcC") else {
      throw items.broken
    }
    (record, parts) = (box.rest, item.parts)
    count = parts.reduce(0) { $0 + $1.count }
    guard count > 0 else { throw limits.damaged("the file ends too early") }
    _ = try box.bytes(16)
    kind = Kind(
      format: try box.number(1) & 3,
      depth: try box.number(1) & 7 + 8,
      colourDepth: try box.number(1) & 7 + 8
    )
  }

  /// The NAL units that a decoder needs, and their sizes: the parameter sets and the slices, without SEI messages.
  ///
  /// - Throws: ``LarderError`` when the picture ends within a unit. (ISO/IEC 14496-15, 8.3.3.1)
  func units(_ limits: NamedLimits) throws(LarderError) -> (bytes: [UInt8], sizes: [Int32]) {
    var (units, sizes) = ([UInt8](), [Int32]())
    let failure = limits.damaged("the file ends too early")
    func add(_ unit: ArraySlice<UInt8>) throws(LarderError) {
      guard unit.count >= 2, let first = unit.first, let size = Int32(exactly: unit.count),
        sizes.count < Self.mostUnits
      else { throw failure }
      // Units of the types 0 to 31 are slices, and those of the types 32 to 34 are parameter sets. (ITU-T H.265, table
      // 7-1)
      guard first >> 1 & 63 <= 34 else { return }
      units += unit
      sizes.append(size)
    }
    var box = BoxReader(record, failure)
    _ = try box.bytes(21)
    // The data consists of units; this many bytes before each unit are its length.
    let lengthSize = try box.number(1) & 3 + 1
    for _ in 0..<(try box.number(1)) {
      _ = try box.number(1)
      for _ in 0..<(try box.number(2)) { try add(box.bytes(box.number(2))) }
    }
    var data = BoxReader(parts.count == 1 ? parts[0] : Array(parts.joined())[...], failure)
    while !data.rest.isEmpty { try add(data.bytes(data.number(lengthSize))) }
    return (units, sizes)
  }
}
