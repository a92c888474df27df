import Base

/// The rows of a picture with a stamp on them.
///
/// The rows behind the text are held in memory until the brightness there is measured, so that the picture is decoded
/// only once.
final class StampedRows: RowSource {
  let shape: RowShape
  private let source: any RowSource
  private let layer: StampLayer
  private let stamp: Stamp
  private let name: String
  /// The rows behind the text with the text on them, while they are being read; otherwise nil.
  private var text: BitmapRows?
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
    (self.source, self.stamp, self.name, shape) = (source, stamp, name, source.shape)
    layer = try StampLayer(stamp, moment, size: source.shape.size, name: name)
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    let (held, end) = (layer.heldRows, reached + count)
    var target = target
    while reached < end {
      let isHeld = held.contains(reached)
      let border = isHeld ? held.upperBound : reached < held.lowerBound ? held.lowerBound : end
      let rows = reached..<min(end, border)
      if isHeld {
        let text: BitmapRows
        if let begun = self.text { text = begun } else { text = try withText() }
        text.read(rows.count, into: target)
        self.text = rows.upperBound == held.upperBound ? nil : text
      } else {
        try source.read(rows.count, into: target)
      }
      layer.paintLogo(on: target, rows, of: shape)
      target += rows.count * shape.rowBytes
      reached = rows.upperBound
    }
  }

  /// Reads the rows behind the text, and paints the text on them.
  private func withText() throws(LarderError) -> BitmapRows {
    let (xs, ys) = layer.probes
    let first = layer.heldRows.lowerBound
    var rows = try source.bitmap(of: layer.heldRows.count, stamp.limits, name: name)
    let backdrop = Backdrop(
      rows.colours(columns: xs, rows: ys.map { $0 - first }),
      style: stamp.style
    )
    remarks = layer.remarks(over: backdrop)
    try layer.paint(on: &rows, first: first, over: backdrop)
    return BitmapRows(consume rows)
  }
}
