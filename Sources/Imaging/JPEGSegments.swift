/// Carries segments of one JPEG over to another.
enum JPEGSegments {
  /// `bytes` with the ICC profile of `file`, and on request its metadata, made true for a picture of
  /// `size` that stands upright.
  static func add(
    to bytes: consuming [UInt8],
    from file: PictureFile,
    size: PixelSize,
    profile: Bool = true,
    metadata: Bool
  ) -> [UInt8] {
    guard case .jpeg(let markers) = file.probe.structure else { return bytes }
    var carried: [UInt8] = []
    for segment in metadata ? markers.metadata : [] {
      if let tiff = markers.exif, tiff.upperBound == segment.upperBound, let exif = file.probe.exif
      {
        carried += file.bytes[segment.lowerBound..<tiff.lowerBound]
        carried += exif.cropped(file.bytes[tiff], width: size.width, height: size.height)
      } else {
        carried += cropped(file.bytes[segment])
      }
    }
    for segment in profile ? markers.profile : [] { carried += file.bytes[segment] }
    guard !carried.isEmpty else { return bytes }
    bytes.insert(contentsOf: carried, at: afterJFIF(bytes))
    return bytes
  }

  /// A segment of metadata for a picture that was cropped and stands upright; empty where it holds
  /// copies or signatures of the whole picture and no more.
  private static func cropped(_ segment: ArraySlice<UInt8>) -> [UInt8] {
    let payload = segment.dropFirst(4)
    func begins(_ text: String) -> Bool { payload.starts(with: text.utf8) }
    switch segment[segment.startIndex + 1] {
    // JFXX thumbnails, FlashPix, C2PA's signed claims, depth maps and originals in further XMP.
    case 0xE0 where begins("JFXX\0"), 0xE2 where begins("FPXR\0"), 0xEB,
      0xE1 where begins("http://ns.adobe.com/xmp/extension/\0"),
      // A second Exif segment.
      0xE1 where begins("Exif\0\0"):
      return []
    case 0xED where payload.starts(with: Previews.photoshop):
      return Previews.removed(fromPhotoshop: segment) ?? []
    case 0xE1:
      var packet = Array(segment)
      Previews.mend(xmp: &packet)
      return packet
    default: return Array(segment)
    }
  }

  /// Behind the start of the picture and its JFIF segment, which must come first.
  static func afterJFIF(_ bytes: [UInt8]) -> Int {
    guard bytes.count > 6, bytes[2] == 0xFF, bytes[3] == 0xE0 else { return 2 }
    return min(4 + Int(bytes[4]) << 8 + Int(bytes[5]), bytes.count)
  }
}
