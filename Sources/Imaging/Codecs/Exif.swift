/// The fields of a picture's EXIF data that a crop or a stamp uses. (EXIF 2.32)
public struct Exif: Equatable, Sendable {
  /// How the picture has to be turned; nil if the EXIF data has no valid orientation.
  public private(set) var orientation: Orientation?
  /// The text of the first valid date among `DateTimeOriginal`, `DateTimeDigitized` and `DateTime`, for example
  /// `2021:01:13 06:30:00`.
  public private(set) var dateTime: String?
  /// The text of the UTC offset that belongs to `dateTime`, for example `+09:00`.
  public private(set) var offset: String?

  /// The time, in UTC, from `GPSDateStamp` and `GPSTimeStamp`.
  private(set) var gpsTime: CivilTime?

  /// The numbers that change when the picture is cropped.
  private(set) var places: [Place] = []

  /// The position of a number in the EXIF data that changes when the picture is cropped.
  ///
  /// `offset` counts from the TIFF header.
  struct Place: Equatable, Sendable {
    enum Meaning { case orientation, width, height, thumbnailLink }
    let meaning: Meaning
    let offset: Int
    let isLong: Bool
    let isLittleEndian: Bool
  }

  /// The bytes of the embedded thumbnail, which would still show the parts that were cropped away.
  private(set) var thumbnail: Range<Int>?

  /// Reads the TIFF structure in `range` of `bytes`.
  ///
  /// Damaged parts of it are skipped.
  init(_ bytes: [UInt8], in range: Range<Int>) {
    bytes.withUnsafeBufferPointer { bytes in
      var reader = ByteReader(bytes: UnsafeBufferPointer(rebasing: bytes[range]))
      reader.isLittleEndian = reader.matches("II", at: 0)
      guard reader.isLittleEndian || reader.matches("MM", at: 0), reader.short(2) == 42,
        let first = reader.long(4)
      else { return }
      read(reader, first)
    }
  }

  /// The part of `range` that begins with the TIFF header.
  ///
  /// Some programs write the `Exif\0\0` of a JPEG segment before the header.
  static func tiff(_ reader: ByteReader, _ range: Range<Int>) -> Range<Int> {
    reader.matches("Exif\0\0", at: range.lowerBound) && range.count >= 6
      ? range.lowerBound + 6..<range.upperBound : range
  }

  /// The part of `bytes` that begins with the TIFF header.
  static func tiff(in bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBufferPointer {
      Array(bytes[tiff(ByteReader(bytes: $0), 0..<bytes.count)])
    }
  }

  private mutating func read(_ reader: ByteReader, _ first: Int) {
    var dates: [Int: String] = [:]
    var offsets: [Int: String] = [:]
    var details: Int?
    let next = Self.entries(reader, at: first) { entry in
      switch entry.tag {
      case 0x0112:
        // If there are several orientations, the first one counts, as in ExifTool, Pillow, libvips and ImageMagick. A
        // crop resets all of them.
        guard !places.contains(where: { $0.meaning == .orientation }) else {
          places.append(Place(.orientation, entry, reader))
          break
        }
        // By the standard, the value has 16 bits (a short), but some programs write 32 (a long).
        let value = entry.type == 4 ? reader.long(entry.value) : reader.short(entry.value)
        orientation = value.flatMap(Orientation.init(rawValue:))
        places.append(Place(.orientation, entry, reader))
      case 0x0132: dates[entry.tag] = entry.text(reader)
      case 0x8769: details = reader.long(entry.value)
      case 0x8825: gpsTime = reader.long(entry.value).flatMap { Self.gpsTime(reader, at: $0) }
      default: break
      }
    }
    if let details {
      _ = Self.entries(reader, at: details) { entry in
        switch entry.tag {
        case 0x9003, 0x9004: dates[entry.tag] = entry.text(reader)
        case 0x9010, 0x9011, 0x9012: offsets[entry.tag] = entry.text(reader)
        case 0xA002: places.append(Place(.width, entry, reader))
        case 0xA003: places.append(Place(.height, entry, reader))
        default: break
        }
      }
    }
    if let next { readThumbnail(reader, link: next) }
    for (date, offset) in [(0x9003, 0x9011), (0x9004, 0x9012), (0x0132, 0x9010)] {
      // A camera whose clock was never set writes blanks or zeroes as the date.
      guard let text = dates[date], CivilTime(text) != nil else { continue }
      dateTime = text
      self.offset = offsets[offset]
      break
    }
  }

  /// The GPS time in the directory at `offset`; nil if a part of it is missing.
  private static func gpsTime(_ reader: ByteReader, at offset: Int) -> CivilTime? {
    var (date, clock): (String?, [Int]) = (nil, [])
    _ = entries(reader, at: offset) { entry in
      switch entry.tag {
      case 0x001D: date = entry.text(reader)
      case 0x0007 where entry.type == 5 && entry.count == 3:
        // The value consists of three fractions: for hours, minutes and seconds. Parts of a second are dropped.
        guard let start = reader.long(entry.value) else { break }
        clock = (0..<3).compactMap { index in
          guard let above = reader.long(start + index * 8),
            let below = reader.long(start + index * 8 + 4),
            below > 0
          else { return nil }
          return above / below
        }
      default: break
      }
    }
    guard let date, clock.count == 3, clock.allSatisfy({ $0 < 100 }) else { return nil }
    return CivilTime(date + " " + clock.map { padded($0) }.joined(separator: ":"))
  }

  private mutating func readThumbnail(_ reader: ByteReader, link: Int) {
    guard let second = reader.long(link), second > 0 else { return }
    places.append(
      Place(
        meaning: .thumbnailLink,
        offset: link,
        isLong: true,
        isLittleEndian: reader.isLittleEndian
      )
    )
    var start: Int?
    var count: Int?
    _ = Self.entries(reader, at: second) { entry in
      // The tags 0x0201 and 0x0202 are the offset and length of a thumbnail that is a JPEG. The tags 0x0111 and 0x0117
      // are those of a thumbnail with plain samples.
      if [0x0201, 0x0111].contains(entry.tag) { start = entry.number(reader) }
      if [0x0202, 0x0117].contains(entry.tag) { count = entry.number(reader) }
    }
    if let start, let count, start <= reader.bytes.count, count <= reader.bytes.count - start {
      thumbnail = start..<start + count
    }
  }

  /// Visits the entries of the directory at `offset`, and returns the offset of the link to the next directory.
  private static func entries(
    _ reader: ByteReader,
    at offset: Int,
    _ body: (Entry) -> Void
  ) -> Int? {
    guard let count = reader.short(offset) else { return nil }
    for index in 0..<count {
      let place = offset + 2 + index * 12
      guard let tag = reader.short(place), let type = reader.short(place + 2),
        let length = reader.long(place + 4), reader.long(place + 8) != nil
      else { return nil }
      body(Entry(tag: tag, type: type, count: length, value: place + 8))
    }
    return offset + 2 + count * 12
  }
}

/// One entry of a TIFF directory.
private struct Entry {
  let tag: Int
  let type: Int
  let count: Int
  let value: Int

  /// The value of an entry that holds one number: a short (16 bits) or a long (32 bits).
  func number(_ reader: ByteReader) -> Int? {
    type == 3 ? reader.short(value) : reader.long(value)
  }

  /// The text of an ASCII entry, which ends at its first zero byte.
  func text(_ reader: ByteReader) -> String? {
    guard type == 2, count > 0, count <= 64,
      let start = count <= 4 ? value : reader.long(value), start <= reader.bytes.count - count
    else { return nil }
    let text = reader.bytes[start..<start + count].prefix { $0 != 0 }
    return String(decoding: text, as: UTF8.self)
  }
}

extension Exif.Place {
  fileprivate init(_ meaning: Meaning, _ entry: Entry, _ reader: ByteReader) {
    self.init(
      meaning: meaning,
      offset: entry.value,
      isLong: entry.type == 4,
      isLittleEndian: reader.isLittleEndian
    )
  }
}

extension Exif {
  /// The EXIF data for an upright picture of `width` × `height`; `tiff` is the data from which these fields were read.
  ///
  /// Every thumbnail is overwritten with zeroes, even one in a maker note, because it could show the parts that were
  /// cropped away.
  func cropped(_ tiff: ArraySlice<UInt8>, width: Int, height: Int) -> [UInt8] {
    var tiff = Array(tiff)
    for place in places {
      let value =
        switch place.meaning {
        case .orientation: 1
        case .width: width
        case .height: height
        case .thumbnailLink: 0
        }
      let count = place.isLong ? 4 : 2
      for index in 0..<count where place.offset + index < tiff.count {
        let shift = (place.isLittleEndian ? index : count - 1 - index) * 8
        tiff[place.offset + index] = UInt8(truncatingIfNeeded: value >> shift)
      }
    }
    for index in thumbnail ?? 0..<0 { tiff[index] = 0 }
    Previews.blank(in: &tiff)
    return tiff
  }
}
