import Base
import Cache
import Catalog

/// A page of the store before it is rendered: its main part, and the frame around it.
struct StorefrontPage {
  /// The content security policy: only the store's own files, nothing inline, no frames, forms only to the store
  /// itself. (W3C, CSP level 3)
  static let policy = """
    default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'
    """

  /// The part of the store that a page belongs to, for the navigation.
  enum Part: Equatable {
    case home, orders, basket, other
    case section(String)
  }

  var status = 200
  /// The page's title, to which the shop's name is appended; with an empty title, only the shop's name is shown.
  var title = ""
  var part = Part.other
  /// The main part, as HTML.
  var main = ""
  /// The words in the search field.
  var search = ""
  /// The new basket, if the request changes it.
  var basket: StorefrontBasket?
  /// Cookies to set: names and values; nil deletes a cookie.
  var cookies: [(name: String, value: String?)] = []
  /// Whether the page is private to its visitor, and so never cached.
  var isPrivate = false

  /// The link to a section in the page's navigation.
  struct Aisle {
    let title: String
    let address: String
    let isCurrent: Bool
  }

  /// The assets' addresses.
  struct Assets {
    let style = StorefrontAssets.style.path
    let script = StorefrontAssets.script.path
    let icon = StorefrontAssets.icon.path
  }

  /// The template data of the frame.
  struct Frame: PageView {
    static let template = "storefront"

    let language, title, shop, search, main, footer, speech: String
    let assets = Assets()
    let isHome, isOrders, isBasket: Bool
    let count: Int?
    let otherAddress, otherLanguage, otherName: String
    let aisles: [Aisle]
  }

  /// Renders the whole page.
  func html(
    _ visit: StorefrontRequest,
    _ shop: String,
    _ shelves: StorefrontSections?,
    _ templates: PageTemplates
  ) -> String {
    let other: PageLanguage = visit.language == .korean ? .english : .korean
    let count = (basket ?? visit.basket).count
    let aisles = (shelves?.all ?? []).prefix(60).map { shelf in
      Aisle(
        title: shelf.title,
        address: StorefrontAddress.section(shelf.section.key),
        isCurrent: part == .section(shelf.section.key)
      )
    }
    let updated = shelves?.name.finished.map(visit.clock.text)
    let frame = Frame(
      language: visit.language.rawValue,
      title: title.isEmpty ? shop : "\(title) – \(shop)",
      shop: shop,
      search: search,
      main: main,
      footer: updated.map {
        visit.say(
          "As last fetched \($0) \(visit.clock.zone). Served by larder from this machine.",
          "\($0) \(visit.clock.zone)에 가져온 내용입니다. 이 컴퓨터에서 larder가 보여 드립니다."
        )
      } ?? visit.say("Served by larder.", "larder가 보여 드립니다."),
      speech: shelves?.speech ?? "",
      isHome: part == .home,
      isOrders: part == .orders,
      isBasket: part == .basket,
      count: count == 0 ? nil : count,
      otherAddress: visit.address(in: other),
      otherLanguage: other.rawValue,
      otherName: other == .korean ? "한국어" : "English",
      aisles: Array(aisles)
    )
    return templates.html(frame)
  }

  /// The answer with the rendered page.
  func answer(_ visit: StorefrontRequest, _ html: String) -> StorefrontAnswer {
    var headers = [
      ("content-type", "text/html; charset=utf-8"), ("content-security-policy", Self.policy),
      ("cache-control", isPrivate ? "no-store" : "private, no-cache"),
      ("vary", "Accept-Language, Cookie"), ("content-language", visit.language.rawValue),
      ("referrer-policy", "same-origin"),
    ]
    headers += cookieHeaders(visit)
    return StorefrontAnswer(status: status, headers: headers, body: Array(html.utf8))
  }

  private func cookieHeaders(_ visit: StorefrontRequest) -> [(String, String)] {
    Self.cookieHeaders(visit, basket: basket, cookies)
  }

  /// A redirect with status 303. (RFC 9110, section 15.4.4)
  static func redirect(
    _ visit: StorefrontRequest,
    to address: String,
    basket: StorefrontBasket? = nil,
    cookies: [(name: String, value: String?)] = []
  ) -> StorefrontAnswer {
    StorefrontAnswer(
      status: 303,
      headers: [("location", address), ("cache-control", "no-store")]
        + cookieHeaders(visit, basket: basket, cookies)
    )
  }

  private static func cookieHeaders(
    _ visit: StorefrontRequest,
    basket: StorefrontBasket?,
    _ cookies: [(name: String, value: String?)]
  ) -> [(String, String)] {
    var all = cookies
    if let chosen = visit.chosen {
      all.append((StorefrontRequest.languageCookie, chosen.rawValue))
    }
    if visit.session.isNew { all.append((StorefrontSession.cookie, visit.session.id)) }
    if let basket {
      all.append((StorefrontRequest.basketCookie, basket.lines.isEmpty ? nil : basket.cookie))
    }
    return all.map { name, value in
      // The session's cookie ends when the browser closes; basket and form values are kept for a month.
      let age =
        value == nil ? "; Max-Age=0" : name == StorefrontSession.cookie ? "" : "; Max-Age=2592000"
      return ("set-cookie", "\(name)=\(value ?? ""); Path=/; HttpOnly; SameSite=Strict\(age)")
    }
  }
}

/// The store's style, script and icon, each under a name with a digest of its content.
struct StorefrontAssets: Sendable {
  /// A file of the store.
  struct Asset: Sendable {
    /// The file's path on the server.
    let path: String
    let type: String
    let text: String

    init(_ suffix: String, _ type: String, _ text: String) {
      let digest = Hexadecimal.text(ContentDigest.sha256(Array(text.utf8)))
      path = "/assets/store-\(digest.prefix(12)).\(suffix)"
      (self.type, self.text) = (type, text)
    }
  }

  static let style = Asset("css", "text/css; charset=utf-8", PageAssets.storefrontStyle)
  static let script = Asset("js", "text/javascript; charset=utf-8", PageAssets.storefrontScript)
  static let icon = Asset("svg", "image/svg+xml", PageAssets.storefrontIcon)
  /// The file at a path; nil when there is none.
  static func answer(_ path: String) -> StorefrontAnswer? {
    guard let asset = [style, script, icon].first(where: { $0.path == path }) else { return nil }
    return StorefrontAnswer(
      status: 200,
      headers: [
        ("content-type", asset.type), ("cache-control", "public, max-age=31536000, immutable"),
      ],
      body: Array(asset.text.utf8)
    )
  }
}
