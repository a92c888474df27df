import CGIF

/// The first frame of a GIF by giflib, of which no pointer or struct is seen elsewhere.
enum GIFCodec {
  /// Decodes a region of the screen with the first frame on it: indices, of which one is clear where
  /// the frame leaves a part of the screen free; `rgba` where it has all 256 colours there are.
  static func decode(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    _ region: PixelRegion,
    _ limits: PictureLimits
  ) throws(ImagingError) -> Bitmap {
    let frame = blocks.frame
    try limits.check(memory: frame.width * frame.height, of: file.name)
    var status = CInt(cgif_done)
    // Not a byte of it is touched where there are no codes for it.
    let indices = [UInt8](unsafeUninitializedCapacity: frame.width * frame.height) {
      target,
      count in
      status = file.bytes.withUnsafeBufferPointer { bytes in
        cgif_decode(
          bytes.baseAddress,
          bytes.count,
          CInt(frame.width),
          CInt(frame.height),
          blocks.isInterlaced,
          target.baseAddress
        )
      }
      count = status == CInt(cgif_done) ? frame.width * frame.height : 0
    }
    try check(status, file.name)
    let palette = palette(
      file,
      blocks,
      most: Int(indices.max() ?? 0),
      clear: clearIndex(blocks, indices)
    )
    var bitmap = Bitmap(
      width: frame.width,
      height: frame.height,
      layout: .indexed(palette),
      depth: [1, 2, 4].first { palette.colours.count <= 3 << $0 } ?? 8,
      samples: consume indices
    )
    if blocks.isFull { return bitmap.part(region) }
    if palette.clearIndex == nil { bitmap = (consume bitmap).expanded(withAlpha: true) }
    return try (consume bitmap).placed(frame, over: region, limits, name: file.name)
  }

  static func check(_ outcome: CInt, _ name: String) throws(ImagingError) {
    switch Int(outcome) {
    case cgif_done: break
    case cgif_no_memory: throw .tooLarge(name, "it takes more memory than is allowed")
    default: throw .damaged(name, "its first frame is broken or ends too early")
    }
  }

  /// The index that stands for clear: the file's; or, where the frame leaves a part of the screen free, one
  /// that no pixel has.
  private static func clearIndex(_ blocks: GIFBlocks, _ indices: [UInt8]) -> Int? {
    if blocks.isFull || blocks.clear != nil { return blocks.clear }
    var isUsed = [Bool](repeating: false, count: 256)
    for index in indices { isUsed[Int(index)] = true }
    return isUsed.firstIndex(of: false)
  }

  /// The colours, black where an index has none, and which of them is clear.
  static func palette(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    most: Int,
    clear: Int?
  ) -> Bitmap.Palette {
    var colours = Array(file.bytes[blocks.palette])
    // The clear index often lies behind the last colour.
    let last = max(most, clear ?? 0)
    if colours.count < (last + 1) * 3 {
      colours += Array(repeating: 0, count: (last + 1) * 3 - colours.count)
    }
    let alpha = clear.map { Array(repeating: UInt8(255), count: $0) + [UInt8(0)] } ?? []
    return Bitmap.Palette(colours: colours, alpha: alpha)
  }
}
