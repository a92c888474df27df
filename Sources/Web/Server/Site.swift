import Cache
import NIOCore
import NIOHTTP1
import Synchronization

/// Everything that is served: judges a request, finds what it is for, and has that answered.
///
/// Called on event loops, so whatever may take its time is done on ``Workbench`` or in a task.
final class Site: Sendable {
  typealias Route = RequestRecord.Route

  /// What becomes of a request.
  enum Outcome {
    /// An answer that is at hand.
    case now(Answer, Route)
    /// One that takes its time; it is handed over exactly once, on any thread.
    case later(Route, (@escaping @Sendable (Answer) -> Void) -> Void)
  }

  let limits: ServerLimits
  let metrics = ServerMetrics()
  private let hosts: HostRule
  private let rate: ClientRates
  private let pages: PageSource?
  private let shelf: CatalogShelf
  private let images: ImageRoutes
  private let interface: InterfaceRoutes
  private let bench: Workbench
  private let log: @Sendable (RequestRecord) -> Void
  private let isStopping = Atomic<Bool>(false)

  init(_ content: ServerContent, hosts: [String], limits: ServerLimits) {
    self.limits = limits
    self.hosts = HostRule(names: hosts)
    rate = ClientRates(limits)
    pages = content.pages
    shelf = content.shelf
    bench = Workbench()
    images = ImageRoutes(content, bench)
    interface = InterfaceRoutes(content, bench)
    log = content.log
  }

  /// Whether the server is about to end, which `healthz` tells.
  func stop() { isStopping.store(true, ordering: .relaxed) }

  /// Ends what works for requests, once there are none; blocks for a moment.
  func finish() { images.stop() }

  /// Counts and logs a request that was answered.
  func note(_ record: RequestRecord) {
    metrics.note(record)
    log(record)
  }

  /// Judges a request and begins to answer it.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - local: The address that it came to.
  ///   - client: Who asks.
  /// - Returns: What becomes of it.
  func outcome(
    of request: IncomingRequest,
    at local: SocketAddress?,
    from client: SocketAddress?
  ) -> Outcome {
    switch judged(request, at: local, from: client) {
    case .failure(let refusal): return .now(refusal.answer, .refused)
    case .success(let request): return route(request)
    }
  }

  /// An answer in place of what was asked for.
  private struct Refusal: Error {
    let answer: Answer

    init(_ answer: Answer, closes: Bool = false) {
      var answer = answer
      answer.closes = closes
      self.answer = answer
    }
  }

  /// Whether the body of a request is asked for, whose head alone has come.
  func wantsBody(of incoming: IncomingRequest, at local: SocketAddress?) -> Bool {
    guard case .success(let request) = read(incoming, at: local) else { return false }
    return request.method != .post || isOwn(request, at: local)
  }

  private func judged(
    _ incoming: IncomingRequest,
    at local: SocketAddress?,
    from client: SocketAddress?
  ) -> Result<ServerRequest, Refusal> {
    read(incoming, at: local).flatMap { request in
      if let wait = rate.refusal(of: client) {
        let answer = Answer.problem(
          429,
          "too many requests; ask again in \(wait) s",
          [("Retry-After", "\(wait)")]
        )
        return .failure(Refusal(answer))
      }
      guard request.method != .post || isOwn(request, at: local) else {
        let words = "another site's page sent this; open the form here and send it again"
        return .failure(Refusal(.problem(403, words)))
      }
      return .success(request)
    }
  }

  /// Reads a request to a name of this server, as far as it has come.
  private func read(
    _ incoming: IncomingRequest,
    at local: SocketAddress?
  ) -> Result<ServerRequest, Refusal> {
    let head = incoming.head
    guard head.version.major == 1 else {
      return .failure(Refusal(.problem(505, "this server speaks HTTP/1.1"), closes: true))
    }
    guard !incoming.isTooLong else {
      let words = "the body is longer than \(limits.body) bytes"
      return .failure(Refusal(.problem(413, words), closes: true))
    }
    guard head.uri.utf8.count <= RequestTarget.limit else {
      return .failure(Refusal(.problem(414, "the URL is too long"), closes: true))
    }
    guard let method = ServerRequest.Method(rawValue: head.method.rawValue) else {
      let isData = Self.data.contains { head.uri.hasPrefix($0) }
      let methods = isData ? "GET, HEAD" : "GET, HEAD, POST"
      let answer = Answer.problem(405, "there is no such method here", [("Allow", methods)])
      return .failure(Refusal(answer, closes: true))
    }
    let names = head.headers["Host"]
    guard let target = RequestTarget(head.uri), names.count == 1 else {
      let answer = Answer.problem(400, "the URL or the Host field is malformed")
      return .failure(Refusal(answer, closes: true))
    }
    // Of a whole URL the host in it counts. (RFC 9112, section 3.2.2)
    guard hosts.admits(target.authority ?? names[0], at: local), hosts.admits(names[0], at: local)
    else {
      let words =
        "this server does not go by that name; ask by the address that it printed when it began, or name the "
        + "host when starting it"
      return .failure(Refusal(.problem(421, words)))
    }
    return .success(
      ServerRequest(method: method, target: target, headers: head.headers, body: incoming.body)
    )
  }

  /// What the paths begin with that are no pages.
  private static let data = ["/api/", "/images/", "/openapi.json", "/healthz", "/metrics"]

  /// Whether a POST does not come from another site's page, as far as the browser says.
  private func isOwn(_ request: ServerRequest, at local: SocketAddress?) -> Bool {
    if let site = request.single("Sec-Fetch-Site"), site != "same-origin", site != "none" {
      return false
    }
    guard let origin = request.list("Origin") else { return true }
    guard let target = RequestTarget(origin), let authority = target.authority else {
      return false
    }
    return hosts.admits(authority, at: local)
  }

  private func route(_ request: ServerRequest) -> Outcome {
    let segments = request.target.segments
    switch segments.first {
    case "images": return readOnly(request, .image) { images.outcome(of: $0) }
    case "api", "openapi.json":
      return readOnly(request, .openapi) { interface.outcome(of: $0) }
    case "healthz" where segments.count == 1:
      return readOnly(request, .health) { _ in
        .later(.health) { [self] done in bench.make({ [self] in health() }, done) }
      }
    case "metrics" where segments.count == 1:
      return readOnly(request, .metrics) { _ in
        .now(metrics.answer(images.counts), .metrics)
      }
    default: return page(request)
    }
  }

  private func readOnly(
    _ request: ServerRequest,
    _ route: Route,
    _ outcome: (ServerRequest) -> Outcome
  ) -> Outcome {
    guard request.method != .post else {
      return .now(.problem(405, "this can only be read", [("Allow", "GET, HEAD")]), route)
    }
    return outcome(request)
  }

  private func health() -> Answer {
    let fields = [
      (name: "Content-Type", value: "text/plain; charset=utf-8"),
      (name: "Cache-Control", value: "no-store"),
    ]
    func answer(_ status: Int, _ words: String) -> Answer {
      Answer(status, fields + SafetyFields.data, .bytes(ByteBuffer(string: words + "\n")))
    }
    if isStopping.load(ordering: .relaxed) { return answer(503, "stopping") }
    do throws(CacheError) {
      try shelf.demandReadable()
      return answer(200, "ok")
    } catch {
      return answer(503, "the catalog cannot be read").caused(by: error)
    }
  }

  private func page(_ request: ServerRequest) -> Outcome {
    guard let pages else { return .now(.problem(404, "there is nothing here"), .page) }
    return pages.outcome(of: request)
  }
}
