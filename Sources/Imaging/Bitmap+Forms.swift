import Glibc

extension PixelRegion {
  /// The region with as many pixels around it as chroma of half the size is spread over, so that
  /// pixels at its edge come out as in the whole picture; its corner is even, as libraries ask
  /// for.
  func padded(in size: PixelSize) -> PixelRegion {
    let (left, top) = (max(x - 2, 0) & ~1, max(y - 2, 0) & ~1)
    let (right, bottom) = (min(x + width + 2, size.width), min(y + height + 2, size.height))
    return PixelRegion(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// Where this lies in a region that holds it.
  func inside(_ outer: PixelRegion) -> PixelRegion {
    PixelRegion(x: x - outer.x, y: y - outer.y, width: width, height: height)
  }
}

extension Bitmap {
  /// A part of the bitmap, sample for sample.
  func part(_ region: PixelRegion) -> Bitmap {
    guard region != PixelRegion(x: 0, y: 0, width: width, height: height) else { return self }
    let bytes = region.width * pixelBytes
    var part = Bitmap(width: region.width, height: region.height, layout: layout, depth: depth) {
      target in
      samples.withUnsafeBytes { source in
        for y in 0..<region.height {
          let from = (region.y + y) * rowBytes + region.x * pixelBytes
          UnsafeMutableRawBufferPointer(target)[(y * bytes)...]
            .copyBytes(from: source[from..<from + bytes])
        }
      }
    }
    part.clear = clear
    return part
  }

  /// Keeps a part of the bitmap alone, sample for sample, in the memory that it has.
  mutating func keep(_ region: PixelRegion) {
    guard region != PixelRegion(x: 0, y: 0, width: width, height: height) else { return }
    let (from, bytes) = (rowBytes, region.width * pixelBytes)
    let first = region.y * from + region.x * pixelBytes
    // Taken out of the bitmap, so that it is changed where it is.
    var samples: [UInt8] = []
    swap(&samples, &self.samples)
    samples.withUnsafeMutableBytes { samples in
      guard let start = samples.baseAddress else { return }
      for y in 0..<region.height { memmove(start + y * bytes, start + first + y * from, bytes) }
    }
    samples.removeLast(samples.count - bytes * region.height)
    let clear = clear
    self = Bitmap(
      width: region.width,
      height: region.height,
      layout: layout,
      depth: depth,
      samples: samples
    )
    self.clear = clear
  }

  /// A region of a clear canvas with this bitmap on it, where `frame` says.
  ///
  /// Pixels are `rgba` of 8 bits.
  func placed(
    _ frame: PixelRegion,
    over region: PixelRegion,
    _ limits: PictureLimits,
    name: String
  ) throws(ImagingError) -> Bitmap {
    try limits.check(memory: region.width * region.height * 4, of: name)
    var samples = [UInt8](repeating: 0, count: region.width * region.height * 4)
    func overlap(_ start: Int, _ count: Int, _ other: Int, _ otherCount: Int) -> Range<Int> {
      (start..<start + count).clamped(to: other..<other + otherCount)
    }
    let columns = overlap(frame.x, frame.width, region.x, region.width)
    let rows = overlap(frame.y, frame.height, region.y, region.height)
    for y in rows where !columns.isEmpty {
      let from = ((y - frame.y) * width + columns.lowerBound - frame.x) * 4
      let to = ((y - region.y) * region.width + columns.lowerBound - region.x) * 4
      samples.replaceSubrange(
        to..<to + columns.count * 4,
        with: self.samples[from..<from + columns.count * 4]
      )
    }
    return Bitmap(width: region.width, height: region.height, layout: .rgba, samples: samples)
  }

  /// Indices as the colours that they stand for, `rgb` or `rgba`; others as they are.
  func expanded() -> Bitmap {
    guard case .indexed(let palette) = layout else { return self }
    let isOpaque = palette.alpha.allSatisfy { $0 == 255 }
    let step = isOpaque ? 3 : 4
    var table = [UInt8](repeating: 0, count: 256 * step)
    for index in 0..<min(palette.colours.count / 3, 256) {
      for channel in 0..<3 { table[index * step + channel] = palette.colours[index * 3 + channel] }
      if !isOpaque {
        table[index * step + 3] = index < palette.alpha.count ? palette.alpha[index] : 255
      }
    }
    return Bitmap(width: width, height: height, layout: isOpaque ? .rgb : .rgba, depth: 8) {
      target in
      for (pixel, index) in samples.enumerated() {
        for channel in 0..<step {
          target[pixel * step + channel] = table[Int(index) * step + channel]
        }
      }
    }
  }

  /// Samples of 16 bits as the nearest of 8; others as they are.
  func narrowed() -> Bitmap {
    guard depth == 16 else { return self }
    let count = width * height * layout.channels
    return Bitmap(width: width, height: height, layout: layout, depth: 8) { target in
      samples.withUnsafeBytes { source in
        for index in 0..<count {
          let value = Int(source.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
          target[index] = UInt8((value + 128) / 257)
        }
      }
    }
  }

  /// Grey as colour, with its alpha, and indices as the colours that they stand for; others as
  /// they are.
  func coloured() -> Bitmap {
    let bytes = depth == 16 ? 2 : 1
    switch layout {
    case .indexed: return expanded()
    case .grey, .greyAlpha:
      let from = layout.channels
      let to = from + 2
      return Bitmap(
        width: width,
        height: height,
        layout: from == 1 ? .rgb : .rgba,
        depth: max(depth, 8)
      ) { target in
        let widest = 255 / ((1 << min(depth, 8)) - 1)
        for pixel in 0..<width * height {
          for channel in 0..<to {
            let sample = channel < 3 ? 0 : 1
            for byte in 0..<bytes {
              let value = Int(samples[(pixel * from + sample) * bytes + byte])
              target[(pixel * to + channel) * bytes + byte] = UInt8(
                truncatingIfNeeded: value * widest
              )
            }
          }
        }
      }
    default: return self
    }
  }
}
