import Base

/// The items of a HEIF file, such as pictures and EXIF data, and their properties. (ISO/IEC 23008-12)
struct HEIFItems {
  /// The item that is the main picture.
  private(set) var primary: Int?
  /// The type of each item, and the content of its `infe` box.
  private var entries: [Int: (type: String, box: Range<Int>)] = [:]
  /// The byte ranges that together are the data of each item, in their order.
  private var extents: [Int: [Range<Int>]] = [:]
  private var properties: [MediaBox] = []
  private var associations: [Int: [Int]] = [:]
  private var references: [(type: String, from: Int, to: [Int])] = []
  /// The number of box entries that are still allowed to be read.
  ///
  /// This stops hostile files, because real pictures have far fewer entries.
  private var left = 1 << 18

  /// Reads the boxes; nil if they are damaged, or have too many entries.
  init?(_ reader: ByteReader) {
    var meta: Range<Int>?
    MediaBox.visit(reader, in: 0..<reader.bytes.count) { box in
      if box.type == "meta", meta == nil { meta = box.body }
    }
    guard let meta else { return }
    var boxes: [String: Range<Int>] = [:]
    var isWhole = meta.count >= 4
    guard isWhole else { return nil }
    isWhole = MediaBox.visit(reader, in: meta.dropFirst(4)) { box in
      if boxes[box.type] == nil { boxes[box.type] = box.body }
    }
    guard isWhole, readPrimary(reader, boxes["pitm"]),
      readEntries(reader, boxes["iinf"]),
      readPlaces(reader, boxes["iloc"], data: boxes["idat"] ?? 0..<0),
      readProperties(reader, boxes["iprp"]),
      readReferences(reader, boxes["iref"])
    else { return nil }
  }

  /// The type of an item, for example `hvc1`, `grid` or `Exif`.
  func type(of item: Int) -> String? { entries[item]?.type }

  /// The content of an item's `infe` box, which has its type and its name.
  func entry(of item: Int) -> Range<Int> { entries[item]?.box ?? 0..<0 }

  /// The byte ranges in the file that together are the data of an item.
  func bytes(of item: Int) -> [Range<Int>] { extents[item] ?? [] }

  /// The properties of an item, in the order of the file.
  func properties(of item: Int) -> [MediaBox] {
    (associations[item] ?? []).compactMap {
      properties.indices.contains($0 - 1) ? properties[$0 - 1] : nil
    }
  }

  /// The items to which `item` has a reference of the given type.
  func targets(of item: Int, _ type: String) -> [Int] {
    references.first { $0.type == type && $0.from == item }?.to ?? []
  }

  /// The items that have a reference of the given type to `item`.
  func sources(to item: Int, _ type: String) -> [Int] {
    references.filter { $0.type == type && $0.to.contains(item) }.map(\.from)
  }

  private mutating func take(_ count: Int) -> Bool {
    left -= count
    return left >= 0
  }

  /// Reads an item number of 16 bits, or of 32 bits in later versions of a box.
  private static func number(_ reader: ByteReader, _ place: inout Int, isLong: Bool) -> Int? {
    defer { place += isLong ? 4 : 2 }
    return isLong ? reader.long(place) : reader.short(place)
  }

  private mutating func readPrimary(_ reader: ByteReader, _ box: Range<Int>?) -> Bool {
    guard let box, let version = reader.byte(box.lowerBound) else { return true }
    var place = box.lowerBound + 4
    primary = Self.number(reader, &place, isLong: version > 0)
    return primary != nil
  }

  /// Reads the types of items. (ISO/IEC 14496-12, 8.11.6)
  private mutating func readEntries(_ reader: ByteReader, _ box: Range<Int>?) -> Bool {
    guard let box, let version = reader.byte(box.lowerBound) else { return true }
    let start = box.lowerBound + (version == 0 ? 6 : 8)
    guard start <= box.upperBound else { return false }
    var isRead = true
    let isWhole = MediaBox.visit(reader, in: start..<box.upperBound) { entry in
      guard take(1), let version = reader.byte(entry.body.lowerBound) else {
        return isRead = false
      }
      guard entry.type == "infe", version >= 2 else { return }
      var place = entry.body.lowerBound + 4
      guard let item = Self.number(reader, &place, isLong: version > 2),
        place + 6 <= entry.body.upperBound
      else { return isRead = false }
      let type = String(decoding: reader.bytes[place + 2..<place + 6], as: UTF8.self)
      entries[item] = (type, entry.body)
    }
    return isRead && isWhole
  }

  /// Reads the byte ranges of items. (ISO/IEC 14496-12, 8.11.3)
  private mutating func readPlaces(
    _ reader: ByteReader,
    _ box: Range<Int>?,
    data: Range<Int>
  ) -> Bool {
    guard let box, let version = reader.byte(box.lowerBound) else { return true }
    guard let sizes = reader.short(box.lowerBound + 4) else { return false }
    var place = box.lowerBound + 6
    /// Reads a number of 0, 4 or 8 bytes.
    func offset(_ size: Int) -> Int? {
      defer { place += size }
      switch size {
      case 0: return 0
      case 4: return reader.long(place)
      case 8: return reader.long(place) == 0 ? reader.long(place + 4) : nil
      default: return nil
      }
    }
    let (offsetSize, lengthSize) = (sizes >> 12, sizes >> 8 & 15)
    let (baseSize, indexSize) = (sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
    guard let count = Self.number(reader, &place, isLong: version > 1) else { return false }
    for _ in 0..<count {
      guard take(1), let item = Self.number(reader, &place, isLong: version > 1),
        let method = version == 0 ? 0 : Self.number(reader, &place, isLong: false)
      else { return false }
      // This skips the index of the file with the data, which is assumed to be this file.
      place += 2
      guard let base = offset(baseSize),
        let parts = Self.number(reader, &place, isLong: false), take(parts), method & 15 <= 2
      else { return false }
      // With method 0, offsets count from the start of the file; with method 1, from the start of the `idat` box.
      let room = method & 15 == 0 ? 0..<reader.bytes.count : method & 15 == 1 ? data : 0..<0
      var found: [Range<Int>] = []
      for _ in 0..<parts {
        guard offset(indexSize) != nil, let start = offset(offsetSize),
          let length = offset(lengthSize)
        else { return false }
        // A range that extends beyond the data becomes empty, because only the items that are used have to be complete.
        let isThere =
          base <= room.count && start <= room.count - base && length <= room.count - base - start
        let first = room.lowerBound + base + start
        found.append(isThere ? first..<first + length : 0..<0)
      }
      extents[item] = found
    }
    return true
  }

  /// Reads the properties, and for each item the list of its properties. (9.3)
  private mutating func readProperties(_ reader: ByteReader, _ box: Range<Int>?) -> Bool {
    guard let box else { return true }
    var (lists, isRead) = ([Range<Int>](), true)
    let isWhole = MediaBox.visit(reader, in: box) { part in
      if part.type == "ipma", take(1) { lists.append(part.body) }
      guard part.type == "ipco", properties.isEmpty else { return }
      let isWhole = MediaBox.visit(reader, in: part.body) { property in
        if take(1) { properties.append(property) }
      }
      if !isWhole { isRead = false }
    }
    return isWhole && isRead && lists.allSatisfy { readAssociations(reader, $0) }
  }

  private mutating func readAssociations(_ reader: ByteReader, _ box: Range<Int>) -> Bool {
    var place = box.lowerBound + 8
    guard let version = reader.byte(box.lowerBound), let flags = reader.byte(box.lowerBound + 3),
      let count = reader.long(box.lowerBound + 4)
    else { return false }
    for _ in 0..<count {
      guard let item = Self.number(reader, &place, isLong: version > 0),
        let parts = reader.byte(place), take(parts + 1)
      else { return false }
      place += 1
      for _ in 0..<parts {
        // The highest bit of a number marks a property that programs must support.
        let isLong = flags & 1 == 1
        guard let index = isLong ? reader.short(place) : reader.byte(place) else { return false }
        associations[item, default: []].append(index & (isLong ? 0x7FFF : 0x7F))
        place += isLong ? 2 : 1
      }
    }
    return true
  }

  /// Reads the references between items. (ISO/IEC 14496-12, 8.11.12)
  private mutating func readReferences(_ reader: ByteReader, _ box: Range<Int>?) -> Bool {
    guard let box, let version = reader.byte(box.lowerBound), box.count >= 4 else { return true }
    var isRead = true
    let isWhole = MediaBox.visit(reader, in: box.dropFirst(4)) { part in
      var place = part.body.lowerBound
      guard let from = Self.number(reader, &place, isLong: version > 0),
        let count = Self.number(reader, &place, isLong: false), take(count + 1)
      else { return isRead = false }
      let to = (0..<count).compactMap { _ in
        Self.number(reader, &place, isLong: version > 0)
      }
      isRead = isRead && to.count == count && place <= part.body.upperBound
      references.append((part.type, from, to))
    }
    return isWhole && isRead
  }
}
