import Base

/// Reads the rows of a region directly from the bytes of a BMP, which has no run-length encoding.
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
      size: region.size,
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
}
