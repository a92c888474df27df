/// A directory of a TIFF or of EXIF data, which is a list of tags with their values. (TIFF 6.0, section 2)
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

  /// The number of bytes of a value of each type; 0 if no type has the number.
  private static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]
  /// The maximum number of entries of a directory; far fewer tags are defined.
  private static let mostEntries = 4096

  /// Reads the first directory of a file; nil if there is none.
  init?(of bytes: UnsafeBufferPointer<UInt8>) {
    var reader = ByteReader(bytes: bytes)
    reader.isLittleEndian = reader.matches("II", at: 0)
    guard reader.isLittleEndian || reader.matches("MM", at: 0), reader.short(2) == 42,
      let first = reader.long(4)
    else { return nil }
    self.init(reader, at: first)
  }

  /// Reads the directory at `offset`; entries with impossible values are left out.
  private init?(_ reader: ByteReader, at offset: Int) {
    self.reader = reader
    guard let count = reader.short(offset), (1...Self.mostEntries).contains(count) else {
      return nil
    }
    let end = offset + 2 + count * 12
    for place in stride(from: offset + 2, to: end, by: 12) {
      let field = place + 8
      guard let tag = reader.short(place), let type = reader.short(place + 2),
        let values = reader.long(place + 4), let far = reader.long(field)
      else { return }
      let size = Self.sizes.indices.contains(type) ? Self.sizes[type] : 0
      let found = values * size <= 4 ? field : far
      guard size > 0, found <= reader.bytes.count, values * size <= reader.bytes.count - found
      else { continue }
      let value = found..<found + values * size
      entries.append(Entry(tag: tag, type: type, count: values, value: value, field: field))
    }
    link = end
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
    TIFFDirectory(reader, at: offset)
  }

  /// The bytes of a number, in the byte order of this file.
  func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    return reader.isLittleEndian ? little : little.reversed()
  }
}
