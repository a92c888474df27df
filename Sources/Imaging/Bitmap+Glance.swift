extension Bitmap {
  /// A small version of a picture whose stored size is `size`, of 8 bits: `rgb`, `rgba` or `bgrx`.
  ///
  /// This is all of that picture, at any scale, with as many of its rows and columns as there are.
  func glance(
    of size: PixelSize,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) -> Bitmap {
    let longer = max(size.width, size.height)
    let side = min(longer, Attention.side)
    let (across, down) = (max(size.width * side / longer, 1), max(size.height * side / longer, 1))
    // Three pixels for each along either side are enough to be scaled.
    let (columns, rows) = (max(width / (across * 3), 1), max(height / (down * 3), 1))
    var small = picked(every: columns, rows).coloured().narrowed()
    if small.layout == .cmyk { small = small.flattened() }
    // One that is hardly larger is as good.
    guard
      !(across...across * 9 / 8).contains(small.width)
        || !(down...down * 9 / 8).contains(small.height)
    else { return small }
    return try small.scaled(width: across, height: down, limits: limits, name: name)
  }

  /// Every so many-th column and row.
  private func picked(every columns: Int, _ rows: Int) -> Bitmap {
    guard columns > 1 || rows > 1 else { return self }
    let (across, down) = ((width + columns - 1) / columns, (height + rows - 1) / rows)
    let (bytes, rowBytes) = (pixelBytes, rowBytes)
    return Bitmap(width: across, height: down, layout: layout, depth: depth) { target in
      let target = UnsafeMutableRawBufferPointer(target)
      samples.withUnsafeBytes { source in
        var place = 0
        for y in 0..<down {
          for x in 0..<across {
            let start = y * rows * rowBytes + x * columns * bytes
            if bytes == 4 {
              let pixel = source.loadUnaligned(fromByteOffset: start, as: UInt32.self)
              target.storeBytes(of: pixel, toByteOffset: place, as: UInt32.self)
            } else {
              for byte in 0..<bytes { target[place + byte] = source[start + byte] }
            }
            place += bytes
          }
        }
      }
    }
  }
}
