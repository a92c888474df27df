import Base

/// The rows of a picture with a stamp on them.
///
/// The rows behind the text are held in memory until the brightness there is measured, so that the picture is decoded
/// only once.
final class StampedRows: RowSource {
  let shape: RowShape
  private let source: any RowSource
  private let layer: StampLayer
  /// The rows behind the text.
  private let held: Range<Int>
  /// The rows under the logo.
  private let logo: Range<Int>
  private let style: StampStyle
  private let limits: PictureLimits
  private let name: String
  /// The rows behind the text, with the stamp painted on them.
  private var block: Bitmap?
  private var reached = 0
  /// The warnings about the stamp.
  ///
  /// They are complete once all rows have been read.
  private(set) var remarks: Set<EncodedPicture.Remark> = []

  /// Lays out the stamp for `moment`, the time to show; `source` has rows of RGB.
  ///
  /// - Throws: ``LarderError`` when there is no font, or the logo cannot be read.
  init(
    _ source: any RowSource,
    _ stamp: Stamp,
    _ moment: StampTime,
    name: String
  ) throws(LarderError) {
    (self.source, self.name, shape) = (source, name, source.shape)
    (style, limits) = (stamp.style, stamp.limits)
    layer = try StampLayer(stamp, moment, size: source.shape.size)
    (held, logo) = (layer.heldRows, layer.logoRows)
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    let end = reached + count
    var target = target
    while reached < end {
      if held.contains(reached) {
        let block: Bitmap
        if let held = self.block { block = held } else { block = try painted() }
        let rows = reached..<min(end, held.upperBound)
        copy(block, rows.lowerBound - held.lowerBound, rows.count, &target)
        self.block = rows.upperBound == held.upperBound ? nil : block
        reached = rows.upperBound
        continue
      }
      var next = reached < held.lowerBound ? min(end, held.lowerBound) : end
      if logo.contains(reached) {
        next = min(next, logo.upperBound)
        var rows = try source.bitmap(of: next - reached, limits, name: name)
        try layer.paintLogo(on: &rows, first: reached, limits: limits, name: name)
        copy(rows, 0, rows.height, &target)
      } else {
        if reached < logo.lowerBound { next = min(next, logo.lowerBound) }
        try source.read(next - reached, into: target)
        target += (next - reached) * shape.rowBytes
      }
      reached = next
    }
  }

  /// Reads the rows behind the text, and paints the stamp on them.
  private func painted() throws(LarderError) -> Bitmap {
    var rows = try source.bitmap(of: held.count, limits, name: name)
    let (xs, ys) = layer.probes
    let backdrop = Backdrop(
      rows.colours(columns: xs, rows: ys.map { $0 - held.lowerBound }),
      style: style
    )
    remarks = layer.remarks(over: backdrop)
    try layer.paint(
      on: &rows,
      first: held.lowerBound,
      over: backdrop,
      limits: limits,
      name: name
    )
    try layer.paintLogo(on: &rows, first: held.lowerBound, limits: limits, name: name)
    return rows
  }

  private func copy(
    _ rows: Bitmap,
    _ first: Int,
    _ count: Int,
    _ target: inout UnsafeMutablePointer<UInt8>
  ) {
    let bytes = count * shape.rowBytes
    rows.samples.withUnsafeBufferPointer {
      let part = $0[first * shape.rowBytes..<first * shape.rowBytes + bytes]
      _ = UnsafeMutableBufferPointer(start: target, count: bytes).update(fromContentsOf: part)
    }
    target += bytes
  }
}
