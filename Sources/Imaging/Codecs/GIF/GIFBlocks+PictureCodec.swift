import Base

extension GIFBlocks: PictureCodec {
  static let name = "GIF"
  static var kept: PictureFormat { .png }

  static func begins(_ head: [UInt8]) -> Bool {
    head.starts(with: "GIF87a".utf8) || head.starts(with: "GIF89a".utf8)
  }

  /// Whether the file has the trailer, the byte that ends a GIF. (GIF89a, section 27)
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    tail.last { $0 != 0 } == 0x3B
  }

  var depth: Int { 8 }
  var channels: Int { 1 }
  var isCutShort: Bool { !isWhole }
  var isIndexed: Bool { true }
  var chroma: ChromaSampling? { .full }

  func profile(of file: PictureFile, _ limits: PictureLimits) -> [UInt8] { [] }
  func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? { nil }
  func xmp(in bytes: [UInt8]) -> [UInt8] { [] }

  func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows {
    try GIFCodec.rows(of: file, bytes, self, request, limits)
  }
}
