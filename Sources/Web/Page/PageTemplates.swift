import Mustache

/// A value that a template shows: names in the template are members of the value.
package protocol PageView {
  /// The template's file without its ending: `storefront-item` for `storefront-item.mustache`.
  static var template: String { get }
}

/// The templates of pages in one language.
///
/// Beyond Mustache, `[[English|Korean]]` is a text in the page's language, and a backslash at the end of a line joins
/// the line with the next one.
package struct PageTemplates: Sendable {
  /// Every template by its name, as its file has it.
  static let files: [String: [UInt8]] = [
    "bench": PackageResources.bench_mustache,
    "bench-plot": PackageResources.bench_plot_mustache,
    "layout": PackageResources.layout_mustache,
    "price-line": PackageResources.price_line_mustache,
    "report": PackageResources.report_mustache,
    "report-card": PackageResources.report_card_mustache,
    "report-changes": PackageResources.report_changes_mustache,
    "report-problems": PackageResources.report_problems_mustache,
    "report-runs": PackageResources.report_runs_mustache,
    "report-sizes": PackageResources.report_sizes_mustache,
    "storefront": PackageResources.storefront_mustache,
    "storefront-basket": PackageResources.storefront_basket_mustache,
    "storefront-card": PackageResources.storefront_card_mustache,
    "storefront-empty": PackageResources.storefront_empty_mustache,
    "storefront-home": PackageResources.storefront_home_mustache,
    "storefront-item": PackageResources.storefront_item_mustache,
    "storefront-list": PackageResources.storefront_list_mustache,
    "storefront-notice": PackageResources.storefront_notice_mustache,
    "storefront-order": PackageResources.storefront_order_mustache,
    "storefront-orders": PackageResources.storefront_orders_mustache,
    "storefront-progress": PackageResources.storefront_progress_mustache,
  ]

  private let library: MustacheLibrary

  /// The templates in a language, parsed when the first page in it is made.
  ///
  /// - Throws: `MustacheTemplate.ParserError`, which a test rules out.
  package static func shared(_ language: PageLanguage) throws -> PageTemplates {
    try (language == .korean ? korean : english).get()
  }

  private static let korean = Result { try PageTemplates(.korean) }
  private static let english = Result { try PageTemplates(.english) }

  /// Parses all templates.
  init(_ language: PageLanguage) throws {
    // Parsing a template looks its kind of text up.
    MustacheContentTypes.register(PageText(), named: PageText.name)
    library = MustacheLibrary(
      templates: try Self.files.mapValues { file in
        // In each template, because a partial does not inherit the kind of text from the template that includes it.
        try MustacheTemplate(
          string: "{{% CONTENT_TYPE: \(PageText.name)}}" + Self.text(file, language)
        )
      }
    )
  }

  /// The page or the part of one that shows a value.
  package func html<View: PageView>(_ view: View) -> String {
    library.render(view, withTemplate: View.template) ?? ""
  }

  /// A file's Mustache in a language: lines joined, and texts chosen.
  static func text(_ file: [UInt8], _ language: PageLanguage) -> String {
    var text = ""
    var rest = String(decoding: file, as: UTF8.self).replacing("\\\n", with: "")[...]
    while let start = rest.firstRange(of: "[["),
      let end = rest[start.upperBound...].firstRange(of: "]]")
    {
      text += rest[..<start.lowerBound]
      let words = rest[start.upperBound..<end.lowerBound].split(
        separator: "|",
        omittingEmptySubsequences: false
      )
      text += words[language == .korean && words.count > 1 ? 1 : 0]
      rest = rest[end.upperBound...]
    }
    return text + rest
  }
}

/// The styles and scripts of pages, as their files have them.
package enum PageAssets {
  /// Colours by purpose in light, dark and print; elements and components that pages share.
  private static let common = text(PackageResources.tokens_css) + text(PackageResources.base_css)
  package static let benchStyle = common + text(PackageResources.bench_css)
  static let reportStyle = common + text(PackageResources.report_css)
  static let reportScript = text(PackageResources.report_js)
  static let storefrontStyle = common + text(PackageResources.storefront_css)
  static let storefrontScript = text(PackageResources.storefront_js)
  static let storefrontIcon = text(PackageResources.storefront_svg)

  private static func text(_ file: [UInt8]) -> String { String(decoding: file, as: UTF8.self) }
}
