import Cache
import Catalog
import CurlTransport
import Support
import Synchronization
import Transport

@testable import Pipeline

/// A shop with one item, on a scripted server.
///
/// A test sets the answer for each path, and reads the requests.
final class ScriptedShop: Sendable {
  /// The answer for a path.
  struct Answer: Sendable {
    var status = 200
    var fields: [String] = []
    var body: [UInt8] = []
    /// The ETag that is answered with 304.
    var tag: String?
  }

  let folder: TemporaryFolder
  let clock = TestClock()
  private let server: ScriptedServer
  private let box = AnswerBox()

  /// Whether the catalog file has a base; relative pictures are relative to the response's final URL if it has none.
  private let hasBase: Bool

  init(hasBase: Bool = true) throws {
    self.hasBase = hasBase
    folder = try TemporaryFolder()
    server = ScriptedServer { [box] in box.answer($0) }
    self["/list"] = Answer(fields: ["Cache-Control: no-cache"], body: Self.list())
  }

  /// The answer for a path from now on.
  subscript(path: String) -> Answer? {
    get { box.state.withLock { $0.answers[path] } }
    set { box.state.withLock { $0.answers[path] = newValue } }
  }

  /// The requests since the last ``forget()``.
  var asked: [ScriptedServer.Received] { box.state.withLock { $0.log } }

  /// Clears the recorded requests.
  func forget() { box.state.withLock { $0.log = [] } }

  /// The absolute URL of a path.
  func url(_ path: String) -> String { server.url(path) }

  /// Calls a closure before each answer.
  func whenAsked(_ body: (@Sendable (_ path: String) -> Void)?) {
    box.state.withLock { $0.whenAsked = body }
  }

  /// The server's port.
  var port: Int { server.port }

  /// Ends the server.
  func close() { server.close() }

  /// The list of the one item, whose picture is at `/x`.
  static func list(title: String = "Dish", picture: String = "/x") -> [UInt8] {
    Array(
      """
      [{"detail_hash": "A1", "title": "\(title)", "image": "\(picture)", "s_price": "7,000원"}]
      """.utf8
    )
  }

  /// A detail with this description.
  static func detail(_ words: String) -> [UInt8] {
    Array(
      """
      {"hash": "A1", "data": {"top_image": "/x", "thumb_images": [], \
      "product_description": "\(words)", "prices": ["7,000원"]}}
      """.utf8
    )
  }

  /// Runs a sync or `warm`.
  @discardableResult
  func run(
    warm: Bool = false,
    detail: Bool = false,
    headers: String? = nil,
    lines: String = "",
    list: String = "list",
    environment: [String: String] = [:],
    among others: [Int] = [],
    userAgent: String = "larder/1",
    allowsPrivateAddresses: Bool = false
  ) throws -> SyncReport {
    var options = SyncOptions()
    options.onlyDue = warm
    var transport = TransportOptions()
    transport.namedHosts = Set(
      ([server.port] + others).map { HostPort(host: "127.0.0.1", port: $0) }
    )
    transport.retry.retries = 0
    transport.allowPrivateAddresses = allowsPrivateAddresses
    transport.userAgent = userAgent
    let curl = try CurlTransport(transport)
    defer { curl.shutdown() }
    let clock = clock
    return try SyncRun(
      try catalog(detail: detail, headers: headers, lines, list: list),
      folder: folder.path,
      cache: folder.path("cache"),
      options: options,
      transport: curl,
      environment: environment,
      disk: SystemDisk(durable: false),
      now: { clock.now }
    ).run(holder: "a test")
  }

  /// The plan of a dry run.
  func plan(
    warm: Bool = false,
    detail: Bool = false,
    headers: String? = nil,
    lines: String = ""
  ) throws -> SyncPlan {
    var options = SyncOptions()
    options.onlyDue = warm
    var transport = TransportOptions()
    transport.userAgent = "larder/1"
    let curl = try CurlTransport(transport)
    defer { curl.shutdown() }
    let clock = clock
    return try SyncPlan(
      SyncRun(
        try catalog(detail: detail, headers: headers, lines),
        folder: folder.path,
        cache: folder.path("cache"),
        options: options,
        transport: curl,
        now: { clock.now }
      )
    )
  }

  private func catalog(
    detail: Bool,
    headers: String?,
    _ more: String,
    list: String = "list"
  ) throws -> CatalogFile {
    let place = hasBase ? "" : server.url()
    let lines = [
      "name: shop", "currency: KRW", hasBase ? "base: \(server.url())" : "",
      "sections: [{key: all, title: All, url: \"\(place)\(list)\"}]",
      detail ? "detail: {url: \"\(place)detail/{id}\"}" : "",
      headers.map { "headers: {\($0)}" } ?? "", more,
    ]
    return try CatalogFile(parsing: Array(lines.joined(separator: "\n").utf8), file: "s.yaml")
  }

  /// The item as it is shown.
  func shown() throws -> ShownItem? {
    try CatalogReader(cache: folder.path("cache"), catalog: nil).show("A1")
  }

  /// The picture's bytes as text.
  func picture() throws -> String? {
    guard let path = try shown()?.thumbnail?.path else { return nil }
    let bytes = try folder.read("cache/\(path)")
    return String(decoding: bytes.dropFirst(6).dropLast(2), as: UTF8.self)
      .replacing("picture ", with: "")
  }
}

/// The answers of a scripted shop, and its record of requests.
private final class AnswerBox: Sendable {
  struct State {
    var answers: [String: ScriptedShop.Answer] = [:]
    var log: [ScriptedServer.Received] = []
    var whenAsked: (@Sendable (_ path: String) -> Void)?
  }

  let state = Mutex(State())

  func answer(_ request: ScriptedServer.Received) -> [ScriptedServer.Action] {
    let (answer, whenAsked) = state.withLock { state in
      state.log.append(request)
      return (state.answers[request.path], state.whenAsked)
    }
    whenAsked?(request.path)
    guard var answer else { return [.send("HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n")] }
    if let tag = answer.tag {
      answer.fields.append("ETag: \(tag)")
      if request.header("If-None-Match") == tag {
        answer.status = 304
        answer.body = []
      }
    }
    let lines = ["HTTP/1.1 \(answer.status) Status"] + answer.fields
    let length = answer.status == 304 ? [] : ["Content-Length: \(answer.body.count)"]
    let head = (lines + length).joined(separator: "\r\n") + "\r\n\r\n"
    return [.bytes(Array(head.utf8) + answer.body)]
  }
}
