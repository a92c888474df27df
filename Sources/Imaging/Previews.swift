/// Small copies of a picture inside its metadata, which still show what a crop leaves out.
enum Previews {
  /// Blanks every JPEG in EXIF data: thumbnails, and previews in maker notes, whose formats nobody
  /// publishes.
  static func blank(in tiff: inout [UInt8]) {
    var offset = 0
    while let start = tiff[offset...].firstRange(of: [0xFF, 0xD8, 0xFF])?.lowerBound {
      let end = tiff[start...].firstRange(of: [0xFF, 0xD9])?.upperBound ?? tiff.endIndex
      for index in start..<end { tiff[index] = 0 }
      offset = end
    }
  }

  /// A Photoshop segment of a JPEG, with its marker, without the resources that hold a thumbnail; nil when
  /// nothing else is in it, or it cannot be read. (Photoshop File Formats, image resource blocks)
  static func removed(fromPhotoshop segment: ArraySlice<UInt8>) -> [UInt8]? {
    let head = segment.startIndex + 4 + photoshop.count
    guard head <= segment.endIndex else { return nil }
    var kept: [UInt8] = []
    var rest = segment[head...]
    while !rest.isEmpty {
      // A mark, a number, a name of even length with its count, a size, and data of even length.
      let start = rest.startIndex
      guard rest.count >= 12, rest.starts(with: Array("8BIM".utf8)) else { return nil }
      let number = Int(rest[start + 4]) << 8 | Int(rest[start + 5])
      let sizePlace = start + 6 + (Int(rest[start + 6]) + 2) / 2 * 2
      guard sizePlace + 4 <= rest.endIndex else { return nil }
      let size = rest[sizePlace..<sizePlace + 4].reduce(0) { $0 << 8 | Int($1) }
      let end = sizePlace + 4 + size
      guard end <= rest.endIndex else { return nil }
      let padded = min(end + size % 2, rest.endIndex)
      // 1033 and 1036: the thumbnails of Photoshop 4 and 5.
      if number != 1033, number != 1036 { kept += rest[start..<padded] }
      rest = rest[padded...]
    }
    guard !kept.isEmpty else { return nil }
    let length = 2 + photoshop.count + kept.count
    return [0xFF, 0xED, UInt8(length >> 8), UInt8(length & 255)] + photoshop + kept
  }

  /// What a Photoshop segment begins with.
  static let photoshop = Array("Photoshop 3.0\0".utf8)

  /// Corrects an XMP packet for a picture that was turned upright and cropped.
  ///
  /// The orientation becomes 1, and thumbnails become spaces; the packet's length stays.
  static func mend(xmp packet: inout [UInt8]) {
    for (before, after) in [
      ("tiff:Orientation=\"", "\""), ("tiff:Orientation='", "'"), ("<tiff:Orientation>", "<"),
    ] {
      replace(in: &packet, between: before, and: after) { $0.count == 1 ? [0x31] : nil }
    }
    for tag in ["xmpGImg:image", "xapGImg:image"] {
      replace(in: &packet, between: "<\(tag)>", and: "<") {
        Array(repeating: 0x20, count: $0.count)
      }
      replace(in: &packet, between: "\(tag)=\"", and: "\"") {
        Array(repeating: 0x20, count: $0.count)
      }
    }
  }

  private static func replace(
    in packet: inout [UInt8],
    between before: String,
    and after: String,
    _ body: (ArraySlice<UInt8>) -> [UInt8]?
  ) {
    var offset = 0
    while let start = packet[offset...].firstRange(of: Array(before.utf8))?.upperBound,
      let end = packet[start...].firstRange(of: Array(after.utf8))?.lowerBound
    {
      if let value = body(packet[start..<end]) { packet.replaceSubrange(start..<end, with: value) }
      offset = start
    }
  }
}
