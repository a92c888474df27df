import Base
import CZimg
import Glibc

/// Where a picture lies on a canvas, all of it, and the colour around it.
struct Mount {
  let canvas: PixelSize
  let place: (x: Int, y: Int)
  let colour: PictureColour
  /// Whether pixels that have no alpha get it on their way, opaque.
  var addsAlpha = false
}

extension Bitmap.Layout {
  /// What the pixels of a canvas are on which a picture of this layout lies; without a canvas the picture's own.
  func on(_ mount: Mount?) -> Bitmap.Layout { mount?.addsAlpha == true ? withAlpha : self }
}

extension Framing {
  /// Where the picture lies on its canvas; nil where it fills it.
  func mount(in surround: Surround) -> Mount? {
    guard isPadded else { return nil }
    return Mount(
      canvas: canvas,
      place: place,
      colour: surround.colour,
      addsAlpha: surround.needsAlpha
    )
  }
}

/// The rows of a canvas as they come: those of a picture where it lies, around them pixels of one colour.
struct PlacedRows {
  private let rows: czimg_rows
  private let mount: Mount
  /// Bytes of a pixel of the picture.
  private let own: Int
  /// Bytes of a pixel of the canvas.
  private let whole: Int
  /// Bytes of a sample.
  private let sample: Int
  /// A row of the canvas without the picture.
  private let empty: [UInt8]
  /// Rows of the canvas that have been asked for.
  private var reached = 0

  /// Puts `rows` of `layout`, which nobody has asked for yet, on a canvas.
  init(_ rows: czimg_rows, on mount: Mount, layout: Bitmap.Layout, depth: Int) {
    let pixel = mount.colour.pixel(in: layout.on(mount), depth: depth)
    (self.rows, self.mount) = (rows, mount)
    (own, whole, sample) = (layout.pixelBytes(depth: depth), pixel.count, depth == 16 ? 2 : 1)
    empty = Array(repeatElement(pixel, count: mount.canvas.width).joined())
  }

  /// Lends the rows to C.
  ///
  /// - Returns: What `body` returns.
  mutating func lend(_ body: (czimg_rows) -> Bool) -> Bool {
    let canvas = mount.canvas
    return withUnsafeMutablePointer(to: &self) {
      body(
        czimg_rows(
          width: UInt32(canvas.width),
          height: UInt32(canvas.height),
          next: { context, target, count in
            // SAFETY: `context` is these rows, which stay where they are until `body` returns.
            context?.assumingMemoryBound(to: Self.self).pointee.take(Int(count), target) ?? false
          },
          context: UnsafeMutableRawPointer($0)
        )
      )
    }
  }

  /// Writes the next rows; false where there are not so many, or the picture's do not come.
  private mutating func take(_ count: Int, _ target: UnsafeMutablePointer<UInt8>?) -> Bool {
    let wanted = reached..<reached + count
    guard let target, wanted.upperBound <= mount.canvas.height else { return false }
    let lines = wanted.clamped(to: mount.place.y..<mount.place.y + Int(rows.height))
    let width = Int(rows.width)
    let left = mount.place.x * whole
    func line(_ row: Int) -> UnsafeMutablePointer<UInt8> { target + (row - reached) * empty.count }
    func fill(_ start: UnsafeMutablePointer<UInt8>, _ bytes: Range<Int>) {
      _ = UnsafeMutableBufferPointer(start: start + bytes.lowerBound, count: bytes.count)
        .update(fromContentsOf: empty[bytes])
    }
    if !lines.isEmpty {
      // Written to the end of their room and moved up from there one by one, pixel by pixel where they get alpha: none
      // is written over before it is moved, as no row of the picture is longer than one of the canvas.
      let written = line(lines.upperBound) - lines.count * width * own
      guard rows.next(rows.context, written, UInt32(lines.count)) else { return false }
      for row in lines {
        move(written + (row - lines.lowerBound) * width * own, to: line(row) + left, count: width)
        fill(line(row), 0..<left)
        fill(line(row), left + width * whole..<empty.count)
      }
    }
    for row in wanted where !lines.contains(row) { fill(line(row), 0..<empty.count) }
    reached += count
    return true
  }

  /// Moves pixels to where they belong on the canvas, with alpha where they get it.
  private func move(
    _ pixels: UnsafeMutablePointer<UInt8>,
    to target: UnsafeMutablePointer<UInt8>,
    count: Int
  ) {
    guard mount.addsAlpha else {
      memmove(target, pixels, count * own)
      return
    }
    for pixel in 0..<count {
      let (from, to) = (pixels + pixel * own, target + pixel * whole)
      for byte in 0..<own { to[byte] = from[byte] }
      for byte in own..<own + sample { to[byte] = 255 }
    }
  }
}

extension czimg_rows {
  /// Lends the rows to C, on a canvas where there is one.
  ///
  /// - Parameters:
  ///   - mount: The canvas, and where on it they lie.
  ///   - layout: What they hold.
  ///   - depth: Bits of a sample.
  ///   - body: Takes them.
  /// - Returns: What `body` returns.
  func lend(
    on mount: Mount?,
    _ layout: Bitmap.Layout,
    depth: Int,
    _ body: (czimg_rows) -> Bool
  ) -> Bool {
    guard let mount else { return body(self) }
    var placed = PlacedRows(self, on: mount, layout: layout, depth: depth)
    return placed.lend(body)
  }
}

/// What lies around a picture that does not fill its frame, and what its pixels have to have for that.
struct Surround {
  /// The colour; clear where the picture has alpha that is kept and no background is asked for, else white.
  let colour: PictureColour
  /// Whether pixels without alpha have to get it.
  let needsAlpha: Bool
  /// Whether grey has to become colour.
  let needsColour: Bool

  /// Decides for a picture of a layout, which is not one of indices.
  init(_ background: PictureColour?, around layout: Bitmap.Layout, keepsAlpha: Bool) {
    colour = background ?? (layout.hasAlpha && keepsAlpha ? .transparent : .white)
    needsAlpha = keepsAlpha && colour.alpha < 255 && !layout.hasAlpha
    // What is clear has no colour to show.
    needsColour = !colour.isGrey && colour.alpha > 0
  }
}

extension Bitmap {
  /// The bitmap on a canvas, around it background; indices become the colours that they stand for.
  ///
  /// Grey gets colour, and where `keepsAlpha` what is opaque gets alpha, when the background asks
  /// for them. Without a background it is clear where the picture has alpha that is kept, else white.
  consuming func framed(
    _ framing: Framing,
    on background: PictureColour?,
    keepsAlpha: Bool,
    isInverted: Bool = true,
    limits: PictureLimits,
    name: String
  ) throws(LarderError) -> Bitmap {
    guard framing.isPadded else { return self }
    let canvas = framing.canvas
    var picture = (consume self).expanded()
    let surround = Surround(background, around: picture.layout, keepsAlpha: keepsAlpha)
    if surround.needsAlpha { picture = (consume picture).withAlpha() }
    if surround.needsColour { picture = (consume picture).coloured() }
    try limits.check(width: canvas.width, height: canvas.height, of: name)
    let frame = PixelRegion(
      x: framing.place.x,
      y: framing.place.y,
      width: picture.width,
      height: picture.height
    )
    let pixel = surround.colour.pixel(
      in: picture.layout,
      depth: picture.depth,
      isInverted: isInverted
    )
    return try (consume picture).placed(
      frame,
      over: PixelRegion(x: 0, y: 0, width: canvas.width, height: canvas.height),
      background: pixel,
      limits,
      name: name
    )
  }

  /// The bitmap without alpha, over a colour; one that has none as it is.
  consuming func laid(on colour: PictureColour) -> Bitmap {
    var hasAlpha = layout.hasAlpha
    if case .indexed(let palette) = layout { hasAlpha = palette.hasAlpha }
    return hasAlpha ? (consume self).flattened(.rgb, on: colour) : self
  }

  /// Light with opaque alpha, `rgba` or `greyAlpha`; inks, indices and what has alpha as they are.
  consuming func withAlpha() -> Bitmap {
    let isSwapped = layout == .bgrx
    let to = layout.withAlpha
    let depth = depth
    guard layout == .grey || layout == .rgb || layout == .bgrx, depth >= 8 else { return self }
    let (step, colours, bytes) = (layout.channels, to.channels - 1, depth == 16 ? 2 : 1)
    return (consume self).remade(as: to, depth: depth) { source, target in
      var place = 0
      for start in stride(from: 0, to: source.count, by: step * bytes) {
        for channel in 0..<colours {
          let from = start + (isSwapped ? 2 - channel : channel) * bytes
          for byte in 0..<bytes { target[place + byte] = source[from + byte] }
          place += bytes
        }
        for byte in 0..<bytes { target[place + byte] = 255 }
        place += bytes
      }
    }
  }
}
