import Base

/// The items of a HEIF file, such as pictures and EXIF data, and their properties. (ISO/IEC 23008-12)
struct HEIFItems {
  /// A property of an item, such as its size; `type` is four letters, such as `ispe`.
  typealias Property = (type: String, body: BoxReader)

  /// An item; its fields are empty if the file does not have it.
  struct Item {
    /// The type, for example `hvc1`, `grid` or `Exif`.
    var type = "none"
    /// The fields after the type in the `infe` box, such as the name and the media type.
    var entry: ArraySlice<UInt8> = []
    /// The parts of the file that together are the data, in their order.
    var parts: [ArraySlice<UInt8>] = []
    /// The properties in the order of the file.
    var properties: [Property] = []

    /// The first property with the given type.
    func property(_ type: String) -> BoxReader? { properties.first { $0.type == type }?.body }
  }

  /// The error for damaged boxes.
  let broken: LarderError
  /// The number of the item that is the main picture; nil if there is none.
  private(set) var primary: Int?
  private var items: [Int: Item] = [:]
  private var references: [(type: String, from: Int, to: [Int])] = []
  /// The number of box entries that are still allowed to be read.
  ///
  /// This stops hostile files, because real pictures have far fewer entries.
  private var left = 1 << 18

  /// Reads the boxes of a file.
  ///
  /// - Throws: ``LarderError`` when boxes are damaged, or have too many entries.
  init(_ file: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    broken = limits.damaged("its boxes are broken")
    // A file whose end is missing has another error than one with broken boxes.
    let found = try BoxReader.meta(of: file, limits.damaged("the file ends too early"))
    guard let found else { return }
    var meta = BoxReader(found.rest, broken)
    var boxes: [String: BoxReader] = [:]
    _ = try meta.number(4)
    while let (type, body) = try meta.box() {
      let isUsed = ["pitm", "iinf", "iloc", "idat", "iprp", "iref"].contains(type)
      if isUsed, boxes[type] == nil { boxes[type] = body }
    }
    if var box = boxes["pitm"] { primary = try box.number(box.number(4) >> 24 > 0 ? 4 : 2) }
    if var box = boxes["iinf"] { try readEntries(&box) }
    if var box = boxes["iloc"] { try readPlaces(&box, in: file[...], boxes["idat"]?.rest ?? []) }
    if var box = boxes["iprp"] { try readProperties(&box) }
    if var box = boxes["iref"] { try readReferences(&box) }
  }

  subscript(number: Int) -> Item { items[number] ?? Item() }

  /// The size in an item's `ispe` box. (6.5.3)
  func size(of item: Int) throws(LarderError) -> PixelSize {
    guard var box = self[item].property("ispe") else { throw broken }
    _ = try box.number(4)
    return PixelSize(width: try box.number(4), height: try box.number(4))
  }

  /// The items to which `item` has a reference of the given type.
  func targets(of item: Int, _ type: String) -> [Int] {
    references.first { $0.type == type && $0.from == item }?.to ?? []
  }

  /// The items that have a reference of the given type to `item`.
  func sources(to item: Int, _ type: String) -> [Int] {
    references.filter { $0.type == type && $0.to.contains(item) }.map(\.from)
  }

  private mutating func take(_ count: Int) throws(LarderError) {
    left -= count
    guard left >= 0 else { throw broken }
  }

  /// Reads the types of items. (ISO/IEC 14496-12, 8.11.6)
  private mutating func readEntries(_ box: inout BoxReader) throws(LarderError) {
    // The first number has the version in its highest byte, and then flags; the second one is the number of entries.
    _ = try box.number(box.number(4) >> 24 > 0 ? 4 : 2)
    while var entry = try box.box() {
      try take(1)
      let version = try entry.body.number(4) >> 24
      guard entry.type == "infe", version >= 2 else { continue }
      let item = try entry.body.number(version > 2 ? 4 : 2)
      _ = try entry.body.number(2)
      items[item, default: Item()].type = String(
        decoding: try entry.body.bytes(4),
        as: UTF8.self
      )
      items[item]?.entry = entry.body.rest
    }
  }

  /// Reads the places of items. (ISO/IEC 14496-12, 8.11.3)
  private mutating func readPlaces(
    _ box: inout BoxReader,
    in file: ArraySlice<UInt8>,
    _ within: ArraySlice<UInt8>
  ) throws(LarderError) {
    let version = try box.number(4) >> 24
    let sizes = try box.number(2)
    let numberSize = version > 1 ? 4 : 2
    for _ in 0..<(try box.number(numberSize)) {
      let item = try box.number(numberSize)
      let method = version == 0 ? 0 : try box.number(2) & 15
      // This skips the index of the file with the data, which is assumed to be this file.
      _ = try box.number(2)
      let base = try box.number(sizes >> 4 & 15)
      let count = try box.number(2)
      try take(1 + count)
      guard method <= 2 else { throw broken }
      // With method 0, offsets count from the start of the file; with method 1, from the start of the `idat` box.
      let room = [file, within, []][method]
      var parts: [ArraySlice<UInt8>] = []
      for _ in 0..<count {
        _ = try box.number(version == 0 ? 0 : sizes & 15)
        let start = base + (try box.number(sizes >> 12))
        let length = try box.number(sizes >> 8 & 15)
        // A part that extends beyond the data becomes empty, because only the items that are used have to be complete.
        let isThere = start + length <= room.count
        parts.append(isThere ? room.dropFirst(start).prefix(length) : [])
      }
      items[item, default: Item()].parts = parts
    }
  }

  /// Reads the properties (`ipco`), and then for each item the list of its properties (`ipma`). (9.3)
  private mutating func readProperties(_ box: inout BoxReader) throws(LarderError) {
    var all: [Property] = []
    while var part = try box.box() {
      try take(1)
      if part.type == "ipco", all.isEmpty {
        while let property = try part.body.box() {
          try take(1)
          all.append(property)
        }
      }
      guard part.type == "ipma" else { continue }
      let head = try part.body.number(4)
      let (itemSize, indexSize) = (head >> 24 > 0 ? 4 : 2, head & 1 + 1)
      for _ in 0..<(try part.body.number(4)) {
        let item = try part.body.number(itemSize)
        let count = try part.body.number(1)
        try take(1 + count)
        for _ in 0..<count {
          // The highest bit of a number marks a property that programs must support.
          let index = try part.body.number(indexSize) & (indexSize == 2 ? 0x7FFF : 0x7F)
          guard all.indices.contains(index - 1) else { continue }
          items[item, default: Item()].properties.append(all[index - 1])
        }
      }
    }
  }

  /// Reads the references between items. (ISO/IEC 14496-12, 8.11.12)
  private mutating func readReferences(_ box: inout BoxReader) throws(LarderError) {
    let size = try box.number(4) >> 24 > 0 ? 4 : 2
    while var part = try box.box() {
      let from = try part.body.number(size)
      let count = try part.body.number(2)
      try take(1 + count)
      var to: [Int] = []
      for _ in 0..<count { to.append(try part.body.number(size)) }
      references.append((part.type, from, to))
    }
  }
}
