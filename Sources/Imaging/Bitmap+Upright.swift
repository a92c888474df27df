extension Bitmap {
  /// The same picture, turned and mirrored so that it stands upright; no sample changes.
  public func upright(from orientation: Orientation) -> Bitmap {
    guard orientation != .upright else { return self }
    let size = orientation.upright(PixelSize(width: width, height: height))
    var bitmap = Bitmap(width: size.width, height: size.height, layout: layout, depth: depth) {
      switch pixelBytes {
      case 1: turn(into: $0, orientation, size, as: UInt8.self)
      case 2: turn(into: $0, orientation, size, as: UInt16.self)
      case 3: turn(into: $0, orientation, size, as: Three<UInt8>.self)
      case 4: turn(into: $0, orientation, size, as: UInt32.self)
      case 6: turn(into: $0, orientation, size, as: Three<UInt16>.self)
      default: turn(into: $0, orientation, size, as: UInt64.self)
      }
    }
    bitmap.clear = clear
    return bitmap
  }

  /// Where the first upright pixel is stored, and how far the next ones along a row and a column
  /// are from it, in stored pixels.
  private func walk(_ orientation: Orientation) -> (start: Int, across: Int, down: Int) {
    let first = orientation.stored(
      PixelRegion(x: 0, y: 0, width: 1, height: 1),
      in: PixelSize(width: width, height: height)
    )
    let (along, between) = orientation.swapsAxes ? (width, 1) : (1, width)
    return (
      first.y * width + first.x,
      orientation.reversesColumns ? -along : along,
      orientation.reversesRows ? -between : between
    )
  }

  private func turn<Pixel: BitwiseCopyable>(
    into target: UnsafeMutableBufferPointer<UInt8>,
    _ orientation: Orientation,
    _ size: PixelSize,
    as: Pixel.Type
  ) {
    let walk = walk(orientation)
    samples.withUnsafeBytes { source in
      guard let source = source.baseAddress,
        let target = UnsafeMutableRawPointer(target.baseAddress)
      else { return }
      let bytes = MemoryLayout<Pixel>.size
      // In tiles, as one of the two sides jumps from row to row and would miss the cache.
      let tile = 32
      for top in stride(from: 0, to: size.height, by: tile) {
        for left in stride(from: 0, to: size.width, by: tile) {
          for y in top..<min(top + tile, size.height) {
            // SAFETY: `walk` maps each upright pixel onto one of the stored ones, as many as both have.
            var from = source + (walk.start + y * walk.down + left * walk.across) * bytes
            var to = target + (y * size.width + left) * bytes
            for _ in left..<min(left + tile, size.width) {
              to.storeBytes(of: from.loadUnaligned(as: Pixel.self), as: Pixel.self)
              from += walk.across * bytes
              to += bytes
            }
          }
        }
      }
    }
  }
}
