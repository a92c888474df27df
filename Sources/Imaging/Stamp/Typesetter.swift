import Base
import CDrawing

/// Lays out lines of text in the fonts that fontconfig finds.
///
/// Use it on one thread.
struct Typesetter: ~Copyable {
  private let map: OpaquePointer
  private let context: OpaquePointer
  private let family: String

  /// Opens the fonts of this machine.
  ///
  /// - Parameters:
  ///   - family: The font families to try, from left to right, separated by commas.
  ///   - language: The language, which decides between variants of letters, for example of Chinese characters.
  /// - Throws: ``LarderError`` of code `noFont` when Pango or every font is missing.
  init(family: String, language: String) throws(LarderError) {
    if let words = cdrawing_open() {
      throw LarderError(
        .noFont,
        "cannot draw text on pictures: \(String(cString: words)); install libpangocairo-1.0-0"
      )
    }
    let failure = LarderError(
      .noFont,
      "cannot draw text on pictures: no font found; install fonts-dejavu or fonts-nanum"
    )
    // Pango keeps a font map for each thread. It is used, because finding all fonts again would take longer than
    // drawing.
    guard let map = pango_cairo_font_map_get_default() else { throw failure }
    // Without any font, Pango may abort the process when it lays out text.
    guard !Self.families(of: map).isEmpty, let context = pango_font_map_create_context(map) else {
      throw failure
    }
    pango_context_set_language(context, pango_language_from_string(language))
    pango_context_set_round_glyph_positions(context, 0)
    self.map = map
    self.context = context
    self.family = family
  }

  deinit {
    g_object_unref(UnsafeMutableRawPointer(context))
  }

  /// Checks that a font family is installed; upper and lower case are equal.
  ///
  /// - Throws: ``LarderError`` of code `usage` when the family is not installed, or of code `noFont` when Pango or
  ///   every font is missing.
  static func check(_ family: String) throws(LarderError) {
    // This opens the libraries, and checks that there is a font.
    let typesetter = try Typesetter(family: family, language: "en")
    let names = families(of: typesetter.map).map { $0.lowercased() }
    guard !names.contains(family.lowercased()) else { return }
    throw LarderError(
      .usage,
      "cannot draw text in \(family): no font of that name is installed; "
        + "choose one that fc-list : family lists"
    )
  }

  /// The names of the font families in a font map.
  private static func families(of map: OpaquePointer) -> [String] {
    var families: UnsafeMutablePointer<OpaquePointer?>?
    var count: Int32 = 0
    pango_font_map_list_families(map, &families, &count)
    defer { g_free(families) }
    return UnsafeBufferPointer(start: families, count: Int(count)).compactMap { family in
      pango_font_family_get_name(family).map { String(cString: $0) }
    }
  }

  /// Lays out one line in letters of `size` pixels; if it is wider than `limit` pixels, it is cut and ends with an
  /// ellipsis.
  ///
  /// - Throws: ``LarderError`` of code `noFont` when no font has all letters of the line.
  func line(
    _ text: String,
    size: Double,
    bold: Bool,
    limit: Double? = nil
  ) throws(LarderError) -> TextLine {
    // Some fonts have a blank glyph for a letter that they lack, and Pango does not look into further fonts then. So
    // the line is laid out again without the first family.
    var families = family.split(separator: ",")[...]
    repeat {
      guard let layout = pango_layout_new(context) else {
        throw LarderError(.noFont, "cannot draw text on pictures: there is not enough memory")
      }
      let line = TextLine(layout: layout, size: size)
      let font = pango_font_description_from_string(families.joined(separator: ","))
      pango_font_description_set_absolute_size(font, size * Double(PANGO_SCALE))
      pango_font_description_set_weight(font, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL)
      pango_layout_set_font_description(layout, font)
      pango_font_description_free(font)
      pango_layout_set_single_paragraph_mode(layout, 1)
      pango_layout_set_text(layout, text, Int32(text.utf8.count))
      guard pango_layout_get_unknown_glyphs_count(layout) == 0 else { break }
      if !line.hasBlankLetter(in: text) {
        if let limit {
          pango_layout_set_width(layout, Int32(limit * Double(PANGO_SCALE)))
          pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        }
        return line
      }
      families = families.dropFirst()
    } while !families.isEmpty
    throw LarderError(
      .noFont,
      "cannot draw “\(text)” on pictures: no font has all of its letters; "
        + "install fonts-nanum, fonts-noto-color-emoji or the fonts of your language"
    )
  }
}

/// A line of text that has been laid out, freed exactly once, and its position on a picture.
final class TextLine {
  private let layout: OpaquePointer
  /// The size of the letters in pixels.
  let size: Double
  /// The position of the origin of the line, in pixels.
  var (x, y) = (0.0, 0.0)

  fileprivate init(layout: OpaquePointer, size: Double) {
    (self.layout, self.size) = (layout, size)
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

  /// The box around the drawn letters, relative to the origin of the line.
  var ink: (x: Double, y: Double, width: Double, height: Double) {
    var ink = PangoRectangle()
    pango_layout_get_pixel_extents(layout, &ink, nil)
    return (Double(ink.x), Double(ink.y), Double(ink.width), Double(ink.height))
  }

  /// Whether a letter that should be visible is blank in the font.
  fileprivate func hasBlankLetter(in text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard let place = pango_layout_get_iter(layout) else { return false }
    defer { pango_layout_iter_free(place) }
    repeat {
      let start = Int(pango_layout_iter_get_index(place))
      guard start < bytes.count else { continue }
      var ink = PangoRectangle()
      pango_layout_iter_get_cluster_extents(place, &ink, nil)
      let letter = String(decoding: bytes[start...].prefix(4), as: UTF8.self).unicodeScalars.first
      if ink.width == 0 || ink.height == 0, letter?.isSeen == true { return true }
    } while pango_layout_iter_next_cluster(place) != 0
    return false
  }

  /// Calls `body` with the layout, which Cairo draws.
  func withLayout(_ body: (OpaquePointer) -> Void) { body(layout) }
}

extension Unicode.Scalar {
  /// Whether a letter is visible; white space is not, and neither is a mark that only affects the shapes of others.
  fileprivate var isSeen: Bool {
    let isBlankBraille = value == 0x2800
    switch properties.generalCategory {
    case .control, .format, .nonspacingMark, .enclosingMark: return false
    default:
      return !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint && !isBlankBraille
    }
  }
}
