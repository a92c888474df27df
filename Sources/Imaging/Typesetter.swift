import CPango
import SystemPackage

/// Sets lines of text in the fonts that fontconfig finds, on one thread.
struct Typesetter: ~Copyable {
  private let map: UnsafeMutablePointer<PangoFontMap>
  private let context: OpaquePointer
  private let family: String

  /// Opens the fonts.
  ///
  /// - Parameters:
  ///   - family: The families to try, in order, as Pango names them.
  ///   - language: The language that decides between the shapes of shared letters.
  ///   - configuration: A fontconfig file to use in place of the system's.
  /// - Throws: ``ImagingError`` of code `noFont` when there is not one font.
  init(family: String, language: String, configuration: FilePath?) throws(ImagingError) {
    let failure = ImagingError(
      .noFont,
      "cannot write on pictures: no font found; install fonts-dejavu or fonts-nanum"
    )
    guard let map = Self.map(configuration) else { throw failure }
    // Pango may end the process when it is to set text without any font.
    var families: UnsafeMutablePointer<UnsafeMutablePointer<PangoFontFamily>?>?
    var count: Int32 = 0
    pango_font_map_list_families(map, &families, &count)
    g_free(families)
    guard count > 0, let context = pango_font_map_create_context(map) else {
      g_object_unref(UnsafeMutableRawPointer(map))
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
    g_object_unref(UnsafeMutableRawPointer(map))
  }

  private static func map(_ configuration: FilePath?) -> UnsafeMutablePointer<PangoFontMap>? {
    guard let configuration else {
      // One a thread, kept by Pango: finding all fonts anew would cost more than the drawing.
      guard let map = pango_cairo_font_map_get_default() else { return nil }
      g_object_ref(UnsafeMutableRawPointer(map))
      return map
    }
    guard let fonts = FcConfigCreate() else { return nil }
    defer { FcConfigDestroy(fonts) }
    guard FcConfigParseAndLoad(fonts, configuration.string, 1) != 0,
      FcConfigBuildFonts(fonts) != 0,
      let map = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT)
    else { return nil }
    pango_fc_font_map_set_config(OpaquePointer(map), fonts)
    return map
  }

  /// Sets one line of `size` pixels, cut with an ellipsis past `limit` pixels.
  ///
  /// - Throws: ``ImagingError`` of code `noFont` when no font has some of its letters.
  func line(
    _ text: String,
    size: Double,
    bold: Bool,
    limit: Double? = nil
  ) throws(ImagingError) -> TextLine {
    guard let layout = pango_layout_new(context) else {
      throw ImagingError(.noFont, "cannot write on pictures: there is not enough memory")
    }
    let line = TextLine(layout: layout)
    let font = pango_font_description_from_string(family)
    pango_font_description_set_absolute_size(font, size * Double(PANGO_SCALE))
    pango_font_description_set_weight(font, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL)
    pango_layout_set_font_description(layout, font)
    pango_font_description_free(font)
    pango_layout_set_single_paragraph_mode(layout, 1)
    pango_layout_set_text(layout, text, Int32(text.utf8.count))
    guard pango_layout_get_unknown_glyphs_count(layout) == 0 else {
      throw ImagingError(
        .noFont,
        "cannot write “\(text)” on pictures: no font has all of its letters; "
          + "install fonts-nanum, fonts-noto-color-emoji or the fonts of your language"
      )
    }
    if let limit {
      pango_layout_set_width(layout, Int32(limit * Double(PANGO_SCALE)))
      pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
    }
    return line
  }
}

/// A line of text that has been set, freed exactly once.
final class TextLine {
  private let layout: OpaquePointer

  fileprivate init(layout: OpaquePointer) {
    self.layout = layout
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

  /// The box of the letters as drawn, from the line's origin.
  var ink: (x: Double, y: Double, width: Double, height: Double) {
    var ink = PangoRectangle()
    pango_layout_get_pixel_extents(layout, &ink, nil)
    return (Double(ink.x), Double(ink.y), Double(ink.width), Double(ink.height))
  }

  /// Lends the layout to Cairo.
  func withLayout(_ body: (OpaquePointer) -> Void) { body(layout) }
}

/// A line with its place, in pixels of a canvas.
struct PlacedLine {
  let layout: TextLine
  let size: Double
  var x: Double
  var y: Double
}
