/// The fields of a picture's EXIF data that a crop or a stamp uses. (EXIF 2.32)
public struct Exif: Equatable, Sendable {
  /// How the picture has to be turned; nil if the EXIF data has no valid orientation.
  public private(set) var orientation: Orientation?
  /// The text of the first valid date among `DateTimeOriginal`, `DateTimeDigitized` and `DateTime`, for example
  /// `2021:01:13 06:30:00`.
  public private(set) var dateTime: String?
  /// The text of the UTC offset that belongs to `dateTime`, for example `+09:00`.
  public private(set) var offset: String?
  /// Whether `dateTime` is from `DateTime`, which a program writes when it changes the file.
  private(set) var isChangeTime = false

  /// The time, in UTC, from `GPSDateStamp` and `GPSTimeStamp`.
  private(set) var gpsTime: CivilTime?

  /// Reads a TIFF structure; damaged parts of it are skipped.
  init(_ bytes: [UInt8]) {
    bytes.withUnsafeBufferPointer { bytes in
      if let directory = TIFFDirectory(of: bytes) { read(directory) }
    }
  }

  /// The part of `bytes` that begins with the TIFF header.
  ///
  /// Some programs write the `Exif\0\0` of a JPEG segment before the header.
  static func tiff(in bytes: [UInt8]) -> [UInt8] {
    bytes.starts(with: "Exif\0\0".utf8) ? Array(bytes.dropFirst(6)) : bytes
  }

  private mutating func read(_ main: TIFFDirectory) {
    // If there are several orientations, the first one counts, as in ExifTool, Pillow, libvips and ImageMagick. By the
    // standard, the value has 16 bits (a short), but some programs write 32 (a long).
    orientation = main.number(0x0112).flatMap(Orientation.init(rawValue:))
    let details = main.directory(0x8769)
    gpsTime = main.directory(0x8825).flatMap(Self.gpsTime)
    let dates = [
      (details?.text(0x9003), 0x9011), (details?.text(0x9004), 0x9012),
      (main.text(0x0132), 0x9010),
    ]
    // A camera whose clock was never set writes blanks or zeroes as the date.
    for case (let text?, let offset) in dates where CivilTime(text) != nil {
      (dateTime, self.offset, isChangeTime) = (text, details?.text(offset), offset == 0x9010)
      break
    }
  }

  /// The GPS time in a directory; nil if a part of it is missing.
  private static func gpsTime(_ part: TIFFDirectory) -> CivilTime? {
    // The value consists of three fractions: for hours, minutes and seconds. Parts of a second are dropped.
    let clock = part.numbers(0x0007)
    guard let date = part.text(0x001D), clock.count == 3, clock.allSatisfy({ $0 < 100 }) else {
      return nil
    }
    return CivilTime(date + " " + clock.map { padded($0) }.joined(separator: ":"))
  }

  /// The EXIF data for an upright picture of `width` × `height`, made from the EXIF data `tiff` of another picture.
  ///
  /// Every orientation becomes 1. Every thumbnail is overwritten with zeroes, even one in a maker note, because it could
  /// show the parts that were cropped away.
  static func cropped(_ tiff: [UInt8], width: Int, height: Int) -> [UInt8] {
    var data = tiff
    var changes: [(offset: Int, bytes: [UInt8])] = []
    var strips: [Range<Int>] = []
    data.withUnsafeBufferPointer { bytes in
      guard let main = TIFFDirectory(of: bytes) else { return }
      func change(_ tag: Int, in part: TIFFDirectory?, to value: Int) {
        // The type and the number of the values, and one value of 16 or 32 bits. An entry of another type or with
        // several values has an offset in the place of its value.
        for entry in part?.entries ?? [] where entry.tag == tag {
          let type = entry.type == 4 ? 4 : 3
          let number = main.bytes(value, type == 4 ? 4 : 2)
          changes.append((entry.field - 6, main.bytes(type, 2) + main.bytes(1, 4) + number))
        }
      }
      let details = main.directory(0x8769)
      change(0x0112, in: main, to: 1)
      change(0xA002, in: details, to: width)
      change(0xA003, in: details, to: height)
      guard let link = main.link, let next = main.reader.long(link), next > 0 else { return }
      changes.append((link, main.bytes(0, 4)))
      // The tags 0x0201 and 0x0202 are the offset and length of a thumbnail that is a JPEG. The tags 0x0111 and 0x0117
      // are those of the strips of a thumbnail with plain samples.
      guard let part = main.directory(at: next) else { return }
      for (place, size) in [(0x0201, 0x0202), (0x0111, 0x0117)] {
        for (start, count) in zip(part.numbers(place, most: .max), part.numbers(size, most: .max))
        where start <= bytes.count && count <= bytes.count - start {
          strips.append(start..<start + count)
        }
      }
    }
    for (offset, bytes) in changes {
      data.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
    var end = 0
    for strip in strips.sorted(by: { $0.lowerBound < $1.lowerBound }) where strip.upperBound > end
    {
      for index in max(strip.lowerBound, end)..<strip.upperBound { data[index] = 0 }
      end = strip.upperBound
    }
    Previews.blank(in: &data)
    return data
  }
}
