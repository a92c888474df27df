import NIOCore
import NIOHTTP1
import Pipeline
import Synchronization

/// The server's counters, which `/metrics` shows in the text format of Prometheus, version 0.0.4.
final class ServerMetrics: Sendable {
  private struct Key: Hashable {
    let route: RequestRecord.Route
    let method: String
    let status: Int
  }

  private struct Timing {
    var buckets = [Int](repeating: 0, count: ServerMetrics.bounds.count)
    var count = 0
    var seconds = 0.0
  }

  private struct Counters {
    var requests: [Key: Int] = [:]
    var bytes: [RequestRecord.Route: Int] = [:]
    var timings: [RequestRecord.Route: Timing] = [:]
    var refused = 0
  }

  /// The upper bounds of the buckets of the histogram, in seconds.
  private static let bounds = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
  /// All other methods are counted as `other`.
  private static let methods: Set<String> = ["GET", "HEAD", "POST"]

  private let state = Mutex(Counters())

  /// Counts a connection that was refused because there were too many.
  func refuse() { state.withLock { $0.refused += 1 } }

  /// Counts an answered request.
  func note(_ record: RequestRecord) {
    let method = Self.methods.contains(record.method) ? record.method : "other"
    let key = Key(route: record.route, method: method, status: record.status)
    state.withLock { state in
      state.requests[key, default: 0] += 1
      state.bytes[record.route, default: 0] += record.bytes
      var timing = state.timings[record.route] ?? Timing()
      if let place = Self.bounds.firstIndex(where: { record.seconds <= $0 }) {
        timing.buckets[place] += 1
      }
      timing.count += 1
      timing.seconds += record.seconds
      state.timings[record.route] = timing
    }
  }

  /// The answer to `/metrics`, given the counts of pictures and the number of open connections.
  func answer(_ images: (pulls: PullCounts?, squares: SquareCounts), connections: Int) -> Answer {
    let fields = [
      (name: "Content-Type", value: "text/plain; version=0.0.4; charset=utf-8"),
      (name: "Cache-Control", value: "no-store"),
    ]
    return Answer(
      200,
      fields + SafetyFields.data,
      .bytes(ByteBuffer(string: text(images, connections)))
    )
  }

  private func text(
    _ images: (pulls: PullCounts?, squares: SquareCounts),
    _ connections: Int
  ) -> String {
    let state = state.withLock { $0 }
    var text = MetricLines()
    text.family("http_requests_total", "Answered requests.", "counter")
    let keys = state.requests.keys.sorted {
      ($0.route.rawValue, $0.method, $0.status) < ($1.route.rawValue, $1.method, $1.status)
    }
    for key in keys {
      let labels = [
        ("route", key.route.rawValue), ("method", key.method), ("status", "\(key.status)"),
      ]
      text.sample(labels, "\(state.requests[key] ?? 0)")
    }
    text.family("http_response_bytes_total", "Bytes of answers' bodies.", "counter")
    for (route, bytes) in state.bytes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      text.sample([("route", route.rawValue)], "\(bytes)")
    }
    text.family(
      "http_request_duration_seconds",
      "From the end of a request to the end of its answer.",
      "histogram"
    )
    for (route, timing) in state.timings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let label = ("route", route.rawValue)
      var sum = 0
      for (bound, count) in zip(Self.bounds, timing.buckets) {
        sum += count
        text.sample([label, ("le", "\(bound)")], "\(sum)", suffix: "_bucket")
      }
      text.sample([label, ("le", "+Inf")], "\(timing.count)", suffix: "_bucket")
      text.sample([label], "\(timing.seconds)", suffix: "_sum")
      text.sample([label], "\(timing.count)", suffix: "_count")
    }
    text.family("http_connections", "Connections that are open.", "gauge")
    text.sample([], "\(connections)")
    text.family(
      "http_connections_refused_total",
      "Connections refused because there were too many.",
      "counter"
    )
    text.sample([], "\(state.refused)")
    text.family("squares_made_total", "Squares made on request.", "counter")
    text.sample([("outcome", "made")], "\(images.squares.made)")
    text.sample([("outcome", "refused")], "\(images.squares.refused)")
    if let pulls = images.pulls {
      text.family("pulls_total", "Pictures fetched on request.", "counter")
      text.sample([("outcome", "fetched")], "\(pulls.fetched)")
      text.sample([("outcome", "failed")], "\(pulls.failed)")
      text.family("pulled_bytes_total", "Bytes of these pictures.", "counter")
      text.sample([], "\(pulls.bytes)")
      text.family("pulls_under_way", "Pictures that are being fetched.", "gauge")
      text.sample([], "\(pulls.underWay)")
      text.family(
        "pulls_unkept",
        "Fetched pictures that wait because a run holds the cache.",
        "gauge"
      )
      text.sample([], "\(pulls.unkept)")
    }
    return text.text
  }
}

/// The measurements of an answered request, for the log and the counters.
package struct RequestRecord: Sendable {
  /// The kinds of paths that are counted separately.
  package enum Route: String, CaseIterable, Sendable {
    case page, sections, section, item, search, openapi, image, square, health, metrics, refused
  }

  /// The client's IP address, or `-` if it is unknown.
  package let client: String
  /// The method as it was sent; `-` if the bytes were not an HTTP request.
  package let method: String
  /// The whole request target as it was sent; `-` if the bytes were not an HTTP request.
  package let target: String
  /// The kind of the path.
  package var route = Route.refused
  /// The answer's status.
  package var status = 0
  /// The cause of an internal failure; nil if there was no failure, or if its cause is unknown.
  package var cause: String?
  /// The length of the answer's body, in bytes, even if the client did not take all of it.
  package var bytes = 0
  /// The time from the end of the request to the end of the answer, in seconds.
  package private(set) var seconds = 0.0
  private let began = NIODeadline.now()

  /// Creates the record of a request; `head` is nil if the bytes were not an HTTP request.
  init(_ head: HTTPRequestHead?, _ client: SocketAddress?) {
    self.client = client?.ipAddress ?? "-"
    method = head?.method.rawValue ?? "-"
    target = head?.uri ?? "-"
  }

  mutating func end() {
    seconds = Double((NIODeadline.now() - began).nanoseconds) / 1e9
  }
}
