import Base

/// A directory of a TIFF or BigTIFF, which is a list of tags with their values. (TIFF 6.0, section 2; BigTIFF)
///
/// For example, tag 256 is the width of the picture.
struct TIFFDirectory {
  /// The type of a tag's values, their number, and their byte range in the file.
  struct Entry {
    let type: Int
    let count: Int
    let value: Range<Int>
  }

  let reader: ByteReader
  private(set) var entries: [Int: Entry] = [:]
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
    guard let first = isBig ? Self.long(reader, 8) : reader.long(4) else { return nil }
    self.init(reader, at: first, isBig: isBig)
  }

  private init?(_ reader: ByteReader, at offset: Int, isBig: Bool) {
    (self.reader, self.isBig) = (reader, isBig)
    guard let count = isBig ? Self.long(reader, offset) : reader.short(offset),
      (1...Self.mostEntries).contains(count)
    else { return nil }
    let (start, step) = isBig ? (offset + 8, 20) : (offset + 2, 12)
    for index in 0..<count {
      let place = start + index * step
      guard let tag = reader.short(place), let type = reader.short(place + 2),
        let values = isBig ? Self.long(reader, place + 4) : reader.long(place + 4)
      else { return nil }
      let size = Self.sizes.indices.contains(type) ? Self.sizes[type] : 0
      // If a tag occurs twice, the first one counts, as in libtiff.
      guard size > 0, values <= reader.bytes.count, entries[tag] == nil else { continue }
      let room = isBig ? 8 : 4
      let here = place + step - room
      let found =
        values * size <= room ? here : isBig ? Self.long(reader, here) : reader.long(here)
      guard let found, found <= reader.bytes.count, values * size <= reader.bytes.count - found
      else { continue }
      entries[tag] = Entry(type: type, count: values, value: found..<found + values * size)
    }
  }

  /// Reads a number of 64 bits; nil if it does not fit in 32 bits.
  private static func long(_ reader: ByteReader, _ offset: Int) -> Int? {
    let (low, high) = reader.isLittleEndian ? (offset, offset + 4) : (offset + 4, offset)
    guard offset <= reader.bytes.count, reader.long(high) == 0 else { return nil }
    return reader.long(low)
  }

  /// The numbers of a tag, at most the first `most` of them; empty if there is no such tag.
  func numbers(_ tag: Int, most: Int = 16) -> [Int] {
    guard let entry = entries[tag] else { return [] }
    let size = Self.sizes[entry.type]
    return (0..<min(entry.count, most)).compactMap { index in
      let place = entry.value.lowerBound + index * size
      return switch entry.type {
      case 1: reader.byte(place)
      case 3: reader.short(place)
      case 4, 13: reader.long(place)
      case 16, 18: Self.long(reader, place)
      default: nil
      }
    }
  }

  func number(_ tag: Int) -> Int? { numbers(tag, most: 1).first }

  /// The bytes of a tag's values.
  func bytes(_ tag: Int) -> UnsafeBufferPointer<UInt8>? {
    entries[tag].map { UnsafeBufferPointer(rebasing: reader.bytes[$0.value]) }
  }

  /// The directory whose offset is the value of a tag.
  private func directory(_ tag: Int) -> TIFFDirectory? {
    number(tag).flatMap { TIFFDirectory(reader, at: $0, isBig: isBig) }
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
    data += number(0, 4)
    let own = entries.filter { Self.kept.contains($0.key) }
    var links: [Int: Int] = [:]
    for tag in [0x8769, 0x8825] {
      guard let part = directory(tag) else { continue }
      // The interoperability directory (tag 0xA005) is left out, because the offset in this tag would be wrong.
      links[tag] = append(part.entries.filter { $0.key != 0xA005 }, to: &data)
    }
    guard !own.isEmpty || !links.isEmpty else { return [] }
    let first = append(own, links: links, to: &data)
    data.replaceSubrange(4..<8, with: number(first, 4))
    return data
  }

  /// Appends the values of a directory and then the directory itself, and returns the directory's offset.
  private func append(
    _ entries: [Int: Entry],
    links: [Int: Int] = [:],
    to data: inout [UInt8]
  ) -> Int {
    var fields: [(tag: Int, bytes: [UInt8])] = links.map { tag, place in
      (tag, number(tag, 2) + number(4, 2) + number(1, 4) + number(place, 4))
    }
    for (tag, entry) in entries where entry.value.count <= Self.mostOfValue && entry.type <= 13 {
      let value = reader.bytes[entry.value]
      guard data.count + value.count <= Self.most else { continue }
      var field = number(tag, 2) + number(entry.type, 2) + number(entry.count, 4)
      if value.count <= 4 {
        field += value + Array(repeating: 0, count: 4 - value.count)
      } else {
        field += number(data.count, 4)
        data += value + Array(repeating: 0, count: value.count % 2)
      }
      fields.append((tag, field))
    }
    let place = data.count
    data += number(fields.count, 2)
    for field in fields.sorted(by: { $0.tag < $1.tag }) { data += field.bytes }
    data += number(0, 4)
    return place
  }

  /// The bytes of a number, in the byte order of this file.
  private func number(_ value: Int, _ count: Int) -> [UInt8] {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    return reader.isLittleEndian ? bytes : bytes.reversed()
  }
}
