import Base

extension GIFBlocks: PictureCodec {
  static let name = "GIF"
  static var kept: PictureFormat { .png }

  static func begins(_ head: [UInt8]) -> Bool {
    head.starts(with: "GIF87a".utf8) || head.starts(with: "GIF89a".utf8)
  }

  /// Whether the file ends with the trailer, apart from zeroes after it. (GIF89a, section 27)
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    tail.last { $0 != 0 } == 0x3B
  }

  var depth: Int { 8 }
  var channels: Int { 1 }
  var isCutShort: Bool { !isWhole }
  var isIndexed: Bool { true }
  var chroma: ChromaSampling? { .full }

  /// Opens rows of a region of the screen, which is the GIF's canvas, with the first frame on it.
  ///
  /// If the rows are going to be scaled, the frame is decoded while they are read. Otherwise the whole frame is decoded
  /// first.
  func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows {
    let (isCutShort, region) = (isCutShort, request.region)
    guard request.scaling != nil else {
      let bitmap = try GIFCodec.decode(file, self, region, limits)
      return OpenRows(source: BitmapRows(bitmap)) { isCutShort }
    }
    var rows: any RowSource = try GIFRows(file, bytes, self, limits)
    // The pixels around the frame must be transparent. If no index is transparent, the rows need alpha instead.
    if !isFull, clear == nil { rows = rows.converted { .expanded($0, withAlpha: true) } }
    if region != frame {
      let background = clear.map { [UInt8(truncatingIfNeeded: $0)] }
      rows = PaddedRows(
        rows,
        on: region.size,
        at: (frame.x - region.x, frame.y - region.y),
        pixel: background ?? Array(repeating: 0, count: rows.shape.pixelBytes)
      )
    }
    return OpenRows(source: rows) { isCutShort }
  }
}
