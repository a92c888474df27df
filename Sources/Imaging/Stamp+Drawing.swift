extension Stamp {
  /// Draws the stamp of `moment` on a square.
  func draw(
    _ moment: StampTime,
    on bitmap: inout Bitmap,
    name: String
  ) throws(ImagingError) {
    let block = try set(moment, side: Double(bitmap.width))
    let pad = Double(bitmap.width) * 0.035
    let fade = Double(bitmap.width) * 0.14
    let solid = solid(block, pad: pad, side: Double(bitmap.height))
    let top = max(Int(solid.lowerBound - fade), 0)
    let bottom = min(Int((solid.upperBound + fade).rounded(.up)), bitmap.height)
    guard bottom > top, let canvas = Canvas(width: bitmap.width, height: bottom - top) else {
      throw .tooLarge(name, "there is not enough memory")
    }
    let backdrop = Backdrop(bitmap, block)
    let from = Double(top)
    canvas.darken(
      solid.lowerBound - from...solid.upperBound - from,
      fade: fade,
      strength: backdrop.strength
    )
    canvas.write(
      block.lines.map {
        PlacedLine(layout: $0.layout, size: $0.size, x: $0.x, y: $0.y - from)
      }
    )
    try bitmap.blend(canvas, x: 0, y: top, limits: limits, name: name)
    if let logo { try draw(logo, on: &bitmap, name: name) }
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
  private func set(_ moment: StampTime, side: Double) throws(ImagingError) -> Block {
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
  private func solid(_ block: Block, pad: Double, side: Double) -> ClosedRange<Double> {
    let top = place.isTop ? 0 : max(block.top - pad, 0)
    let bottom = place.isBottom ? side : min(block.top + block.height + pad, side)
    return top...max(bottom, top)
  }

  private func draw(
    _ logo: PictureFile,
    on bitmap: inout Bitmap,
    name: String
  ) throws(ImagingError) {
    let picture = try Bitmap(decoding: logo, limits: limits)
    let drawable =
      picture.layout == .bgrx || picture.layout == .cmyk
      ? picture.flattened(.rgb) : picture
    // As high as the time, and not wider than two fifths.
    let side = Double(bitmap.width)
    let scale = min(
      side * 0.13 / Double(picture.height),
      side * 0.4 / Double(picture.width)
    )
    let width = max(Int(Double(picture.width) * scale), 1)
    let height = max(Int(Double(picture.height) * scale), 1)
    guard let source = Canvas(drawable), let canvas = Canvas(width: width, height: height) else {
      throw .tooLarge(logo.name, "there is not enough memory")
    }
    canvas.draw(source)
    let margin = Int(side * 0.06)
    try bitmap.blend(
      canvas,
      x: place.isRight ? margin : max(bitmap.width - margin - width, 0),
      y: place.isTop ? max(bitmap.height - margin - height, 0) : margin,
      limits: limits,
      name: name
    )
  }
}

/// How light it is where text is to go.
struct Backdrop: Equatable {
  /// Nearly the lightest, 0 to 1.
  let light: Double
  /// How much the light differs from place to place: its standard deviation.
  let unrest: Double

  /// Measures a grid of at most 64 × 64 pixels inside the block.
  init(_ bitmap: Bitmap, _ block: Stamp.Block) {
    let xs = Self.steps(block.left, block.width, bitmap.width)
    let ys = Self.steps(block.top, block.height, bitmap.height)
    let lights = ys.flatMap { y in
      xs.map { x in
        let colour = bitmap.colour(x, y)
        return
          (0.299 * Double(colour.red) + 0.587 * Double(colour.green) + 0.114 * Double(colour.blue))
          / 255
      }
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

extension Gravity {
  var isLeft: Bool { self == .left || self == .topLeft || self == .bottomLeft }
  var isRight: Bool { self == .right || self == .topRight || self == .bottomRight }
  var isTop: Bool { self == .top || self == .topLeft || self == .topRight }
  var isBottom: Bool { self == .bottom || self == .bottomLeft || self == .bottomRight }
}
