import Base
import FoundationEssentials
import NIOCore

/// Connects the server to the functions that render pages; these functions know nothing of sockets.
struct PageSource: Sendable {
  /// Answers a request for a page; nil when there is no such page.
  typealias Pages = @Sendable (StorefrontExchange) async -> StorefrontAnswer?

  private let pages: Pages
  private let clock: @Sendable () -> UnixTime

  init(_ pages: @escaping Pages, clock: @escaping @Sendable () -> UnixTime) {
    (self.pages, self.clock) = (pages, clock)
  }

  /// Renders a page in a task of its own.
  func outcome(of request: ServerRequest) -> Site.Outcome {
    var form: [(name: String, value: String)] = []
    if request.method == .post {
      let type = request.single("Content-Type")?.split(separator: ";").first ?? ""
      guard type.lowercased() == "application/x-www-form-urlencoded" else {
        return .now(
          .problem(415, "forms must be sent as application/x-www-form-urlencoded"),
          .page
        )
      }
      guard let pairs = RequestTarget.pairs(request.body) else {
        return .now(.problem(400, "the form is malformed"), .page)
      }
      form = pairs
    }
    var asked = StorefrontExchange(
      request.method == .post ? .post : .get,
      request.target.path,
      at: Date(timeIntervalSince1970: Double(clock().seconds))
    )
    asked.query = request.target.query
    asked.form = form
    asked.cookies = Self.cookies(request.headers["Cookie"])
    asked.languages = request.list("Accept-Language")
    asked.origin = request.single("Origin")
    asked.host = request.target.authority ?? request.single("Host")
    asked.fetchSite = request.single("Sec-Fetch-Site")
    let page = asked
    return .later(.page) { [pages] done in
      Task { done(await pages(page).map(Self.answer) ?? .problem(404, "not found")) }
    }
  }

  private static func answer(_ page: StorefrontAnswer) -> Answer {
    let named = Set(page.headers.map { $0.name.lowercased() })
    let own = SafetyFields.page.filter { !named.contains($0.name.lowercased()) }
    // The server adds `Content-Length` itself, from the body.
    let fields = page.headers.filter { $0.name.lowercased() != "content-length" }
    var answer = Answer(page.status, fields + own, .bytes(ByteBuffer(bytes: page.body)))
    answer.cause = page.cause
    return answer
  }

  /// The names and values in `Cookie` fields.
  ///
  /// If two cookies have the same name, the first counts. (RFC 6265, section 5.4)
  private static func cookies(_ fields: [String]) -> [String: String] {
    var cookies: [String: String] = [:]
    for pair in fields.joined(separator: ";").split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let name = parts[0].trimmingPrefix(while: { $0 == " " })
      if cookies[String(name)] == nil { cookies[String(name)] = String(parts[1]) }
    }
    return cookies
  }
}
