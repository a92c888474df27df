import CZimg

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
