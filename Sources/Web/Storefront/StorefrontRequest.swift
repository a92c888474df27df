import Base
import Catalog
import Crypto
import FoundationEssentials
import Orders

/// A request with the visitor's data from its cookies: language, session, basket and form values.
struct StorefrontRequest: Sendable {
  /// The names of the store's cookies, except the session's.
  static let languageCookie = "larder-language"
  static let basketCookie = "larder-basket"
  static let draftCookie = "larder-draft"

  /// The request.
  let request: StorefrontExchange
  /// The language in the URL (`?lang=ko`), which is kept in a cookie; nil for none.
  let chosen: PageLanguage?
  /// The language of the page: the chosen one, or else the browser's.
  let language: PageLanguage
  /// The visitor's session.
  let session: StorefrontSession
  /// The visitor's basket.
  let basket: StorefrontBasket
  /// The single item of a "buy now" page or its form; nil for every other request.
  let single: StorefrontBasket?
  /// The values of the order form that the cookie has kept.
  let draft: StorefrontDraft
  /// The time of the request, in the zone of this machine.
  let clock: PageClock

  /// Reads a request.
  init(_ request: StorefrontExchange) {
    self.request = request
    chosen = request.asked("lang").flatMap(PageLanguage.init(rawValue:))
    language =
      chosen ?? request.cookies[Self.languageCookie].flatMap(PageLanguage.init(rawValue:))
      ?? PageLanguage(preferred: request.languages)
    session = StorefrontSession(cookie: request.cookies[StorefrontSession.cookie])
    basket = StorefrontBasket(cookie: request.cookies[Self.basketCookie])
    single = StorefrontBasket(single: request)
    draft = StorefrontDraft(cookie: request.cookies[Self.draftCookie])
    clock = .system(at: UnixTime(Int64(request.now.timeIntervalSince1970)))
  }

  /// The text in the visitor's language.
  func say(_ english: String, _ korean: String) -> String { language.of(english, korean) }

  /// The message about sections that the last run could not refresh.
  ///
  /// - Parameter since: The time of the last successful fetch; nil when the time is unknown.
  /// - Returns: A sentence.
  func asLastSeen(_ since: UnixTime?) -> String {
    guard let since else {
      return say("As last seen: the shop could not be reached.", "이전 정보입니다. 상점에서 확인하지 못했습니다.")
    }
    let moment = clock.text(since)
    return say(
      "As last seen on \(moment): the shop could not be reached since.",
      "\(moment) 기준 정보입니다. 그 뒤로 상점에서 확인하지 못했습니다."
    )
  }

  /// The language of messages about orders.
  var orderLanguage: Language { language == .korean ? .korean : .english }

  /// The page's own address in a language.
  func address(in language: PageLanguage) -> String {
    let pairs = request.query.filter { $0.name != "lang" } + [("lang", language.rawValue)]
    return PercentEncoding.escaped(request.path, keeping: "/") + "?" + PercentEncoding.query(pairs)
  }
}

/// The values that the visitor typed into the order form: name, note and budget.
struct StorefrontDraft: Equatable {
  var by = ""
  var note = ""
  var budget = ""

  /// How many characters of a note the cookie keeps.
  ///
  /// The order gets the whole note.
  private static let remembered = 200
  /// The longest note that the form accepts.
  static let longestNote = 1000

  init() {}

  /// Reads a cookie's value.
  init(cookie: String?) {
    let parts = (cookie ?? "").split(separator: "!", omittingEmptySubsequences: false)
      .map { PercentEncoding.text(String($0)) ?? "" }
    guard parts.count == 3 else { return }
    (by, note, budget) = (parts[0], parts[1], parts[2])
  }

  /// Reads a form.
  init(_ request: StorefrontExchange) {
    by = PlainText.line(request.posted("by") ?? "")
    note = PlainText.block(request.posted("note") ?? "")
    budget = String(PlainText.line(request.posted("budget") ?? "").prefix(40))
  }

  /// The cookie value of the draft.
  var cookie: String {
    [String(by.prefix(100)), String(note.prefix(Self.remembered)), budget]
      .map { PercentEncoding.escaped($0) }.joined(separator: "!")
  }
}

extension PageLanguage {
  /// The language that a browser prefers. (RFC 9110, section 12.5.4)
  ///
  /// - Parameter header: `Accept-Language`; nil for none.
  init(preferred header: String?) {
    var best: (language: PageLanguage, quality: Double)?
    for range in (header ?? "").prefix(500).split(separator: ",") {
      let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
      let tag = parts.first?.split(separator: "-").first.map(String.init) ?? ""
      guard let language = PageLanguage(rawValue: tag) else { continue }
      let quality =
        parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      if quality > best?.quality ?? 0 { best = (language, quality) }
    }
    self = best?.language ?? .english
  }
}

/// A visitor's session, with a CSRF token for its forms.
///
/// The token is an HMAC of the session's id. A page of another origin can neither read nor compute the token. In
/// addition, browsers do not send the cookie with requests from other sites (`SameSite=Strict`).
struct StorefrontSession: Sendable {
  /// The cookie's name.
  static let cookie = "larder-session"

  /// 128 random bits, as 32 hexadecimal digits.
  let id: String
  /// Whether the session is new, so that its cookie has to be set.
  let isNew: Bool

  /// The session that a cookie names, or a new session.
  init(cookie: String?) {
    if let cookie, cookie.utf8.count == 32,
      cookie.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    {
      (id, isNew) = (cookie, false)
    } else {
      var generator = SystemRandomNumberGenerator()
      let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
      (id, isNew) = (Hexadecimal.text(bytes), true)
    }
  }

  /// The CSRF token of this session.
  func token(_ key: SymmetricKey) -> String {
    Hexadecimal.text(HMAC<SHA256>.authenticationCode(for: Array(id.utf8), using: key))
  }

  /// Whether a form has the token of its session.
  ///
  /// Compares in constant time.
  func admits(_ token: String?, _ key: SymmetricKey) -> Bool {
    guard let bytes = token.flatMap(Hexadecimal.bytes) else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(
      bytes,
      authenticating: Array(id.utf8),
      using: key
    )
  }
}

/// The reason why a form is refused.
enum FormRefusal: Equatable {
  /// A page of another site sent the form.
  case foreign
  /// The CSRF token is missing, wrong, or from before a restart.
  case outdated

  /// Checks the origin and the CSRF token of a posted form.
  ///
  /// - Returns: The reason for a refusal; nil if the form is accepted.
  static func of(_ request: StorefrontExchange, _ session: StorefrontSession, _ key: SymmetricKey)
    -> FormRefusal?
  {
    // The browser sets `Sec-Fetch-Site` and `Origin`; a page cannot forge them. (W3C, Fetch Metadata)
    if let site = request.fetchSite, site != "same-origin" { return .foreign }
    if let origin = request.origin {
      guard let host = request.host, !host.isEmpty,
        origin == "http://\(host)" || origin == "https://\(host)"
      else { return .foreign }
    }
    guard !session.isNew, session.admits(request.posted("token"), key) else { return .outdated }
    return nil
  }
}
