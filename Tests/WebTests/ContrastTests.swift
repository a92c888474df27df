import Foundation
import Testing

@testable import Web

/// The contrast of the colours in the report's and the store's style sheets.
@Suite struct ContrastTests {
  @Test(arguments: [
    ("ink", "paper"), ("ink", "card"), ("ink", "hole"), ("faint", "paper"), ("faint", "card"),
    ("faint", "hole"), ("accent", "paper"), ("accent", "card"), ("accent", "tint"),
    ("good", "card"), ("warn", "card"), ("bad", "card"),
  ])
  func `text has a contrast of 4.5 to 1 to its background, in light, dark and print`(
    _ text: String,
    _ ground: String
  ) throws {
    try Self.expect(text, on: ground, 4.5, in: PageAssets.reportStyle)
  }

  @Test(arguments: [
    ("price", "paper"), ("price", "card"), ("price", "tint"), ("was", "paper"), ("was", "card"),
    ("was", "tint"), ("ink", "paper"), ("ink", "card"), ("ink", "tint"),
  ])
  func `the store's prices have a contrast of 7 to 1`(_ text: String, _ ground: String) throws {
    try Self.expect(text, on: ground, 7, in: PageAssets.storefrontStyle)
  }

  @Test(arguments: [("onpress", "press"), ("faint", "tint"), ("accent", "tint"), ("good", "card")])
  func `the store's additional colours have enough contrast`(_ text: String, _ ground: String)
    throws
  {
    try Self.expect(text, on: ground, 4.5, in: PageAssets.storefrontStyle)
  }

  /// Checks the contrast of two colours in light, dark and print, which the sheet defines in this order.
  private static func expect(
    _ text: String,
    on ground: String,
    _ least: Double,
    in sheet: String
  ) throws {
    var schemes = [[String: String]](repeating: [:], count: 3)
    let found = sheet.matches(of: /:root\{([^}]*)\}/)
    #expect(found.count % 3 == 0)
    for (place, scheme) in found.enumerated() {
      for colour in scheme.1.matches(of: /--(\w+):#(\w+)/) {
        schemes[place % 3][String(colour.1)] = String(colour.2)
      }
    }
    for colours in schemes {
      let contrast = contrast(try #require(colours[text]), try #require(colours[ground]))
      #expect(contrast >= least, "\(text) on \(ground): \(contrast), \(colours)")
    }
  }

  /// The contrast ratio of two colours. (WCAG 2.2)
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
