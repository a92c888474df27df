extension Stamp {
  /// Draws the stamp of `moment` on a picture, and says what is to be known of it.
  func draw(
    _ moment: StampTime,
    on bitmap: inout Bitmap,
    name: String
  ) throws(ImagingError) -> Set<EncodedPicture.Remark> {
    let size = PixelSize(width: bitmap.width, height: bitmap.height)
    let layer = try StampLayer(self, moment, size: size)
    let (xs, ys) = layer.probes
    let backdrop = Backdrop(ys.flatMap { y in xs.map { bitmap.colour($0, y) } }, style: style)
    try layer.paint(on: &bitmap, over: backdrop, limits: limits, name: name)
    return layer.remarks(over: backdrop)
  }

  /// Lines in their places, and the box around them.
  struct Block {
    var lines: [PlacedLine]
    var left: Double
    var top: Double
    var width: Double
    var height: Double
  }

  /// What letters and margins are measured by: the side of a square, and of other pictures what
  /// neither a short nor a narrow one has too little room for.
  static func unit(of size: PixelSize) -> Double {
    let (width, height) = (Double(size.width), Double(size.height))
    return min((width * height).squareRoot(), min(width, height) * 1.25)
  }

  /// The lines that are to be set, and whether each is a clock.
  private func wanted(
    _ moment: StampTime,
    _ locale: StampLocale
  ) -> [(text: String, isClock: Bool)] {
    template?.lines(moment.civil, locale)
      ?? [(locale.time(moment.civil), true), (locale.date(moment.civil), false)]
  }

  /// Sets the lines one under the other and places them on a picture of `size`.
  func set(_ moment: StampTime, size: PixelSize) throws(ImagingError) -> Block {
    let locale: StampLocale
    if let chosen = self.locale { locale = chosen } else { locale = try StampLocale("en") }
    let typesetter = try Typesetter(
      family: font.map { "\($0), \(fontFamily)" } ?? fontFamily,
      language: locale.language,
      configuration: fontConfiguration
    )
    let unit = Self.unit(of: size)
    let margin = unit * 0.06
    let room = max(Double(size.width) - 2 * margin, 1)
    var lines: [PlacedLine] = []
    var height = 0.0
    var width = 0.0
    func add(
      _ text: String,
      _ wanted: Double,
      isBold: Bool,
      isCut: Bool
    ) throws(ImagingError) {
      var size = max(wanted, 1)
      var layout = try typesetter.line(text, size: size, bold: isBold, limit: isCut ? room : nil)
      if !isCut, layout.ink.width > room {
        size = max(size * room / layout.ink.width, 1)
        layout = try typesetter.line(text, size: size, bold: isBold, limit: nil)
      }
      let ink = layout.ink
      if !lines.isEmpty { height += size * 0.55 }
      lines.append(PlacedLine(layout: layout, size: size, x: -ink.x, y: height - ink.y))
      height += ink.height
      width = max(width, ink.width)
    }
    // The date is as heavy as the clock.
    for line in wanted(moment, locale) {
      try add(line.text, unit * (line.isClock ? 0.16 : 0.064), isBold: true, isCut: false)
    }
    if let text, !text.isEmpty { try add(text, unit * 0.05, isBold: false, isCut: true) }
    let left = along(place.isLeft, place.isRight, Double(size.width), width, margin)
    let top = along(place.isTop, place.isBottom, Double(size.height), height, margin)
    for index in lines.indices {
      let spare = width - lines[index].layout.ink.width
      lines[index].x += left + (place.isLeft ? 0 : place.isRight ? spare : spare / 2)
      lines[index].y += top
    }
    return Block(lines: lines, left: left, top: top, width: width, height: height)
  }

  private func along(
    _ isNear: Bool,
    _ isFar: Bool,
    _ side: Double,
    _ length: Double,
    _ margin: Double
  ) -> Double {
    isNear ? margin : isFar ? side - margin - length : (side - length) / 2
  }

  /// What is veiled behind a block; nothing of it where letters stand alone.
  func veil(_ block: Block, size: PixelSize) -> StampVeil? {
    let unit = Self.unit(of: size)
    let pad = unit * (style == .bar ? 0.035 : 0.015)
    let rows = block.top - pad...block.top + block.height + pad
    switch style {
    case .plain: return nil
    case .scrim:
      let columns = block.left - pad...block.left + block.width + pad
      return StampVeil(columns: columns, rows: rows, fade: unit * 0.05)
    case .bar:
      // Whole rows: an edge of half a row would be neither band nor picture.
      // Nor is a sliver of picture left beside the edge that the text is near.
      let top = place.isTop ? 0 : rows.lowerBound.rounded(.down)
      let bottom = place.isBottom ? Double(size.height) : rows.upperBound.rounded(.up)
      let even = top...max(top, bottom)
      return StampVeil(columns: 0...Double(size.width), rows: even, fade: 0)
    }
  }
}
