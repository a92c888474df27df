import Base

/// A directory of a TIFF, a BigTIFF or EXIF data, which is a list of tags with their values. (TIFF 6.0, section 2;
/// BigTIFF)
///
/// For example, tag 256 is the width of the picture.
struct TIFFDirectory {
  struct Entry {
    let tag: Int
    /// The type of the values, for example 3 for numbers of 16 bits.
    let type: Int
    /// The number of values.
    let count: Int
    /// The byte range of the values in the file.
    let value: Range<Int>
    /// The offset of the bytes that hold the values or, if they are too long, their offset.
    let field: Int
  }

  let reader: ByteReader
  private(set) var entries: [Entry] = []
  /// The offset of the link to the next directory; nil if this directory is cut short.
  private(set) var link: Int?
  private let isBig: Bool

  /// The number of bytes of a value of each type; 0 if no type has the number.
  private static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
  /// The maximum number of entries of a directory; far fewer tags are defined.
  private static let mostEntries = 4096

  /// Reads the first directory of a file; nil if there is none.
  init?(of bytes: UnsafeBufferPointer<UInt8>) {
    var reader = ByteReader(bytes: bytes)
    reader.isLittleEndian = reader.matches("II", at: 0)
    let isBig = reader.short(2) == 43
    guard reader.isLittleEndian || reader.matches("MM", at: 0), isBig || reader.short(2) == 42,
      let first = isBig ? Self.long(reader, 8) : reader.long(4)
    else { return nil }
    self.init(reader, at: first, isBig: isBig)
  }

  /// Reads the directory at `offset`; entries with impossible values are left out.
  private init?(_ reader: ByteReader, at offset: Int, isBig: Bool) {
    (self.reader, self.isBig) = (reader, isBig)
    guard let count = isBig ? Self.long(reader, offset) : reader.short(offset),
      (1...Self.mostEntries).contains(count)
    else { return nil }
    let (start, step, room) = isBig ? (offset + 8, 20, 8) : (offset + 2, 12, 4)
    for place in stride(from: start, to: start + count * step, by: step) {
      let field = place + step - room
      guard let tag = reader.short(place), let type = reader.short(place + 2),
        let values = isBig ? Self.long(reader, place + 4) : reader.long(place + 4),
        reader.byte(field + room - 1) != nil
      else { return }
      let size = Self.sizes.indices.contains(type) ? Self.sizes[type] : 0
      guard size > 0, values <= reader.bytes.count else { continue }
      let found =
        values * size <= room ? field : isBig ? Self.long(reader, field) : reader.long(field)
      guard let found, found <= reader.bytes.count, values * size <= reader.bytes.count - found
      else { continue }
      entries.append(
        Entry(
          tag: tag,
          type: type,
          count: values,
          value: found..<found + values * size,
          field: field
        )
      )
    }
    link = start + count * step
  }

  /// Reads a number of 64 bits; nil if it does not fit in 32 bits.
  private static func long(_ reader: ByteReader, _ offset: Int) -> Int? {
    let (low, high) = reader.isLittleEndian ? (offset, offset + 4) : (offset + 4, offset)
    guard offset <= reader.bytes.count, reader.long(high) == 0 else { return nil }
    return reader.long(low)
  }

  /// The entry of a tag; if a tag occurs twice, the first one counts, as in libtiff.
  subscript(tag: Int) -> Entry? { entries.first { $0.tag == tag } }

  /// The numbers of a tag, at most the first `most` of them; empty if there is no such tag.
  ///
  /// A fraction is rounded down. No number of these tags is negative.
  func numbers(_ tag: Int, most: Int = 16) -> [Int] {
    guard let entry = self[tag] else { return [] }
    let size = Self.sizes[entry.type]
    return (0..<min(entry.count, most)).compactMap { index in
      let place = entry.value.lowerBound + index * size
      switch entry.type {
      case 1: return reader.byte(place)
      case 3, 8: return reader.short(place)
      case 4, 9, 13: return reader.long(place)
      case 5:
        guard let above = reader.long(place), let below = reader.long(place + 4) else {
          return nil
        }
        return below > 0 ? above / below : nil
      case 16, 18: return Self.long(reader, place)
      default: return nil
      }
    }
  }

  func number(_ tag: Int) -> Int? { numbers(tag, most: 1).first }

  /// The text of a tag, which ends at its first zero byte; nil if it has more than 64 bytes.
  func text(_ tag: Int) -> String? {
    guard let entry = self[tag], entry.type == 2, entry.count <= 64 else { return nil }
    return String(decoding: reader.bytes[entry.value].prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The directory whose offset is the value of a tag.
  func directory(_ tag: Int) -> TIFFDirectory? { number(tag).flatMap(directory(at:)) }

  /// The directory at an offset in the same file.
  func directory(at offset: Int) -> TIFFDirectory? {
    TIFFDirectory(reader, at: offset, isBig: isBig)
  }
}

// EXIF data consists of TIFF directories. In a TIFF, the picture's own directory is one of them.
extension TIFFDirectory {
  /// The tags that are copied from the picture's own directory: description, make, model, orientation, program, date,
  /// artist and copyright.
  private static let kept = [0x10E, 0x10F, 0x110, 0x112, 0x131, 0x132, 0x13B, 0x8298]
  /// The maximum numbers of bytes of one copied value and of the whole copy.
  private static let (mostOfValue, most) = (1 << 16, 1 << 20)

  /// The EXIF data as a TIFF structure of its own.
  ///
  /// It has the tags about the photo, but not those about pixels.
  func exif() -> [UInt8] {
    var data: [UInt8] = reader.isLittleEndian ? [0x49, 0x49, 42, 0] : [0x4D, 0x4D, 0, 42]
    data += bytes(0, 4)
    let own = entries.filter { Self.kept.contains($0.tag) }
    var links: [Int: Int] = [:]
    for tag in [0x8769, 0x8825] {
      guard let part = directory(tag) else { continue }
      // The interoperability directory (tag 0xA005) is left out, because the offset in this tag would be wrong.
      links[tag] = append(part.entries.filter { $0.tag != 0xA005 }, to: &data)
    }
    guard !own.isEmpty || !links.isEmpty else { return [] }
    let first = append(own, links: links, to: &data)
    data.replaceSubrange(4..<8, with: bytes(first, 4))
    return data
  }

  /// Appends the values of a directory and then the directory itself, and returns the directory's offset.
  private func append(
    _ entries: [Entry],
    links: [Int: Int] = [:],
    to data: inout [UInt8]
  ) -> Int {
    var fields = links.mapValues { bytes(4, 2) + bytes(1, 4) + bytes($0, 4) }
    for entry in entries
    where fields[entry.tag] == nil && entry.value.count <= Self.mostOfValue && entry.type <= 13 {
      let value = reader.bytes[entry.value]
      guard data.count + value.count <= Self.most else { continue }
      var field = bytes(entry.type, 2) + bytes(entry.count, 4)
      if value.count <= 4 {
        field += value + Array(repeating: 0, count: 4 - value.count)
      } else {
        field += bytes(data.count, 4)
        data += value + Array(repeating: 0, count: value.count % 2)
      }
      fields[entry.tag] = field
    }
    let place = data.count
    data += bytes(fields.count, 2)
    for (tag, field) in fields.sorted(by: { $0.key < $1.key }) { data += bytes(tag, 2) + field }
    data += bytes(0, 4)
    return place
  }

  /// The bytes of a number, in the byte order of this file.
  func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    return reader.isLittleEndian ? little : little.reversed()
  }
}
