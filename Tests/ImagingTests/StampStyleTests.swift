import Glibc
import Testing

@testable import Imaging

/// The look of stamps: the positions, the text, and the scrim, which is the shade behind the letters.
struct StampStyleTests {
  static let grounds = [
    "white", "black", "grey", "busy", "half", "spot", "orange", "blue",
  ]

  private static func stamp(_ style: StampStyle) throws -> Stamp {
    var stamp = Stamp(time: try StampTime.Choice("2021-01-13T06:30:00+09:00"))
    stamp.style = style
    return stamp
  }

  private static func ground(_ name: String) throws -> Bitmap {
    let (width, height) = (300, 300)
    var seed: UInt32 = 7
    var samples: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        switch name {
        case "white": samples += [255, 255, 255]
        case "black": samples += [0, 0, 0]
        case "grey": samples += [128, 128, 128]
        case "orange": samples += [240, 140, 20]
        case "blue": samples += [40, 60, 250]
        case "spot": samples += (x / 6, y / 6) == (10, 42) ? [250, 250, 240] : [30, 24, 20]
        case "half": samples += x < width / 4 ? [255, 255, 255] : [0, 0, 0]
        default:
          for _ in 0..<3 {
            seed = seed &* 1_664_525 &+ 1_013_904_223
            samples.append(UInt8(seed >> 24))
          }
        }
      }
    }
    return Bitmap(width: width, height: height, layout: .rgb, samples: samples)
  }

  /// Relative luminance. (WCAG 2.2)
  private static func luminance(_ pixel: [UInt16]) -> Double {
    let light = pixel.prefix(3).map { value in
      let share = Double(value) / 255
      return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
  }

  private static func layer(_ stamp: Stamp, _ size: PixelSize) throws -> Stamp.Block {
    try stamp.set(StampTime(stamp, name: "x"), size: size)
  }

  @Test(arguments: grounds, [StampStyle.scrim, .bar])
  func `letters have a contrast of 7 to 1 to everything behind them`(
    _ name: String,
    _ style: StampStyle
  ) throws {
    let bitmap = try Self.ground(name)
    let stamp = try Self.stamp(style)
    let block = try Self.layer(stamp, PixelSize(side: 300))
    let columns = Int(block.left)..<Int(block.left + block.width)
    let rows = Int(block.top)..<Int(block.top + block.height)
    let colours = bitmap.colours(columns: Array(columns), rows: Array(rows))
    let backdrop = Backdrop(colours, style: style)
    let size = PixelSize(side: 300)
    var behind = bitmap
    let veil = try #require(stamp.veil(block, size: size))
    let canvas = try Canvas(width: 300, height: 300, name: "x")
    canvas.cover(
      veil,
      from: 0,
      backdrop.ink.opposite,
      strength: backdrop.strength
    )
    behind.paint { canvas.blend(on: $0, $1, of: $2, x: 0, y: 0) }

    let made = try decoded(stamp.apply(to: PictureFile(bitmap.png())).bytes)

    let letter = backdrop.ink.light + 0.05
    let least =
      rows.flatMap { y in columns.map { Self.luminance(behind[$0, y]) + 0.05 } }
      .map { max($0, letter) / min($0, letter) }.min() ?? 0
    #expect(least >= 7)
    let full = UInt16(backdrop.ink.light * 255)
    let inked = rows.flatMap { y in columns.filter { made[$0, y] == [full, full, full] } }
    #expect(inked.count > 500)
  }

  @Test(
    arguments: [
      (.rgb, 8, [200, 100, 0], 128, 0, [100, 50, 0]),
      (.rgb, 8, [200, 100, 0], 128, 128, [228, 178, 128]),
      (.rgb, 8, [200, 100, 0], 255, 255, [255, 255, 255]),
      (.rgb, 16, [65535, 257, 0], 128, 0, [32639, 128, 0]),
      (.rgba, 8, [200, 100, 0, 0], 128, 128, [255, 255, 255, 128]),
      (.rgba, 8, [200, 100, 0, 255], 51, 0, [160, 80, 0, 255]),
      (.rgba, 16, [65535, 0, 257, 65535], 0, 0, [65535, 0, 257, 65535]),
    ] as [(Bitmap.Layout, Int, [UInt16], UInt8, UInt8, [UInt16])]
  )
  func `a drawing is composited by its alpha, in the layout and depth of the picture`(
    _ layout: Bitmap.Layout,
    _ depth: Int,
    _ below: [UInt16],
    _ alpha: UInt8,
    _ light: UInt8,
    _ expected: [UInt16]
  ) throws {
    let samples = below.flatMap { depth == 16 ? [UInt8($0 & 255), UInt8($0 >> 8)] : [UInt8($0)] }
    var picture = Bitmap(width: 1, height: 1, layout: layout, depth: depth, samples: samples)
    let share = Double(alpha) / 255
    let canvas = try Canvas(width: 1, height: 1, name: "x")
    let veil = StampVeil(columns: 0...1, rows: 0...1, fade: 1)
    canvas.cover(veil, from: 0, light == 0 ? .black : .white, strength: share)

    picture.paint { canvas.blend(on: $0, $1, of: $2, x: 0, y: 0) }

    #expect(picture[0, 0] == expected)
  }

  @Test(arguments: grounds)
  func `hard-to-read letters without a scrim are remarked on`(_ name: String) throws {
    let file = try PictureFile(Self.ground(name).png())
    for style in StampStyle.allCases {
      let remarks = try Self.stamp(style).apply(to: file).remarks

      let isFaint = style == .plain && ["busy", "half", "spot"].contains(name)
      #expect(remarks.contains(.faintText) == isFaint, "\(style)")
    }
  }

  @Test(arguments: ["white", "black"])
  func `no scrim is drawn where letters can be read without one`(_ name: String) throws {
    let bitmap = try Self.ground(name)
    let made = try decoded(Self.stamp(.scrim).apply(to: PictureFile(bitmap.png())).bytes)

    let block = try Self.layer(try Self.stamp(.scrim), PixelSize(side: 300))
    // These positions are to the left of the letters: above them, at their top, and below them.
    for y in [Int(block.top) - 3, Int(block.top) + 5, Int(block.top + block.height) + 4] {
      #expect(made[Int(block.left) - 4, y] == bitmap[0, 0])
    }
  }

  @Test(arguments: [
    ("white", StampInk.black), ("grey", .black), ("orange", .black), ("black", .white),
    ("blue", .white), ("spot", .white),
  ])
  func `letters are dark on a bright background, and light on a dark one with a bright spot`(
    _ name: String,
    _ ink: StampInk
  ) throws {
    let bitmap = try Self.ground(name)
    let colours = bitmap.colours(columns: Array(18..<200), rows: Array(200..<280))

    #expect(Backdrop(colours, style: .scrim).ink == ink)
    #expect(Backdrop(colours, style: .plain).ink == ink)
    #expect(Backdrop(colours, style: .bar).ink == .white)
  }

  @Test(arguments: [Gravity.bottomLeft, .top, .centre])
  func `a bar reaches the edge near its text, and fades into the picture`(
    _ place: Gravity
  ) throws {
    let bitmap = try Self.ground("white")
    var stamp = try Self.stamp(.bar)
    stamp.place = place
    let block = try Self.layer(stamp, PixelSize(side: 300))

    let made = try decoded(stamp.apply(to: PictureFile(bitmap.png())).bytes)

    let column = (0..<300).map { Int(made[299, $0][0]) }
    let (top, bottom) = (Int(block.top), Int(block.top + block.height))
    let dark = place.isTop ? 0..<bottom : place.isBottom ? top..<300 : top..<bottom
    #expect(column[dark].allSatisfy { $0 == column[dark.lowerBound] && $0 < 90 })
    // Beyond the bar the picture becomes gradually lighter, row by row, until it is unchanged.
    let (above, below) = (column[..<dark.lowerBound], column[dark.upperBound...])
    #expect(place.isTop || above.first == 255 && above.last.map { $0 < 130 } == true)
    #expect(place.isBottom || below.last == 255 && below.first.map { $0 < 130 } == true)
    #expect(zip(column, column.dropFirst()).allSatisfy { abs($0 - $1) < 12 })
  }

  @Test(arguments: [StampStyle.plain, .scrim])
  func `a stamp changes a third of a busy square at most, and only within its height`(
    _ style: StampStyle
  ) throws {
    let bitmap = try Self.ground("busy")
    let made = try decoded(Self.stamp(style).apply(to: PictureFile(bitmap.png())).bytes)
    let block = try Self.layer(try Self.stamp(style), PixelSize(side: 300))

    let changed = (0..<300).flatMap { y in
      (0..<300).filter { made[$0, y] != bitmap[$0, y] }.map { (x: $0, y: y) }
    }

    #expect(changed.count > 2000 && changed.count < 300 * 300 / 3)
    #expect((changed.map(\.y).min() ?? 0) >= Int(block.top) - 20)
    #expect((changed.map(\.y).max() ?? 0) <= Int(block.top + block.height) + 20)
  }

  @Test(arguments: Gravity.allCases)
  func `text is placed where asked, on every shape`(_ place: Gravity) throws {
    for size in [
      PixelSize(side: 300), PixelSize(width: 900, height: 120), PixelSize(width: 90, height: 700),
    ] {
      var stamp = try Self.stamp(.scrim)
      stamp.place = place

      let block = try Self.layer(stamp, size)

      let (width, height) = (Double(size.width), Double(size.height))
      #expect(block.left >= 0 && block.left + block.width <= width)
      #expect(block.top >= 0 && block.top + block.height <= height)
      let right = width - block.left - block.width
      let bottom = height - block.top - block.height
      if place.isLeft { #expect(block.left <= right + 1) }
      if place.isRight { #expect(right <= block.left + 1) }
      if !place.isLeft, !place.isRight { #expect(abs(block.left - right) < 1) }
      if place.isTop { #expect(block.top <= bottom) }
      if place.isBottom { #expect(bottom <= block.top) }
    }
  }

  @Test(arguments: [
    ("{time} {date} {weekday}", ["6:30 AM January 13, 2021 Wed"], [false]),
    (#"{time}\n{date}"#, ["6:30 AM", "January 13, 2021"], [true, false]),
    ("{date}\n{time24}", ["January 13, 2021", "06:30"], [false, true]),
    (#"a\b {time12}"#, [#"a\b 6:30 AM"#], [false]),
  ])
  func `a template gives the text, line by line`(
    _ template: String,
    _ lines: [String],
    _ clocks: [Bool]
  ) throws {
    let civil = CivilTime(seconds: 1_610_487_000, offset: 9 * 3600)

    let made = try StampTemplate(template).lines(civil, StampLocale("en_US"))

    #expect(made.map(\.text) == lines)
    #expect(made.map(\.isClock) == clocks)
  }

  @Test(arguments: ["{hour}", "{}", "{time", "", #"\n"#])
  func `a template with unknown fields, or none, is a usage error`(_ template: String) {
    #expect { try StampTemplate(template) } throws: {
      let words = template.contains("}") ? "{weekday}" : "cannot stamp"
      return ($0 as? ImagingError)?.code == .usage && "\($0)".contains(words)
    }
  }

  @Test func `text smaller than nine pixels is remarked on`() throws {
    let file = try PictureFile(Self.ground("white").png())
    var stamp = try Self.stamp(.scrim)
    stamp.crop.size = 80
    let small = try stamp.apply(to: file).remarks
    stamp.crop.size = 200

    #expect(small == [.smallText])
    #expect(try stamp.apply(to: file).remarks.isEmpty)
  }

  @Test func `a font that is not installed is an error that names it`() throws {
    let file = try PictureFile(Self.ground("white").png())
    var stamp = try Self.stamp(.scrim)
    stamp.font = "sans"
    #expect(try stamp.apply(to: file).width == 300)
    stamp.font = "No Such Family"

    #expect { try stamp.apply(to: file) } throws: { error in
      "\(error)".contains("cannot draw text in No Such Family")
    }
  }
}

extension Bitmap {
  /// Calls `body` with all rows, their indices, and their layout.
  mutating func paint(_ body: (UnsafeMutablePointer<UInt8>, Range<Int>, RowShape) -> Void) {
    let shape = shape
    samples.withUnsafeMutableBufferPointer {
      if let start = $0.baseAddress { body(start, 0..<shape.height, shape) }
    }
  }
}

extension StampLayer {
  /// Writes the text on a whole picture, `count` rows at a time.
  func write(on bitmap: inout Bitmap, over backdrop: Backdrop, strip count: Int? = nil) throws {
    var next = rows.lowerBound
    while next < rows.upperBound {
      let strip = try strip(from: next, over: backdrop, count: count)
      bitmap.paint { strip.canvas.blend(on: $0, $1, of: $2, x: 0, y: next) }
      next = strip.rows.upperBound
    }
  }
}
