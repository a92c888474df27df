import CZimg

extension Bitmap {
  /// A part of a bitmap, in pixels that need not be whole.
  struct Part {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    /// Where `inner` lies, when this is where `outer` does, which holds it.
    func inside(_ outer: PixelRegion, _ inner: PixelRegion) -> Part {
      let across = width / Double(outer.width)
      let down = height / Double(outer.height)
      return Part(
        x: x + Double(inner.x - outer.x) * across,
        y: y + Double(inner.y - outer.y) * down,
        width: Double(inner.width) * across,
        height: Double(inner.height) * down
      )
    }
  }

  /// The picture scaled to `width` × `height` by zimg's Lanczos filter, in the depth that it has.
  ///
  /// Colours are multiplied by alpha meanwhile, so that clear pixels do not bleed. Indexed bitmaps
  /// and those of fewer than 8 bits cannot be scaled. `portable` keeps to zimg's code in plain C.
  func scaled(
    _ part: Part? = nil,
    width: Int,
    height: Int,
    limits: PictureLimits,
    name: String,
    portable: Bool = false
  ) throws(ImagingError) -> Bitmap {
    let part = part ?? Part(x: 0, y: 0, width: Double(self.width), height: Double(self.height))
    try limits.check(memory: max(width * height, self.width * self.height) * pixelBytes, of: name)
    // Of four bytes a pixel, the last may mean nothing.
    let scaled = layout == .bgrx ? 3 : layout.channels
    let alpha = layout == .greyAlpha || layout == .rgba
    return try Bitmap(
      width: width,
      height: height,
      layout: layout,
      depth: depth
    ) { (target) throws(ImagingError) in
      let done = samples.withUnsafeBufferPointer { samples in
        var from = picture(UnsafeMutablePointer(mutating: samples.baseAddress))
        from.width = UInt32(self.width)
        from.height = UInt32(self.height)
        var to = picture(target.baseAddress)
        to.width = UInt32(width)
        to.height = UInt32(height)
        let region = czimg_part(x: part.x, y: part.y, width: part.width, height: part.height)
        return czimg_scale(&from, region, &to, Int32(scaled), alpha, portable)
      }
      guard done else { throw .tooLarge(name, "there is not enough memory") }
    }
  }

  /// Bytes of a bitmap that is worth scaling strip by strip: all at once takes as much again for a channel.
  static let leastInStrips = 32 << 20

  /// Whether it is large enough for that, and of a layout all of whose channels are scaled.
  var isScaledInStrips: Bool {
    samples.count >= Self.leastInStrips && layout != .bgrx && layout != .cmyk
  }

  /// The picture as ``scaled(_:width:height:limits:name:portable:)`` makes it of a whole one, strip by strip.
  ///
  /// Indices become the colours that they stand for on their way. For light and colours, with alpha or without. A
  /// bitmap that nobody else holds gives its memory back behind its rows.
  consuming func scaledInStrips(
    width: Int,
    height: Int,
    strip: Int = PNGCodec.strip,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) -> Bitmap {
    var rows = LentRows(width: self.width, layout: layout, depth: depth)
    let layout = rows.layout
    var picture = consume self
    let (fromWidth, fromHeight) = (UInt32(picture.width), UInt32(picture.height))
    try limits.check(memory: width * height * rows.pixelBytes, of: name)
    return try Bitmap(width: width, height: height, layout: layout, depth: rows.depth) {
      (target) throws(ImagingError) in
      let made = czimg_picture(
        samples: target.baseAddress,
        width: UInt32(width),
        height: UInt32(height),
        channels: Int32(layout.channels),
        wide: rows.depth == 16
      )
      let done = picture.samples.withUnsafeMutableBufferPointer { samples in
        rows.left = UnsafeBufferPointer(samples)[...]
        return withUnsafeMutablePointer(to: &rows) { rows in
          let source = czimg_rows(
            width: fromWidth,
            height: fromHeight,
            next: { context, target, count in
              context?.assumingMemoryBound(to: LentRows.self).pointee.take(Int(count), target)
                ?? false
            },
            context: rows
          )
          return withUnsafePointer(to: source) { source in
            withUnsafePointer(to: made) {
              czimg_scale_rows(source, $0, layout == .rgba || layout == .greyAlpha, strip, false)
            }
          }
        }
      }
      guard done else { throw .tooLarge(name, "there is not enough memory") }
    }
  }

  /// A picture of this layout and depth for C; the source's samples are only read there.
  private func picture(_ samples: UnsafeMutablePointer<UInt8>?) -> czimg_picture {
    czimg_picture(
      samples: samples,
      width: 0,
      height: 0,
      channels: Int32(layout.channels),
      wide: depth == 16
    )
  }
}

/// A bitmap's rows as they are asked for, from the top, for the last time; those of indices as colours.
private struct LentRows {
  let layout: Bitmap.Layout
  let depth: Int
  /// The samples of the rows that have not been asked for, which the caller alone holds.
  var left = UnsafeBufferPointer<UInt8>(start: nil, count: 0)[...]
  private let rowBytes: Int
  private let colours: Bitmap.Palette.Table?

  /// Bytes of a pixel as it is handed out.
  var pixelBytes: Int { layout.channels * (depth == 16 ? 2 : 1) }

  init(width: Int, layout: Bitmap.Layout, depth: Int) {
    if case .indexed(let palette) = layout {
      let colours = Bitmap.Palette.Table(palette)
      (self.colours, self.layout, self.depth) = (colours, colours.layout, 8)
      rowBytes = width
    } else {
      (colours, self.layout, self.depth) = (nil, layout, depth)
      rowBytes = width * layout.channels * (depth == 16 ? 2 : 1)
    }
  }

  /// Writes the next rows; false where there are not so many.
  mutating func take(_ count: Int, _ target: UnsafeMutablePointer<UInt8>?) -> Bool {
    let bytes = count * rowBytes
    guard let target, left.count >= bytes else { return false }
    let rows = left.prefix(bytes)
    left = left.dropFirst(bytes)
    defer { Bitmap.giveBack(UnsafeBufferPointer(rebasing: rows)) }
    let step = colours == nil ? 1 : layout.channels
    let room = UnsafeMutableBufferPointer(start: target, count: bytes * step)
    if let colours {
      colours.look(up: rows, into: room)
    } else {
      _ = room.update(fromContentsOf: rows)
    }
    return true
  }
}
