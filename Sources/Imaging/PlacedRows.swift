import CZimg
import Glibc

/// Where a picture lies on a canvas, all of it, and the colour around it.
struct Mount {
  let canvas: PixelSize
  let place: (x: Int, y: Int)
  let colour: PictureColour
}

/// The rows of a canvas as they come: those of a picture where it lies, around them pixels of one colour.
struct PlacedRows {
  private let rows: czimg_rows
  private let mount: Mount
  private let pixelBytes: Int
  /// A row of the canvas without the picture.
  private let empty: [UInt8]
  /// Rows of the canvas that have been asked for.
  private var reached = 0

  /// Puts `rows`, which nobody has asked for yet, on a canvas.
  init(_ rows: czimg_rows, on mount: Mount, layout: Bitmap.Layout, depth: Int) {
    let pixel = mount.colour.pixel(in: layout, depth: depth)
    (self.rows, self.mount, pixelBytes) = (rows, mount, pixel.count)
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
    let (left, own) = (mount.place.x * pixelBytes, Int(rows.width) * pixelBytes)
    func line(_ row: Int) -> UnsafeMutablePointer<UInt8> { target + (row - reached) * empty.count }
    func fill(_ start: UnsafeMutablePointer<UInt8>, _ bytes: Range<Int>) {
      _ = UnsafeMutableBufferPointer(start: start + bytes.lowerBound, count: bytes.count)
        .update(fromContentsOf: empty[bytes])
    }
    if !lines.isEmpty {
      // Written to the end of their room and moved up from there one by one: none is written over before it is moved,
      // as no row of the picture is longer than one of the canvas.
      let written = line(lines.upperBound) - lines.count * own
      guard rows.next(rows.context, written, UInt32(lines.count)) else { return false }
      for row in lines {
        memmove(line(row) + left, written + (row - lines.lowerBound) * own, own)
        fill(line(row), 0..<left)
        fill(line(row), left + own..<empty.count)
      }
    }
    for row in wanted where !lines.contains(row) { fill(line(row), 0..<empty.count) }
    reached += count
    return true
  }
}
