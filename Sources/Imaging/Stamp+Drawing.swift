extension Stamp {
  /// Draws the stamp of `moment` on a square.
  func draw(
    _ moment: StampTime,
    on bitmap: inout Bitmap,
    name: String
  ) throws(ImagingError) {
    let layer = try StampLayer(self, moment, side: bitmap.width)
    let (xs, ys) = layer.probes
    let backdrop = Backdrop(ys.flatMap { y in xs.map { bitmap.colour($0, y) } })
    try layer.paint(on: &bitmap, over: backdrop, limits: limits, name: name)
  }

  /// Lines in their places, and the box around them.
  struct Block {
    var lines: [PlacedLine]
    var left: Double
    var top: Double
    var width: Double
    var height: Double
  }

  /// Sets the lines one under the other and places them on a square of `side`.
  func set(_ moment: StampTime, side: Double) throws(ImagingError) -> Block {
    let locale: StampLocale
    if let chosen = self.locale { locale = chosen } else { locale = try StampLocale("en") }
    let typesetter = try Typesetter(
      family: fontFamily,
      language: locale.language,
      configuration: fontConfiguration
    )
    let room = side * 0.9
    var wanted: [(text: String, size: Double, bold: Bool, limit: Double?)] = [
      (locale.time(moment.civil), side * 0.17, true, nil),
      (locale.date(moment.civil), side * 0.058, false, nil),
    ]
    if let text, !text.isEmpty { wanted.append((text, side * 0.046, false, room)) }
    var lines: [PlacedLine] = []
    var height = 0.0
    var width = 0.0
    for line in wanted {
      let layout = try typesetter.line(
        line.text,
        size: max(line.size, 1),
        bold: line.bold,
        limit: line.limit
      )
      let ink = layout.ink
      if !lines.isEmpty { height += line.size * 0.55 }
      lines.append(PlacedLine(layout: layout, size: line.size, x: -ink.x, y: height - ink.y))
      height += ink.height
      width = max(width, ink.width)
    }
    let margin = side * 0.06
    let left = along(place.isLeft, place.isRight, side, width, margin)
    let top = along(place.isTop, place.isBottom, side, height, margin)
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

  /// The rows that are darkened in full: those of the text, to the edge that it is near.
  func solid(_ block: Block, pad: Double, side: Double) -> ClosedRange<Double> {
    let top = place.isTop ? 0 : max(block.top - pad, 0)
    let bottom = place.isBottom ? side : min(block.top + block.height + pad, side)
    return top...max(bottom, top)
  }
}

/// How light it is where text is to go.
struct Backdrop: Equatable {
  /// Nearly the lightest, 0 to 1.
  let light: Double
  /// How much the light differs from place to place: its standard deviation.
  let unrest: Double

  /// The places of a grid of at most 64 × 64 pixels inside the block.
  static func probes(
    _ block: Stamp.Block,
    width: Int,
    height: Int
  ) -> (xs: [Int], ys: [Int]) {
    (steps(block.left, block.width, width), steps(block.top, block.height, height))
  }

  /// Measures the light of some pixels.
  init(_ colours: [(red: UInt8, green: UInt8, blue: UInt8)]) {
    let lights = colours.map { colour in
      (0.299 * Double(colour.red) + 0.587 * Double(colour.green) + 0.114 * Double(colour.blue))
        / 255
    }.sorted()
    let mean = lights.reduce(0, +) / Double(max(lights.count, 1))
    let variance = lights.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    unrest = (variance / Double(max(lights.count, 1))).squareRoot()
    light = lights.isEmpty ? 1 : lights[min(lights.count * 19 / 20, lights.count - 1)]
  }

  /// How black the veil has to be for white letters to stand out 4.5 to 1. (WCAG 2.2, 1.4.3)
  var strength: Double {
    // White on a grey of 0.465 has that contrast, and a veil dims what is under it in proportion.
    let needed = light > 0.465 ? 1 - 0.465 / light : 0
    return min(max(needed, 0.08) + min(unrest, 0.25) * 0.5, 0.75)
  }

  private static func steps(_ start: Double, _ length: Double, _ limit: Int) -> [Int] {
    (0..<64).map { min(max(Int(start + length * (Double($0) + 0.5) / 64), 0), limit - 1) }
  }
}
