import NIOCore
import NIOHTTP1
import Pipeline
import Synchronization

/// The server's counters, which `/metrics` shows in the text format of Prometheus, version 0.0.4.
final class ServerMetrics: Sendable {
  private struct Answered: Hashable {
    let method: String
    let status: Int
  }

  /// The counts of one kind of path.
  private struct Counts {
    var answers: [Answered: Int] = [:]
    var bytes = 0
    var seconds = 0.0
    var buckets = [Int](repeating: 0, count: ServerMetrics.bounds.count)
  }

  /// The upper bounds of the buckets of the histogram, in seconds.
  private static let bounds = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

  private let routes = Mutex<[RequestRecord.Route: Counts]>([:])
  private let refused = Atomic<Int>(0)

  /// Counts a connection that was refused because there were too many.
  func refuse() { refused.add(1, ordering: .relaxed) }

  /// Counts an answered request; a method that the server does not accept is counted as `other`.
  func note(_ record: RequestRecord) {
    let method = ServerRequest.Method(rawValue: record.method)?.rawValue ?? "other"
    routes.withLock { routes in
      var counts = routes[record.route] ?? Counts()
      counts.answers[Answered(method: method, status: record.status), default: 0] += 1
      counts.bytes += record.bytes
      counts.seconds += record.seconds
      if let place = Self.bounds.firstIndex(where: { record.seconds <= $0 }) {
        counts.buckets[place] += 1
      }
      routes[record.route] = counts
    }
  }

  /// The answer to `/metrics`, given the counts of pictures and the number of open connections.
  func answer(_ images: (pulls: PullCounts?, squares: SquareCounts), connections: Int) -> Answer {
    let routes = routes.withLock { $0 }.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { (label: ("route", $0.key.rawValue), counts: $0.value) }
    var text = MetricLines()
    /// Adds a family; a sample has a value and the value of the label `outcome`, which is empty if it has no label.
    func add(_ name: String, _ help: String, _ type: String, _ samples: KeyValuePairs<String, Int>)
    {
      text.family(name, help, type)
      for (outcome, value) in samples {
        text.sample(outcome.isEmpty ? [] : [("outcome", outcome)], "\(value)")
      }
    }
    text.family("http_requests_total", "Answered requests.", "counter")
    for (label, counts) in routes {
      let answers = counts.answers.sorted {
        ($0.key.method, $0.key.status) < ($1.key.method, $1.key.status)
      }
      for (key, count) in answers {
        text.sample([label, ("method", key.method), ("status", "\(key.status)")], "\(count)")
      }
    }
    text.family("http_response_bytes_total", "Bytes of answers' bodies.", "counter")
    for (label, counts) in routes { text.sample([label], "\(counts.bytes)") }
    text.family(
      "http_request_duration_seconds",
      "From the end of a request to the end of its answer.",
      "histogram"
    )
    for (label, counts) in routes {
      var sum = 0
      for (bound, count) in zip(Self.bounds, counts.buckets) {
        sum += count
        text.sample([label, ("le", "\(bound)")], "\(sum)", suffix: "_bucket")
      }
      let count = counts.answers.values.reduce(0, +)
      text.sample([label, ("le", "+Inf")], "\(count)", suffix: "_bucket")
      text.sample([label], "\(counts.seconds)", suffix: "_sum")
      text.sample([label], "\(count)", suffix: "_count")
    }
    let (squares, refused) = (images.squares, refused.load(ordering: .relaxed))
    let tooMany = "Connections refused because there were too many."
    add("http_connections", "Connections that are open.", "gauge", ["": connections])
    add("http_connections_refused_total", tooMany, "counter", ["": refused])
    let made: KeyValuePairs = ["made": squares.made, "refused": squares.refused]
    add("squares_made_total", "Squares made on request.", "counter", made)
    if let pulls = images.pulls {
      let ended: KeyValuePairs = ["fetched": pulls.fetched, "failed": pulls.failed]
      let unkept = "Fetched pictures that wait because a run holds the cache."
      add("pulls_total", "Pictures fetched on request.", "counter", ended)
      add("pulled_bytes_total", "Bytes of these pictures.", "counter", ["": pulls.bytes])
      add("pulls_under_way", "Pictures that are being fetched.", "gauge", ["": pulls.underWay])
      add("pulls_unkept", unkept, "gauge", ["": pulls.unkept])
    }
    return .text(200, text.text, version: " version=0.0.4;")
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
