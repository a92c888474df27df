/// A colour, which can be read as CSS writes it, for example the background of a picture.
public struct PictureColour: Sendable, Hashable, Codable {
  /// Red, 0 to 255.
  public var red: UInt8
  /// Green, 0 to 255.
  public var green: UInt8
  /// Blue, 0 to 255.
  public var blue: UInt8
  /// Alpha: 0 is transparent, 255 opaque.
  public var alpha: UInt8

  /// Makes a colour, which is opaque by default.
  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  /// White.
  public static let white = PictureColour(red: 255, green: 255, blue: 255)
  /// Fully transparent.
  public static let transparent = PictureColour(red: 0, green: 0, blue: 0, alpha: 0)

  /// Reads a colour such as `#f80`, `#ff8800`, `#ff880080`, `transparent` or `teal`; nil for anything else.
  ///
  /// The forms are `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`, `transparent` and the sixteen basic names. (CSS Color 4,
  /// sections 5.2 and 6.1)
  public init?(_ text: String) {
    let text = text.lowercased()
    guard var digits = Self.names[text] ?? (text.first == "#" ? String(text.dropFirst()) : nil)
    else { return nil }
    // In a short form, each digit stands for two equal digits.
    if digits.utf8.count <= 4 { digits = digits.map { "\($0)\($0)" }.joined() }
    if digits.utf8.count == 6 { digits += "ff" }
    guard digits.utf8.count == 8,
      digits.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
      let number = UInt32(digits, radix: 16)
    else { return nil }
    func part(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: number >> shift) }
    self.init(red: part(24), green: part(16), blue: part(8), alpha: part(0))
  }

  /// The basic colour names, known to every browser, and the name of no colour. (HTML 4.01, section 6.5)
  private static let names = [
    "aqua": "00ffff", "black": "000000", "blue": "0000ff", "fuchsia": "ff00ff", "gray": "808080",
    "grey": "808080", "green": "008000", "lime": "00ff00", "maroon": "800000", "navy": "000080",
    "olive": "808000", "purple": "800080", "red": "ff0000", "silver": "c0c0c0", "teal": "008080",
    "transparent": "00000000", "white": "ffffff", "yellow": "ffff00",
  ]

  var isGrey: Bool { red == green && green == blue }

  /// The opaque colour that this colour has on white.
  var onWhite: PictureColour {
    let (opacity, white) = (Int(alpha), 255 * (255 - Int(alpha)))
    func over(_ value: UInt8) -> UInt8 {
      let sum = Int(value) * opacity + white + 127
      return UInt8(sum / 255)
    }
    return PictureColour(red: over(red), green: over(green), blue: over(blue))
  }

  /// The 8-bit samples of a pixel of this colour, in any layout except `cmyk`.
  ///
  /// If the layout has no alpha, the colour is composited on white. For a grey layout, the red sample is used.
  func samples(in layout: Bitmap.Layout) -> [UInt8] {
    let opaque = onWhite
    return switch layout {
    case .grey, .indexed: [opaque.red]
    case .greyAlpha: [red, alpha]
    case .rgb: [opaque.red, opaque.green, opaque.blue]
    case .rgba: [red, green, blue, alpha]
    case .bgrx, .cmyk: [opaque.blue, opaque.green, opaque.red, 255]
    }
  }

  /// The bytes of a pixel of this colour in a bitmap of 8 or 16 bits.
  func pixel(in layout: Bitmap.Layout, depth: Int) -> [UInt8] {
    // A sample of 8 bits is multiplied by 257 to get the same intensity in 16 bits; both of its bytes are then equal.
    samples(in: layout).flatMap { depth == 16 ? [$0, $0] : [$0] }
  }
}
