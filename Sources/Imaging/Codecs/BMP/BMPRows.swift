import Base

/// Reads the rows of a region directly from the bytes of a BMP that has no run-length encoding.
final class BMPRows: RowSource {
  let shape: RowShape
  private let header: BMPHeader
  private let bytes: UnsafeBufferPointer<UInt8>
  private let region: PixelRegion
  private var next: Int

  /// Starts at the region's first row.
  ///
  /// `bytes` must contain all rows, and stay valid while rows are read.
  init(_ header: BMPHeader, _ bytes: UnsafeBufferPointer<UInt8>, _ region: PixelRegion) {
    (self.header, self.bytes, self.region) = (header, bytes, region)
    next = region.y
    shape = RowShape(
      width: region.width,
      height: region.height,
      layout: header.layout,
      depth: header.isIndexed ? header.pixelBits : 8
    )
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    var target = target
    let (bits, step, masks) = (header.pixelBits, header.pixelBits / 8, header.masks)
    for _ in 0..<count {
      let stored = header.isBottomUp ? header.size.height - 1 - next : next
      let start = header.start + stored * header.rowBytes
      let line = UnsafeBufferPointer(rebasing: bytes[start..<start + header.rowBytes])
      for x in region.x..<region.x + region.width {
        if masks.isEmpty {
          target.pointee = header.index(x, in: line[x * bits / 8])
          target += 1
          continue
        }
        var pixel: UInt32 = 0
        for byte in 0..<step { pixel |= UInt32(line[x * step + byte]) << UInt32(byte * 8) }
        for mask in masks {
          let shift = UInt32(mask.trailingZeroBitCount)
          let (value, most) = (UInt64((pixel & mask) >> shift), UInt64(mask >> shift))
          target.pointee = UInt8(most == 255 ? value : (value * 255 + most / 2) / most)
          target += 1
        }
      }
      next += 1
    }
  }
}

extension BMPHeader {
  /// The index of the pixel at `x`, which is in `byte`; the leftmost pixel of a byte is in the highest bits.
  func index(_ x: Int, in byte: UInt8) -> UInt8 {
    byte >> UInt8(8 - pixelBits - x * pixelBits % 8) & UInt8(1 << pixelBits - 1)
  }

  /// Decodes a whole picture from run-length encoding; pixels that the runs skip get the index 0.
  func unpackedRuns(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ limits: PictureLimits,
    _ name: String
  ) throws(LarderError) -> Bitmap {
    let (width, height) = (size.width, size.height)
    try limits.check(memory: width * height, of: name)
    var samples = [UInt8](repeating: 0, count: width * height)
    var (offset, x, y) = (start, 0, 0)
    while y < height {
      guard offset + 1 < bytes.count else { throw .damaged(name, "the file ends too early") }
      let (count, value) = (Int(bytes[offset]), Int(bytes[offset + 1]))
      offset += 2
      // After a zero, a value below 3 is a command, and any other one is the number of literal indices that follow.
      let length =
        count > 0 || value < 2 ? 0 : value == 2 ? 2 : (value * pixelBits + 7) / 8
      guard offset + length <= bytes.count else {
        throw .damaged(name, "the file ends too early")
      }
      switch (count, value) {
      case (0, 0): (x, y) = (0, y + 1)
      case (0, 1): y = height
      case (0, 2): (x, y) = (x + Int(bytes[offset]), y + Int(bytes[offset + 1]))
      default:
        let row = (isBottomUp ? height - 1 - y : y) * width
        for place in 0..<(count > 0 ? count : value) {
          let byte = count > 0 ? UInt8(value) : bytes[offset + place * pixelBits / 8]
          // Pixels beyond the end of a row are dropped.
          if x < width { samples[row + x] = index(place, in: byte) }
          x += 1
        }
      }
      // Literal indices are padded to an even number of bytes.
      offset += length + length & 1
    }
    return Bitmap(width: width, height: height, layout: layout, depth: pixelBits, samples: samples)
  }
}
