extension Bitmap {
  /// Turns and mirrors the picture so that it stands upright; no sample changes.
  ///
  /// A square is turned in its own memory. Laid into another's, the first rows of a large picture would touch a page
  /// of each row there, 28 MB of 49 megapixels, before any memory is given back.
  mutating func turnUpright(from orientation: Orientation) {
    guard orientation != .upright else { return }
    guard width == height else { return self = (consume self).upright(from: orientation) }
    switch pixelBytes {
    case 1: turnSquare(orientation, as: UInt8.self)
    case 2: turnSquare(orientation, as: UInt16.self)
    case 3: turnSquare(orientation, as: Three<UInt8>.self)
    case 4: turnSquare(orientation, as: UInt32.self)
    case 6: turnSquare(orientation, as: Three<UInt16>.self)
    default: turnSquare(orientation, as: UInt64.self)
    }
  }

  private mutating func turnSquare<Pixel: BitwiseCopyable>(
    _ orientation: Orientation,
    as: Pixel.Type
  ) {
    let side = width
    samples.withUnsafeMutableBytes { samples in
      guard let start = samples.baseAddress else { return }
      // SAFETY: every index below is that of one of the `side` × `side` pixels that `samples` holds.
      let pixels = SquarePixels<Pixel>(start: start, side: side)
      if orientation.swapsAxes { pixels.transpose() }
      if orientation.reversesRows { pixels.reverseRows() }
      if orientation.reversesColumns { pixels.reverseColumns() }
    }
  }
}

/// The pixels of a square, which change their places in pairs.
private struct SquarePixels<Pixel: BitwiseCopyable> {
  let start: UnsafeMutableRawPointer
  let side: Int

  func transpose() {
    // In tiles, as one of the two sides jumps from row to row and would miss the cache.
    let tile = 32
    for top in stride(from: 0, to: side, by: tile) {
      for left in stride(from: top, to: side, by: tile) {
        for y in top..<min(top + tile, side) {
          for x in max(left, y + 1)..<max(left, y + 1, min(left + tile, side)) {
            swap(y * side + x, x * side + y)
          }
        }
      }
    }
  }

  func reverseRows() {
    for y in 0..<side / 2 {
      for x in 0..<side { swap(y * side + x, (side - 1 - y) * side + x) }
    }
  }

  func reverseColumns() {
    for y in 0..<side {
      for x in 0..<side / 2 { swap(y * side + x, y * side + side - 1 - x) }
    }
  }

  private func swap(_ one: Int, _ other: Int) {
    let (one, other) = (start + one * Self.bytes, start + other * Self.bytes)
    let pixel = one.loadUnaligned(as: Pixel.self)
    one.storeBytes(of: other.loadUnaligned(as: Pixel.self), as: Pixel.self)
    other.storeBytes(of: pixel, as: Pixel.self)
  }

  private static var bytes: Int { MemoryLayout<Pixel>.size }
}
