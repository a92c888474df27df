import Base
import Cache
import Catalog

/// A page of the store without its main part: the data for the frame, and for the header fields of the answer.
struct StorefrontPage {
  /// The page's title.
  ///
  /// The shop's name is added to it. If the title is empty, only the shop's name is shown.
  var title = ""
  var status = 200
  /// The requested page; nil if another page is shown instead of it.
  var route: StorefrontRoute?
  /// The sections in the navigation; nil if the catalog cannot be read.
  var sections: StorefrontSections?
  /// The words in the search field.
  var search = ""
  /// The new basket; nil if the request does not change the basket.
  var basket: StorefrontBasket?
  /// Additional header fields.
  var fields: [(name: String, value: String)] = []

  /// A section's link in the navigation.
  struct Aisle {
    let title: String
    let address: String
    let isCurrent: Bool
  }

  /// The template data of the frame.
  struct Frame: PageView {
    static let template = "storefront"

    let language, title, shop, search, main, speech, zone, otherAddress: String
    /// The time when the catalog was last fetched; nil if the catalog cannot be read.
    let updated: String?
    let style = StorefrontAssets.style.path
    let script = StorefrontAssets.script.path
    let icon = StorefrontAssets.icon.path
    let isHome, isOrders, isBasket: Bool
    let count: Int?
    let aisles: [Aisle]
  }

  /// The answer with the whole page, given the shop's name and the template data of the main part.
  func answer(_ visit: StorefrontRequest, shop: String, _ view: some PageView) -> Answer {
    let templates: PageTemplates
    do {
      templates = try PageTemplates.shared(visit.language)
    } catch {
      return .page(500, [("content-type", "text/plain; charset=utf-8")]).caused(by: error)
    }
    let count = (basket ?? visit.basket).count
    let aisles = (sections?.all ?? []).prefix(60).map { shelf in
      Aisle(
        title: shelf.title,
        address: StorefrontAddress.section(shelf.section.key),
        isCurrent: route == .section(shelf.section.key)
      )
    }
    let frame = Frame(
      language: visit.language.rawValue,
      title: title.isEmpty ? shop : "\(title) – \(shop)",
      shop: shop,
      search: search,
      main: templates.html(view),
      speech: sections?.speech ?? "",
      zone: visit.clock.zone,
      otherAddress: visit.address(in: visit.language == .korean ? .english : .korean),
      updated: sections?.name.finished.map(visit.clock.text),
      isHome: route == .home,
      isOrders: route?.isOrders ?? false,
      isBasket: route == .basket,
      count: count == 0 ? nil : count,
      aisles: aisles
    )
    let own = [
      (name: "content-type", value: "text/html; charset=utf-8"),
      ("cache-control", route?.isPublic ?? false ? "private, no-cache" : "no-store"),
      ("vary", "Accept-Language, Cookie"), ("content-language", visit.language.rawValue),
    ]
    return .page(status, own + Self.cookies(visit, basket: basket) + fields, templates.html(frame))
  }

  /// A redirect with status 303. (RFC 9110, section 15.4.4)
  ///
  /// - Parameters:
  ///   - visit: The request.
  ///   - address: The address to load next.
  ///   - basket: The new basket; nil if the request does not change the basket.
  ///   - draft: The values of the order form to keep. Pass nil to keep the earlier values.
  /// - Returns: The answer.
  static func redirect(
    _ visit: StorefrontRequest,
    to address: String,
    basket: StorefrontBasket? = nil,
    draft: StorefrontDraft? = nil
  ) -> Answer {
    let own = [(name: "location", value: address), ("cache-control", "no-store")]
    return .page(303, own + cookies(visit, basket: basket, draft: draft))
  }

  /// The fields `Set-Cookie`.
  private static func cookies(
    _ visit: StorefrontRequest,
    basket: StorefrontBasket?,
    draft: StorefrontDraft? = nil
  ) -> [(name: String, value: String)] {
    // A nil value deletes the cookie.
    var all: [(name: String, value: String?)] = []
    if let draft { all.append((StorefrontRequest.draftCookie, draft.cookie)) }
    if let chosen = visit.chosen {
      all.append((StorefrontRequest.languageCookie, chosen.rawValue))
    }
    if let basket {
      all.append((StorefrontRequest.basketCookie, basket.lines.isEmpty ? nil : basket.cookie))
    }
    return all.map { name, value in
      let age = value == nil ? 0 : 30 * 86_400
      let rest = "Path=/; HttpOnly; SameSite=Strict; Max-Age=\(age)"
      return ("set-cookie", "\(name)=\(value ?? ""); \(rest)")
    }
  }
}

/// The store's style sheet, script and icon.
///
/// Each has a path with a digest of its content, such as `/assets/store-0123456789ab.css`, so browsers can keep it.
enum StorefrontAssets {
  /// A file of the store.
  struct Asset: Sendable {
    /// The file's path on the server.
    let path: String
    let answer: Answer

    init(_ suffix: String, _ type: String, _ text: String) {
      let digest = Hexadecimal.text(ContentDigest.sha256(Array(text.utf8)))
      path = "/assets/store-\(digest.prefix(12)).\(suffix)"
      answer = .page(
        200,
        [("content-type", type), ("cache-control", "public, max-age=31536000, immutable")],
        text
      )
    }
  }

  static let style = Asset("css", "text/css; charset=utf-8", PageAssets.storefrontStyle)
  static let script = Asset("js", "text/javascript; charset=utf-8", PageAssets.storefrontScript)
  static let icon = Asset("svg", "image/svg+xml", PageAssets.storefrontIcon)

  /// The file at a path; nil if there is none.
  static func answer(_ path: String) -> Answer? {
    [style, script, icon].first { $0.path == path }?.answer
  }
}
