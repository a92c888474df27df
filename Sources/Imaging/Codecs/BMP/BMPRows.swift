import Base

/// Reads the rows of a region directly from the bytes of a BMP that has no run-length encoding.
final class BMPRows: RowSource {
  let shape: RowShape
  private let header: BMPHeader
  private let bytes: UnsafeBufferPointer<UInt8>
  private let region: PixelRegion
  private let channels: [Channel]
  private var next: Int

  /// The bits of a stored pixel that are the value of one channel.
  private struct Channel {
    let mask: UInt32
    let shift: UInt32
    let most: UInt32

    init(_ mask: UInt32) {
      self.mask = mask
      shift = UInt32(mask.trailingZeroBitCount & 31)
      most = mask >> shift
    }

    func value(of pixel: UInt32) -> UInt8 {
      let value = (pixel & mask) >> shift
      return most == 255
        ? UInt8(value) : UInt8((UInt64(value) * 255 + UInt64(most / 2)) / UInt64(most))
    }
  }

  /// Starts at the region's first row.
  ///
  /// `bytes` must contain all rows, and stay valid while rows are read.
  init(_ header: BMPHeader, _ bytes: UnsafeBufferPointer<UInt8>, _ region: PixelRegion) {
    (self.header, self.bytes, self.region) = (header, bytes, region)
    next = region.y
    var layout = Bitmap.Layout.indexed(Bitmap.Palette(colours: header.palette))
    var depth = header.pixelBits
    channels =
      if case .masks(let masks) = header.packing {
        masks.filter { $0 != 0 }.map(Channel.init)
      } else { [] }
    if !channels.isEmpty { (layout, depth) = (header.hasAlpha ? .rgba : .rgb, 8) }
    shape = RowShape(width: region.width, height: region.height, layout: layout, depth: depth)
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    for row in 0..<count {
      let stored = header.isBottomUp ? header.size.height - 1 - next : next
      let start = header.start + stored * header.rowBytes
      let source = UnsafeBufferPointer(rebasing: bytes[start..<start + header.rowBytes])
      let pixels = UnsafeMutableBufferPointer(
        start: target + row * shape.rowBytes,
        count: shape.rowBytes
      )
      if channels.isEmpty { lookUp(source, pixels) } else { unmask(source, pixels) }
      next += 1
    }
  }

  private func lookUp(
    _ source: UnsafeBufferPointer<UInt8>,
    _ target: UnsafeMutableBufferPointer<UInt8>
  ) {
    let bits = header.pixelBits
    for x in 0..<region.width {
      // The leftmost pixel of a byte is in the highest bits.
      let place = (region.x + x) * bits
      target[x] = source[place / 8] >> UInt8(8 - bits - place % 8) & UInt8(1 << bits - 1)
    }
  }

  private func unmask(
    _ source: UnsafeBufferPointer<UInt8>,
    _ target: UnsafeMutableBufferPointer<UInt8>
  ) {
    let step = header.pixelBits / 8
    var out = 0
    for x in region.x..<region.x + region.width {
      var pixel: UInt32 = 0
      for byte in 0..<step { pixel |= UInt32(source[x * step + byte]) << UInt32(byte * 8) }
      for channel in channels {
        target[out] = channel.value(of: pixel)
        out += 1
      }
    }
  }
}

extension BMPHeader {
  /// Decodes a whole picture from run-length encoding; pixels that the runs skip get the index 0.
  func unpackedRuns(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ limits: PictureLimits,
    _ name: String
  ) throws(LarderError) -> Bitmap {
    let (width, height, isHalf) = (size.width, size.height, pixelBits == 4)
    try limits.check(memory: width * height, of: name)
    var samples = [UInt8](repeating: 0, count: width * height)
    var (offset, x, y) = (start, 0, 0)
    /// Writes a pixel at the current position.
    ///
    /// Pixels beyond the end of a row are dropped.
    func put(_ index: UInt8) {
      if x < width, y < height {
        samples[(isBottomUp ? height - 1 - y : y) * width + x] = index
      }
      x += 1
    }
    func index(_ byte: UInt8, _ place: Int) -> UInt8 {
      isHalf ? (place & 1 == 0 ? byte >> 4 : byte & 15) : byte
    }
    while y < height {
      guard offset + 1 < bytes.count else { throw .damaged(name, "the file ends too early") }
      let (count, value) = (Int(bytes[offset]), bytes[offset + 1])
      offset += 2
      switch (count, value) {
      case (0, 0): (x, y) = (0, y + 1)
      case (0, 1): y = height
      case (0, 2):
        guard offset + 1 < bytes.count else { throw .damaged(name, "the file ends too early") }
        x += Int(bytes[offset])
        y += Int(bytes[offset + 1])
        offset += 2
      case (0, _):
        let pixels = Int(value)
        let length = isHalf ? (pixels + 1) / 2 : pixels
        guard offset + length <= bytes.count else {
          throw .damaged(name, "the file ends too early")
        }
        for place in 0..<pixels { put(index(bytes[offset + (isHalf ? place / 2 : place)], place)) }
        // A run of literal indices is padded to an even number of bytes.
        offset += length + length & 1
      default:
        for place in 0..<count { put(index(value, place)) }
      }
    }
    return Bitmap(
      width: width,
      height: height,
      layout: .indexed(Bitmap.Palette(colours: palette)),
      depth: pixelBits,
      samples: samples
    )
  }
}
