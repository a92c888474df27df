import Base
import CZimg

extension Bitmap {
  /// A part of a bitmap, in pixels that need not be whole.
  struct Part {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    /// Whether it is a whole bitmap.
    func isAll(of bitmap: borrowing Bitmap) -> Bool {
      x == 0 && y == 0 && width == Double(bitmap.width) && height == Double(bitmap.height)
    }

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
  ) throws(LarderError) -> Bitmap {
    let part = part ?? Part(x: 0, y: 0, width: Double(self.width), height: Double(self.height))
    try limits.check(memory: max(width * height, self.width * self.height) * pixelBytes, of: name)
    return try Bitmap(
      width: width,
      height: height,
      layout: layout,
      depth: depth
    ) { (target) throws(LarderError) in
      let done = samples.withUnsafeBufferPointer { samples in
        var from = picture(UnsafeMutablePointer(mutating: samples.baseAddress))
        from.width = UInt32(self.width)
        from.height = UInt32(self.height)
        var to = picture(target.baseAddress)
        to.width = UInt32(width)
        to.height = UInt32(height)
        let region = czimg_part(x: part.x, y: part.y, width: part.width, height: part.height)
        return czimg_scale(
          &from,
          region,
          &to,
          Int32(layout.meaningful),
          layout.hasAlpha,
          portable
        )
      }
      guard done else { throw .tooLarge(name, "there is not enough memory") }
    }
  }

  /// Bytes of a bitmap that is worth going through strip by strip: at once, what is made of it takes as much again.
  static let leastInStrips = 32 << 20

  /// The picture as ``scaled(_:width:height:limits:name:portable:)`` makes it of a whole one, strip by strip.
  ///
  /// Indices become the colours that they stand for on their way. A bitmap of `least` bytes or more that nobody else
  /// holds gives its memory back behind its rows.
  consuming func scaledInStrips(
    width: Int,
    height: Int,
    strip: Int = PNGCodec.strip,
    least: Int = leastInStrips,
    limits: PictureLimits,
    name: String
  ) throws(LarderError) -> Bitmap {
    let rows = LentRows.forScaling(self)
    let (layout, depth) = (rows.layout, rows.depth)
    var lent: Bitmap? = consume self
    try limits.check(memory: width * height * layout.pixelBytes(depth: depth), of: name)
    return try Bitmap(width: width, height: height, layout: layout, depth: depth) {
      (target) throws(LarderError) in
      let done = lent.take()?.lend(rows, least: least) {
        $0.scaled(
          width: width,
          height: height,
          layout: layout,
          depth: depth,
          strip: strip,
          colours: rows.colours
        ) { $0.next($0.context, target.baseAddress, $0.height) }
      }
      guard done == true else { throw .tooLarge(name, "there is not enough memory") }
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

extension czimg_rows {
  /// The rows scaled to `width` × `height`, strip by strip, as ``Bitmap/scaled(_:width:height:limits:name:portable:)``
  /// makes them of a whole picture.
  ///
  /// - Parameters:
  ///   - width: Pixels of a row that is made.
  ///   - height: Rows that are made.
  ///   - layout: Of these rows and of those that are made; not indices, unless there are `colours`.
  ///   - depth: 8 or 16 bits a sample.
  ///   - strip: Bytes of these rows that are held at a time, about.
  ///   - colours: What these rows stand for, if they are indices; nil where they hold samples.
  ///   - body: What to do with the rows while they can be asked for.
  /// - Returns: What `body` returns; false when memory is short.
  func scaled(
    width: Int,
    height: Int,
    layout: Bitmap.Layout,
    depth: Int,
    strip: Int,
    colours: Bitmap.Palette.Table? = nil,
    _ body: (czimg_rows) -> Bool
  ) -> Bool {
    let shape = czimg_picture(
      samples: nil,
      width: UInt32(width),
      height: UInt32(height),
      channels: Int32(layout.channels),
      wide: depth == 16
    )
    func open(_ colours: UnsafePointer<UInt32>?) -> Bool {
      var made = czimg_rows()
      let isOpen = withUnsafePointer(to: self) { source in
        withUnsafePointer(to: shape) {
          czimg_scaling_open(
            source,
            colours,
            $0,
            Int32(layout.meaningful),
            layout.hasAlpha,
            strip,
            false,
            &made
          )
        }
      }
      defer { czimg_scaling_close(&made) }
      return isOpen && body(made)
    }
    guard let colours else { return open(nil) }
    return colours.colours.withUnsafeBufferPointer { open($0.baseAddress) }
  }
}
