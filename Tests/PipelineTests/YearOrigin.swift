import Base
import CurlTransport
import Support
import Synchronization
import Transport

/// A shop in memory that changes, shrinks, fails and recovers over a year.
///
/// Its answers depend only on the clock. It counts unnecessary requests: those for resources that
/// are still fresh by its own headers.
final class YearOrigin: Fetching {
  /// The requests so far, by kind.
  struct Count: Sendable {
    var requests = 0
    var needless: [String: Int] = [:]
    var bodies = 0
    /// Requests while the origin was down.
    var unanswered = 0
    /// Requests for the two listed pictures that do not exist.
    var absent = 0
  }

  private struct State {
    var count = Count()
    var freshUntil: [String: Int64] = [:]
  }

  private let state = Mutex(State())
  private let parser = CurlURLParser()
  private let clock: TestClock
  private let start: Int64
  static let base = "http://year.test/"
  private static let items = 40

  /// Whether the simulation lasts only a few days.
  ///
  /// The origin is then down once and shrinks once all the same.
  private let isShort: Bool

  init(_ clock: TestClock, days: Int) {
    self.clock = clock
    start = clock.now.seconds
    isShort = days < 40
  }

  var count: Count { state.withLock { $0.count } }

  private var hour: Int { Int((clock.now.seconds - start) / 3600) }

  /// Whether it is down, which is so for half a day every 45 days.
  var isDown: Bool {
    let from = isShort ? 40 : 30 * 24
    return (from..<from + 12).contains(hour % (45 * 24))
  }

  /// Whether half of a section is missing, which is so for six hours every 60 days.
  var isShrunk: Bool {
    let from = isShort ? 24 : 20 * 24
    return (from..<from + 6).contains(hour % (60 * 24))
  }

  /// The current ids of a section: each week one is removed and one added.
  func ids(_ section: String) -> [String] {
    let week = hour / (7 * 24)
    let ids = (week..<week + Self.items).map { "\(section)\($0)" }
    return isShrunk && section == "a" ? Array(ids.prefix(Self.items / 2)) : ids
  }

  /// The current bytes of a picture: each is replaced every 90 days, on its own day.
  func picture(_ path: String) -> [UInt8] {
    let day = hour / 24 + path.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) % 90 }
    return [0xFF, 0xD8, 0xFF, 0xE0] + Array("\(path) \(day / 90) picture".utf8) + [0xFF, 0xD9]
  }

  private func body(_ path: String) -> (bytes: [UInt8], age: Int64)? {
    switch path {
    case "a", "b":
      let items = ids(path).map { id in
        // The price changes every third day.
        #"{"id": "\#(id)", "title": "Dish \#(id)", "price": \#(1000 + hour / 72), "#
          + #""image": "pictures/\#(id).jpg"}"#
      }
      return (Array("[\(items.joined(separator: ","))]".utf8), 3600)
    case _ where path.hasPrefix("detail/"):
      let id = path.dropFirst("detail/".count)
      return (Array(#"{"id": "\#(id)", "images": ["/pictures/\#(id)-top.jpg"]}"#.utf8), 43_200)
    case "pictures/a3.jpg", "pictures/b50.jpg":
      return nil
    default:
      return (picture(path), 86_400)
    }
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try parser.parse(text, relativeTo: base)
  }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    let url = request.url
    let path = String(url.text.dropFirst(Self.base.count))
    let now = clock.now.seconds
    let answer = isDown ? nil : body(path)
    state.withLock { state in
      state.count.requests += 1
      if isDown {
        state.count.unanswered += 1
      } else if answer == nil {
        state.count.absent += 1
      }
      if now < state.freshUntil[path] ?? 0 { state.count.needless[path, default: 0] += 1 }
      if let answer { state.freshUntil[path] = now + answer.age }
    }
    func fail(_ reason: FailureReason, status: Int? = nil) {
      completion(
        .failure(TransferFailure(reason: reason, url: url.redacted, attempts: 1, status: status))
      )
    }
    guard !isDown else { return fail(.connectRefused) }
    guard let answer else { return fail(.http(404), status: 404) }
    let tag = "\"\(answer.bytes.reduce(5381 as UInt64) { ($0 &* 33) ^ UInt64($1) })\""
    let headers: Headers = [
      "ETag": tag, "Cache-Control": "max-age=\(answer.age)",
      "Date": UnixTime(now).httpDate,
    ]
    if request.condition?.validators.entityTag == tag {
      let head = ResponseHead(status: 304, headers: headers, url: url)
      return completion(.success(Response(head: head, bodyBytes: 0, wireBytes: 0)))
    }
    let count = ByteCount(answer.bytes.count)
    state.withLock { $0.count.bodies += 1 }
    let head = ResponseHead(status: 200, headers: headers, url: url, contentLength: count)
    if case .refuse(let reason) = sink.begin(head, at: 0) { return fail(reason) }
    if case .refuse(let reason) = sink.receive(answer.bytes.span.bytes) { return fail(reason) }
    completion(.success(Response(head: head, bodyBytes: count, wireBytes: count)))
  }

  func cancelAll() {}
}
