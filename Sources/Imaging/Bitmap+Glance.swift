extension Bitmap {
  /// A small version of a picture whose stored size is `size`, of 8 bits: `rgb`, `rgba` or `bgrx`.
  ///
  /// This is all of that picture, at any scale, with as many of its rows and columns as there are.
  func glance(
    of size: PixelSize,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) -> Bitmap {
    let rows = max(height / (Attention.side * 3), 1)
    let columns = max(width / (Attention.side * 3), 1)
    var small = picked(every: columns, rows).coloured().narrowed()
    if small.layout == .cmyk { small = small.flattened() }
    let longer = max(size.width, size.height)
    guard longer > Attention.side || small.width != size.width || small.height != size.height
    else { return small }
    let side = min(longer, Attention.side)
    return try small.scaled(
      width: max(size.width * side / longer, 1),
      height: max(size.height * side / longer, 1),
      limits: limits,
      name: name
    )
  }

  /// Every so many-th column and row.
  private func picked(every columns: Int, _ rows: Int) -> Bitmap {
    guard columns > 1 || rows > 1 else { return self }
    let (across, down) = ((width + columns - 1) / columns, (height + rows - 1) / rows)
    let (bytes, rowBytes) = (pixelBytes, rowBytes)
    return Bitmap(width: across, height: down, layout: layout, depth: depth) { target in
      samples.withUnsafeBufferPointer { source in
        var place = 0
        for y in 0..<down {
          for x in 0..<across {
            let start = y * rows * rowBytes + x * columns * bytes
            for byte in 0..<bytes { target[place + byte] = source[start + byte] }
            place += bytes
          }
        }
      }
    }
  }
}
