import CZimg

/// A bitmap's rows as they are asked for, from the top, for the last time.
struct LentRows {
  /// What becomes of pixels on their way.
  private enum Change {
    case none
    /// Blue, green, red and a byte of no meaning become red, green and blue.
    case turned
  }

  /// What rows hold as they are handed out, or stand for.
  let layout: Bitmap.Layout
  /// Bits of a sample as it is handed out.
  let depth: Int
  /// What rows stand for that are indices; `layout` is theirs then.
  let colours: Bitmap.Palette.Table?
  private let change: Change
  private let rowBytes: Int
  /// The samples of the rows that have not been asked for.
  fileprivate var left = UnsafeBufferPointer<UInt8>(start: nil, count: 0)[...]
  /// Whether memory is given back behind the rows.
  fileprivate var givesBack = false

  /// The rows to be scaled: of indices, with the colours that they stand for.
  static func forScaling(_ bitmap: borrowing Bitmap) -> LentRows {
    guard case .indexed(let palette) = bitmap.layout else {
      return .plain(bitmap)
    }
    let table = Bitmap.Palette.Table(palette)
    return LentRows(table.layout, 8, .none, bitmap.rowBytes, colours: table)
  }

  /// The rows as they are.
  static func plain(_ bitmap: borrowing Bitmap) -> LentRows {
    LentRows(bitmap.layout, bitmap.depth, .none, bitmap.rowBytes)
  }

  /// The rows to be written as a PNG, which has its colours in the order red, green, blue.
  static func forPNG(_ bitmap: borrowing Bitmap) -> LentRows {
    bitmap.layout == .bgrx
      ? LentRows(.rgb, bitmap.depth, .turned, bitmap.rowBytes)
      : .plain(bitmap)
  }

  private init(
    _ layout: Bitmap.Layout,
    _ depth: Int,
    _ change: Change,
    _ rowBytes: Int,
    colours: Bitmap.Palette.Table? = nil
  ) {
    (self.layout, self.depth, self.change, self.rowBytes) = (layout, depth, change, rowBytes)
    self.colours = colours
  }

  /// Writes the next rows; false where there are not so many.
  fileprivate mutating func take(_ count: Int, _ target: UnsafeMutablePointer<UInt8>?) -> Bool {
    let bytes = count * rowBytes
    guard let target, left.count >= bytes else { return false }
    let rows = left.prefix(bytes)
    left = left.dropFirst(bytes)
    switch change {
    case .none:
      _ = UnsafeMutableBufferPointer(start: target, count: bytes).update(fromContentsOf: rows)
    case .turned:
      Bitmap.flatten(
        UnsafeBufferPointer(rebasing: rows),
        .bgrx,
        into: UnsafeMutableBufferPointer(start: target, count: bytes / 4 * 3),
        .rgb,
        on: .white
      )
    }
    if givesBack { Bitmap.giveBack(UnsafeBufferPointer(rebasing: rows)) }
    return true
  }
}

extension Bitmap {
  /// Lends the rows to C, once.
  ///
  /// A bitmap of `least` bytes or more that nobody else holds gives its memory back to the system behind them, so
  /// that what is made of them takes its place.
  ///
  /// - Parameters:
  ///   - rows: What becomes of them on their way.
  ///   - least: Bytes from which on it gives memory back.
  ///   - body: Asks for them.
  /// - Returns: What `body` returns.
  consuming func lend(
    _ rows: LentRows,
    least: Int = leastInStrips,
    _ body: (czimg_rows) -> Bool
  ) -> Bool {
    let (width, height) = (UInt32(width), UInt32(height))
    var (rows, picture) = (rows, consume self)
    func pass(_ samples: UnsafeBufferPointer<UInt8>, isLast: Bool) -> Bool {
      (rows.left, rows.givesBack) = (samples[...], isLast)
      return withUnsafeMutablePointer(to: &rows) {
        body(
          czimg_rows(
            width: width,
            height: height,
            next: { context, target, count in
              // SAFETY: `context` is `rows`, which stay where they are until `body` returns.
              context?.assumingMemoryBound(to: LentRows.self).pointee.take(Int(count), target)
                ?? false
            },
            context: UnsafeMutableRawPointer($0)
          )
        )
      }
    }
    guard picture.samples.count >= least else {
      return picture.samples.withUnsafeBufferPointer { pass($0, isLast: false) }
    }
    return picture.samples.withUnsafeMutableBufferPointer {
      pass(UnsafeBufferPointer($0), isLast: true)
    }
  }
}

extension czimg_rows {
  /// Asks for the rows a strip at a time.
  ///
  /// - Parameters:
  ///   - rowBytes: Bytes of a row.
  ///   - last: The last row that is wanted; nil for all.
  ///   - body: Takes a strip's bytes, its first row and how many there are.
  /// - Returns: Whether all of them came.
  func inStrips(
    of rowBytes: Int,
    through last: Int? = nil,
    _ body: (UnsafeBufferPointer<UInt8>, _ first: Int, _ count: Int) -> Void
  ) -> Bool {
    let height = Int(height)
    let atOnce = min(PNGCodec.rowsAtOnce(rowBytes), height)
    var strip = [UInt8](repeating: 0, count: atOnce * rowBytes)
    return strip.withUnsafeMutableBufferPointer { strip in
      for first in stride(from: 0, through: last ?? height - 1, by: atOnce) {
        let count = min(atOnce, height - first)
        guard next(context, strip.baseAddress, UInt32(count)) else { return false }
        body(UnsafeBufferPointer(rebasing: strip[..<(count * rowBytes)]), first, count)
      }
      return true
    }
  }

  /// Asks for all rows and lays them where they belong in the upright picture.
  ///
  /// - Parameters:
  ///   - turning: Where they belong.
  ///   - rowBytes: Bytes of a row.
  ///   - target: The samples of the upright picture.
  /// - Returns: Whether all of them came.
  func lay(
    by turning: Turning,
    _ rowBytes: Int,
    into target: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    inStrips(of: rowBytes) { strip, first, count in
      guard let rows = strip.baseAddress else { return }
      turning.lay(rows, first: first, count: count, into: target)
    }
  }
}
