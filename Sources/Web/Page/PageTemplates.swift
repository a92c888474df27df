import Mustache

/// A value that a template shows.
///
/// The names in the template, such as `{{title}}`, are members of the value.
protocol PageView {
  /// The name of the template's file without its ending, such as `storefront-item` for `storefront-item.mustache`.
  static var template: String { get }
}

/// An enumeration whose cases are names in templates.
///
/// For example, the section `{{#state.ready}}` is shown if `state` is `ready`.
protocol PageCase: RawRepresentable, MustacheParent where RawValue == String {}

extension PageCase {
  /// Whether the value is the case with this name; nil if there is no such case.
  public func child(named name: String) -> Any? {
    Self(rawValue: name).map { $0.rawValue == rawValue }
  }
}

/// The Mustache templates of all pages, in one language.
///
/// In addition to Mustache, `[[English|Korean]]` is a text in the page's language, and a backslash at the end of a line
/// joins the line with the next one.
struct PageTemplates: Sendable {
  /// The bytes of each template's file, by the template's name.
  static let files: [String: [UInt8]] = [
    "layout": PackageResources.layout_mustache,
    "price-line": PackageResources.price_line_mustache,
    "report": PackageResources.report_mustache,
    "report-card": PackageResources.report_card_mustache,
    "report-changes": PackageResources.report_changes_mustache,
    "report-problems": PackageResources.report_problems_mustache,
    "report-runs": PackageResources.report_runs_mustache,
    "storefront": PackageResources.storefront_mustache,
    "storefront-basket": PackageResources.storefront_basket_mustache,
    "storefront-card": PackageResources.storefront_card_mustache,
    "storefront-delivery": PackageResources.storefront_delivery_mustache,
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

  /// The templates in a language, which are parsed when the first page needs them.
  static func shared(_ language: PageLanguage) throws -> PageTemplates {
    try (language == .korean ? korean : english).get()
  }

  private static let korean = Result { try PageTemplates(.korean) }
  private static let english = Result { try PageTemplates(.english) }

  init(_ language: PageLanguage) throws {
    // The content type must be registered before a template that names it is parsed.
    MustacheContentTypes.register(PageText(), named: PageText.name)
    library = MustacheLibrary(
      templates: try Self.files.mapValues { file in
        // Each template names the content type, because a template that is included in another does not inherit it.
        try MustacheTemplate(
          string: "{{% CONTENT_TYPE: \(PageText.name)}}" + Self.text(file, language)
        )
      }
    )
  }

  /// Renders the template of a value: a whole page, or a part of a page.
  func html<View: PageView>(_ view: View) -> String {
    library.render(PageFields.value(view) ?? view, withTemplate: View.template) ?? ""
  }

  /// A template's file as plain Mustache: with the texts of one language, and with joined lines.
  static func text(_ file: [UInt8], _ language: PageLanguage) -> String {
    String(decoding: file, as: UTF8.self).replacing("\\\n", with: "")
      .replacing(/\[\[(.*?)\|(.*?)\]\]/) { language == .korean ? $0.output.2 : $0.output.1 }
  }
}

/// The style sheets and scripts of the pages.
enum PageAssets {
  /// The colours for screen and print, and the elements and components that all pages share.
  private static let common = text(PackageResources.tokens_css) + text(PackageResources.base_css)
  static let reportStyle = common + text(PackageResources.report_css)
  static let reportScript = text(PackageResources.report_js)
  static let storefrontStyle = common + text(PackageResources.storefront_css)
  static let storefrontScript = text(PackageResources.storefront_js)
  static let storefrontIcon = text(PackageResources.storefront_svg)

  private static func text(_ file: [UInt8]) -> String { String(decoding: file, as: UTF8.self) }
}
