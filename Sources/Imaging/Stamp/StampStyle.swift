import Glibc

/// How the letters of a stamp are made to stand out from the picture.
public enum StampStyle: String, Sendable, CaseIterable, Codable {
  /// Letters without a background.
  ///
  /// They get a thin soft shadow if the picture requires it.
  case plain
  /// A translucent layer with soft edges, a scrim, behind the text.
  ///
  /// It is hardly taller than the text, and just strong enough to make the letters legible.
  case scrim
  /// White letters on a dark band from side to side.
  ///
  /// The band reaches the edge near the text, and fades into the picture on its other side.
  case bar
}

/// The colour of letters.
enum StampInk: Equatable {
  case black
  case white

  var opposite: Self { self == .black ? .white : .black }

  /// The value of every colour channel: 0 for black, and 1 for white.
  var light: Double { self == .white ? 1 : 0 }
}

/// How the letters of a stamp are adapted to the picture behind them: their colour, and the strength of the scrim.
///
/// A scrim is a translucent layer behind letters.
struct Backdrop: Equatable {
  typealias Colour = (red: UInt8, green: UInt8, blue: UInt8)

  /// The contrast that letters must have on the scrim.
  ///
  /// It is a little more than the 7:1 of WCAG 2.2, 1.4.6, because samples are rounded to integers, and because a JPEG
  /// changes them slightly.
  static let contrast = 7.5
  /// The lowest contrast at which large letters are easy to read. (WCAG 2.2, 1.4.3)
  static let readable = 3.0
  /// The strength of a bar, with which white letters have a contrast of 7.5:1 on a white picture.
  static let barStrength = 0.7

  /// The colour of the letters.
  ///
  /// On a bar, it is white. Otherwise it is the colour whose scrim changes the picture less.
  let ink: StampInk
  /// The strength of the scrim, from 0 to 1.
  ///
  /// The colour of the scrim is the opposite of `ink`.
  let strength: Double
  /// The lowest contrast of the letters with the pixels behind them, from 1 to 21.
  ///
  /// For the style `plain`, the shadow does not count.
  let leastContrast: Double

  /// The columns and the rows of a grid of at most 128 × 64 pixels behind the text.
  static func probes(_ block: Stamp.Block, size: PixelSize) -> (xs: [Int], ys: [Int]) {
    func steps(_ start: Double, _ length: Double, _ limit: Int, most: Int) -> [Int] {
      let count = min(max(Int(length.rounded(.up)), 1), most)
      return (0..<count).map {
        min(max(Int(start + length * (Double($0) + 0.5) / Double(count)), 0), limit - 1)
      }
    }
    return (
      steps(block.left, block.width, size.width, most: 128),
      steps(block.top, block.height, size.height, most: 64)
    )
  }

  /// The backdrop of a style that does not depend on the picture; nil for other styles.
  ///
  /// A bar is as dark on every picture. White is the picture on which its letters have the least contrast.
  init?(always style: StampStyle) {
    guard style == .bar else { return nil }
    self.init([(255, 255, 255)], style: style)
  }

  /// Chooses the ink and the scrim by the colours of pixels behind the text.
  init(_ colours: [Colour], style: StampStyle = .bar) {
    // A scrim hardly changes which colours are the lightest or the darkest. So the 64 lightest colours suffice for
    // white letters, and the 64 darkest for black letters.
    let sorted = colours.sorted { Self.luminance($0, .black, 0) < Self.luminance($1, .black, 0) }
    let white = Self.veil(Array(sorted.suffix(64)), for: .white)
    let black = Self.veil(Array(sorted.prefix(64)), for: .black)
    // The strengths are weighted by the mean brightness, so that a single light spot does not cause a white scrim over
    // a dark picture.
    let sum = colours.reduce(0) { $0 + Int($1.red) + Int($1.green) + Int($1.blue) }
    let mean = Double(sum) / Double(max(colours.count, 1) * 3 * 255)
    let isWhite = style == .bar || white * mean <= black * (1 - mean)
    ink = isWhite ? .white : .black
    strength = style == .bar ? Self.barStrength : isWhite ? white : black
    let (letters, laid) = (ink, style == .plain ? 0 : strength)
    leastContrast =
      (isWhite ? sorted.suffix(64) : sorted.prefix(64))
      .map { Self.contrast($0, letters, behind: laid) }.min() ?? 21
  }

  /// The strength of the weakest scrim, in steps of a hundredth, on which letters reach the contrast with all colours.
  private static func veil(_ colours: [Colour], for ink: StampInk) -> Double {
    let strengths = (0..<100).lazy.map { Double($0) / 100 }
    return strengths.first { strength in
      colours.allSatisfy { contrast($0, ink, behind: strength) >= contrast }
    } ?? 1
  }

  /// The contrast between letters and a colour that is covered by a scrim.
  private static func contrast(_ colour: Colour, _ ink: StampInk, behind strength: Double)
    -> Double
  {
    let ground = luminance(colour, ink.opposite, strength) + 0.05
    let letter = ink.light + 0.05
    return max(ground, letter) / min(ground, letter)
  }

  /// The relative luminance of a colour that is covered by a scrim. (WCAG 2.2)
  private static func luminance(_ colour: Colour, _ veil: StampInk, _ strength: Double) -> Double {
    func linear(_ value: UInt8) -> Double {
      let mixed = Double(value) * (1 - strength) + 255 * veil.light * strength
      return lights[min(max(Int(mixed.rounded()), 0), 255)]
    }
    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green)
      + 0.0722 * linear(colour.blue)
  }

  /// The linear light of each sRGB sample, from 0 to 255.
  private static let lights = (0..<256).map { value in
    let share = Double(value) / 255
    return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
  }

}

/// A scrim, which is a translucent layer behind letters, over a part of a picture.
///
/// It has its full strength inside the box, and no strength at a distance of `fade` pixels or more from the box.
struct StampVeil: Equatable {
  let columns: ClosedRange<Double>
  let rows: ClosedRange<Double>
  let fade: Double

  /// The share of the full strength that the scrim has at a column.
  func column(_ x: Double) -> Double { share(x, columns) }
  func row(_ y: Double) -> Double { share(y, rows) }

  /// An eased ramp from 1 to 0, because the start of a linear ramp would be visible.
  private func share(_ place: Double, _ full: ClosedRange<Double>) -> Double {
    let away = max(full.lowerBound - place, place - full.upperBound, 0)
    guard away > 0 else { return 1 }
    guard away < fade else { return 0 }
    let part = 1 - away / fade
    return part * part * (3 - 2 * part)
  }
}
