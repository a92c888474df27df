extension Bitmap {
  /// The same picture, turned and mirrored so that it stands upright; no sample changes.
  ///
  /// A large one that nobody else holds gives its memory back meanwhile.
  public consuming func upright(from orientation: Orientation) -> Bitmap {
    guard orientation != .upright else { return self }
    let (layout, depth, clear) = (layout, depth, clear)
    let turning = Turning(PixelSize(width: width, height: height), from: orientation, pixelBytes)
    var picture = consume self
    var bitmap = Bitmap(
      width: turning.size.width,
      height: turning.size.height,
      layout: layout,
      depth: depth
    ) { target in
      var first = 0
      _ = picture.drain(least: Self.leastInStrips) { rows, count in
        turning.lay(rows, first: first, count: count, into: target)
        first += count
        return true
      }
    }
    bitmap.clear = clear
    return bitmap
  }
}
