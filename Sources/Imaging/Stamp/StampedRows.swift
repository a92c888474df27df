import Base

/// The rows of a picture with a stamp on them.
///
/// The colour of the letters can depend on the pixels behind them. Then the rows behind the text are held in memory
/// until their brightness is measured, so that the picture is decoded only once. The text is drawn in strips of a few
/// rows, as they are read.
final class StampedRows: RowSource {
  let shape: RowShape
  private let source: any RowSource
  private let layer: StampLayer
  private let stamp: Stamp
  private let name: String
  /// The ink and the scrim; nil until the rows behind the text are measured.
  private var backdrop: Backdrop?
  /// The rows that were measured, until they have been read; otherwise nil.
  private var held: BitmapRows?
  /// The strip of text that was drawn last.
  private var text: StampLayer.Strip?
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
    if let fixed = Backdrop(always: stamp.style) { lay(on: fixed) }
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    let (measured, end) = (layer.measuredRows, reached + count)
    var target = target
    while reached < end {
      if backdrop == nil, reached == measured.lowerBound { try measure() }
      let border = held != nil ? measured.upperBound : backdrop == nil ? measured.lowerBound : end
      let rows = reached..<min(end, border)
      if let held {
        held.read(rows.count, into: target)
      } else {
        try source.read(rows.count, into: target)
      }
      if rows.upperBound == measured.upperBound { held = nil }
      if let backdrop { try writeText(on: target, rows, over: backdrop) }
      layer.paintLogo(on: target, rows, of: shape)
      target += rows.count * shape.rowBytes
      reached = rows.upperBound
    }
  }

  /// Reads the rows behind the text, and chooses the ink and the scrim by their colours.
  private func measure() throws(LarderError) {
    let (xs, ys) = layer.probes
    let (first, limits) = (layer.measuredRows.lowerBound, stamp.limits.named(name))
    let rows = try source.bitmap(of: layer.measuredRows.count, limits)
    let picked = rows.picked(columns: xs, rows: ys.map { $0 - first })
    let samples = try BitmapRows(picked).flattened(.rgb).collected(limits).samples
    let colours = stride(from: 0, to: samples.count, by: 3).map {
      (samples[$0], samples[$0 + 1], samples[$0 + 2])
    }
    held = BitmapRows(consume rows)
    lay(on: Backdrop(colours, style: stamp.style))
  }

  private func lay(on backdrop: Backdrop) {
    self.backdrop = backdrop
    remarks = layer.remarks(over: backdrop)
  }

  /// Writes the text on some rows of the picture, as far as it covers them.
  private func writeText(
    on pixels: UnsafeMutablePointer<UInt8>,
    _ rows: Range<Int>,
    over backdrop: Backdrop
  ) throws(LarderError) {
    let covered = rows.clamped(to: layer.rows)
    var next = covered.lowerBound
    while next < covered.upperBound {
      let strip: StampLayer.Strip
      if let text, text.rows.contains(next) {
        strip = text
      } else {
        strip = try layer.strip(from: next, over: backdrop)
      }
      text = strip
      strip.canvas.blend(on: pixels, rows, of: shape, x: 0, y: strip.rows.lowerBound)
      next = strip.rows.upperBound
    }
  }
}
