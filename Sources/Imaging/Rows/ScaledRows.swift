import Base
import CZimg

extension Bitmap {
  /// A part of a picture; its edges can lie within pixels.
  struct Part: Equatable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    /// Makes the part that is the whole picture.
    init(_ size: PixelSize) {
      self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }

    init(x: Double, y: Double, width: Double, height: Double) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }

    /// The part that shows the region `inner` of a picture, if this part shows the region `outer`, which contains
    /// `inner`.
    ///
    /// Both regions are in pixels of the picture. The parts are in pixels of a reduced copy of it.
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
}

/// A part of the rows of another source, scaled by zimg's Lanczos filter.
///
/// The depth stays the same. While they are scaled, colours are multiplied by alpha, so that the colours of transparent
/// pixels do not bleed into other pixels. Palette indices become colours. Samples must have 8 or 16 bits.
final class ScaledRows: RowSource {
  /// A picture of fewer than this many bytes is scaled as a whole.
  ///
  /// A larger picture is scaled in strips.
  static let mostAtOnce = 32 << 20

  /// A strip of a larger picture has about this many bytes.
  static let strip = 8 << 20

  let shape: RowShape
  private let feed: RowFeed
  private let scaling: UnsafeMutablePointer<czimg_rows>
  private let colours: UnsafeMutablePointer<UInt32>?
  private let name: String
  /// At least this many rows are made at a time.
  ///
  /// Fewer would take longer, because zimg scales the rows at the edge of a strip again for the next strip.
  private let most: Int
  /// The rows that were made last; perhaps not all of them have been read yet.
  private var waiting: [UInt8] = []
  /// The index in `waiting` of the next byte to read.
  private var place = 0
  private var left: Int

  /// - Parameters:
  ///   - source: The rows to scale.
  ///   - part: The part of the rows to scale. Pass nil to scale all rows.
  ///   - size: The size of the result.
  ///   - strip: The number of bytes of a strip of the source. Pass 0 to scale the picture as a whole. If it is nil,
  ///     it depends on the size of the source.
  ///   - portable: Whether to use only zimg's portable code, without vector instructions.
  ///   - limits: The limits of the picture.
  ///   - name: The name of the picture in errors.
  /// - Throws: ``LarderError`` when there is not enough memory.
  init(
    _ source: any RowSource,
    _ part: Bitmap.Part? = nil,
    to size: PixelSize,
    strip: Int? = nil,
    portable: Bool = false,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) {
    let from = source.shape
    var shape = from
    var table: Bitmap.Palette.Table?
    shape.size = size
    shape.clear = nil
    if case .indexed(let palette) = from.layout {
      let colours = Bitmap.Palette.Table(palette)
      table = colours
      (shape.layout, shape.depth) = (colours.layout, 8)
    }
    (self.shape, self.name, left) = (shape, name, size.height)
    try limits.check(memory: shape.height * shape.rowBytes, of: name)
    // Grey counts as three channels, because the size of a strip was chosen for three. A palette index counts as one
    // byte.
    let pixel = table == nil ? max(from.pixelBytes, shape.depth == 16 ? 6 : 3) : 1
    let isAtOnce = from.width * from.height * pixel < Self.mostAtOnce
    let strip = strip ?? (isAtOnce ? 0 : Self.strip)
    most =
      strip == 0
      ? size.height : min(max(Self.strip / 2 / max(shape.rowBytes, 1), 16), size.height)
    feed = RowFeed(source)
    scaling = .allocate(capacity: 1)
    scaling.initialize(to: czimg_rows())
    colours = table.map {
      let copy = UnsafeMutablePointer<UInt32>.allocate(capacity: 256)
      copy.initialize(from: $0.colours, count: 256)
      return copy
    }
    let part = part ?? Bitmap.Part(from.size)
    var target = czimg_picture(
      samples: nil,
      width: UInt32(size.width),
      height: UInt32(size.height),
      channels: Int32(shape.layout.channels),
      wide: shape.depth == 16
    )
    var rows = czimg_rows(
      width: UInt32(from.width),
      height: UInt32(from.height),
      next: RowFeed.next,
      context: feed.context
    )
    let isOpen = czimg_scaling_open(
      &rows,
      czimg_part(x: part.x, y: part.y, width: part.width, height: part.height),
      colours,
      &target,
      Int32(shape.layout.meaningful),
      shape.layout.hasAlpha,
      strip,
      portable,
      scaling
    )
    guard isOpen else { throw .tooLarge(name, "there is not enough memory") }
  }

  deinit {
    czimg_scaling_close(scaling)
    scaling.deallocate()
    colours?.deallocate()
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    var (count, target) = (count, target)
    while count > 0 {
      let held = (waiting.count - place) / shape.rowBytes
      if held == 0, count >= min(most, left) {
        try make(min(count, left), into: target)
        return
      }
      if held == 0 { try fill() }
      let taken = min(count, (waiting.count - place) / shape.rowBytes)
      let bytes = taken * shape.rowBytes
      waiting.withUnsafeBufferPointer { rows in
        _ = UnsafeMutableBufferPointer(start: target, count: bytes)
          .update(fromContentsOf: rows[place..<place + bytes])
      }
      place += bytes
      target += bytes
      count -= taken
    }
    if left == 0, place == waiting.count { waiting = [] }
  }

  private func fill() throws(LarderError) {
    let bytes = min(most, left) * shape.rowBytes
    if waiting.count != bytes { waiting = [UInt8](repeating: 0, count: bytes) }
    place = 0
    let rows = bytes / shape.rowBytes
    try waiting.withUnsafeMutableBufferPointer { (room) throws(LarderError) in
      guard let start = room.baseAddress else { return }
      try make(rows, into: start)
    }
  }

  private func make(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    let made = scaling.pointee
    guard made.next(made.context, target, UInt32(count)) else {
      throw feed.failure ?? .tooLarge(name, "there is not enough memory")
    }
    left -= count
    if left == 0 { try feed.finish() }
  }
}

extension Bitmap {
  /// A part of the picture, scaled to `width` × `height` by ``ScaledRows``.
  consuming func scaled(
    _ part: Part? = nil,
    width: Int,
    height: Int,
    strip: Int? = nil,
    portable: Bool = false,
    limits: PictureLimits,
    name: String
  ) throws(LarderError) -> Bitmap {
    let size = PixelSize(width: width, height: height)
    let rows = try ScaledRows(
      BitmapRows(consume self),
      part,
      to: size,
      strip: strip,
      portable: portable,
      limits,
      name: name
    )
    return try rows.collected(limits, name: name)
  }
}
