import Base
import Catalog
import Orders

/// A request for a page, with the data from the visitor's cookies: language, session, basket and form values.
struct StorefrontRequest: Sendable {
  /// The names of the store's cookies, except the session's.
  static let languageCookie = "larder-language"
  static let basketCookie = "larder-basket"
  static let draftCookie = "larder-draft"

  let request: ServerRequest
  /// The names and values of the form that was sent, in their order.
  let form: [(name: String, value: String)]
  /// The language that the URL asks for, as in `/?lang=ko`; nil if the URL names no language.
  ///
  /// It is kept in a cookie.
  let chosen: PageLanguage?
  /// The language of the page: ``chosen``, or the cookie's language, or the browser's.
  let language: PageLanguage
  let basket: StorefrontBasket
  /// The values that the visitor typed last into the order form, kept in a cookie.
  let draft: StorefrontDraft
  /// The time of the request, in the time zone of this machine.
  let clock: PageClock

  /// Reads a request, given the content of its form.
  init(_ request: ServerRequest, form: [(name: String, value: String)], at now: UnixTime) {
    (self.request, self.form) = (request, form)
    let cookies = request.cookies
    chosen = request.target.value("lang").flatMap(PageLanguage.init(rawValue:))
    language =
      chosen ?? cookies[Self.languageCookie].flatMap(PageLanguage.init(rawValue:))
      ?? PageLanguage(preferred: request.list("Accept-Language"))
    basket = StorefrontBasket(cookie: cookies[Self.basketCookie])
    draft = StorefrontDraft(cookie: cookies[Self.draftCookie])
    clock = .system(at: now)
  }

  /// Whether the request sends a form, and does not only ask for a page.
  var isForm: Bool { request.method == .post }

  /// The first value that the URL's query has for a name.
  func asked(_ name: String) -> String? { request.target.value(name) }

  /// The first value that the form has for a name.
  func posted(_ name: String) -> String? { form.first { $0.name == name }?.value }

  /// Chooses the text in the visitor's language.
  func say(_ english: String, _ korean: String) -> String { language.of(english, korean) }

  /// The message about a section that the last run of `sync` could not refresh.
  ///
  /// - Parameter since: The time when the section was last fetched; nil if the time is unknown.
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

  /// The address of the requested page in a language.
  func address(in language: PageLanguage) -> String {
    let pairs = request.target.query.filter { $0.name != "lang" } + [("lang", language.rawValue)]
    let path = PercentEncoding.escaped(request.target.path, keeping: "/")
    return path + "?" + PercentEncoding.query(pairs)
  }
}

extension ServerRequest {
  /// The names and values in the fields `Cookie`.
  ///
  /// If two cookies have the same name, the first counts. (RFC 6265, section 5.4)
  fileprivate var cookies: [String: String] {
    var cookies: [String: String] = [:]
    for pair in headers["Cookie"].joined(separator: ";").split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let name = String(parts[0].trimmingPrefix(while: { $0 == " " }))
      if cookies[name] == nil { cookies[name] = String(parts[1]) }
    }
    return cookies
  }
}

/// The values that a visitor typed into the order form: name, note and budget.
struct StorefrontDraft: Equatable {
  var by = ""
  var note = ""
  var budget = ""

  /// The cookie keeps this many characters of the note, and the order has the whole note.
  private static let remembered = 200
  /// The longest note that the form accepts, in characters.
  static let longestNote = 1000

  /// Reads a cookie's value.
  init(cookie: String?) {
    let parts = (cookie ?? "").split(separator: "!", omittingEmptySubsequences: false)
      .map { PercentEncoding.text(String($0)) ?? "" }
    guard parts.count == 3 else { return }
    (by, note, budget) = (parts[0], parts[1], parts[2])
  }

  /// Reads the form of a request.
  init(_ visit: StorefrontRequest) {
    by = PlainText.line(visit.posted("by") ?? "")
    note = PlainText.block(visit.posted("note") ?? "")
    budget = String(PlainText.line(visit.posted("budget") ?? "").prefix(40))
  }

  /// The value of the cookie, such as `Ann!no%20onions!20000`.
  var cookie: String {
    [String(by.prefix(100)), String(note.prefix(Self.remembered)), budget]
      .map { PercentEncoding.escaped($0) }.joined(separator: "!")
  }
}

extension PageLanguage {
  /// The language that a browser prefers. (RFC 9110, section 12.5.4)
  ///
  /// - Parameter header: The value of `Accept-Language`, such as `ko-KR,ko;q=0.9`; nil if the field is missing.
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
