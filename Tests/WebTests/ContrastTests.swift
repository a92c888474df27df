import Foundation
import Testing

@testable import Web

@Suite struct ContrastTests {
  @Test(arguments: [
    ("ink", "paper"), ("ink", "card"), ("ink", "hole"), ("faint", "paper"), ("faint", "card"),
    ("faint", "hole"), ("accent", "paper"), ("accent", "card"), ("accent", "tint"),
    ("good", "card"), ("warn", "card"), ("bad", "card"),
  ])
  func `text stands out 4.5 to 1 from what is behind it, in light, dark and print`(
    _ text: String,
    _ ground: String
  ) throws {
    let schemes = SharedStyle.css.matches(of: /:root\{([^}]*)\}/).map { scheme in
      Dictionary(
        scheme.1.matches(of: /--(\w+):#(\w+)/).map { (String($0.1), String($0.2)) }
      ) { first, _ in first }
    }

    #expect(schemes.count == 3)
    for colours in schemes {
      let contrast = Self.contrast(
        try #require(colours[text]),
        try #require(colours[ground])
      )
      #expect(contrast >= 4.5, "\(colours)")
    }
  }

  /// How much two colours differ. (WCAG 2.2, contrast ratio)
  private static func contrast(_ first: String, _ second: String) -> Double {
    let (low, high) = (
      min(luminance(first), luminance(second)), max(luminance(first), luminance(second))
    )
    return (high + 0.05) / (low + 0.05)
  }

  private static func luminance(_ colour: String) -> Double {
    let digits = colour.count == 3 ? colour.map { "\($0)\($0)" }.joined() : colour
    let value = Int(digits, radix: 16) ?? 0
    let parts = [16, 8, 0].map { shift -> Double in
      let part = Double(value >> shift & 255) / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }
}
