import Glibc
import HummingbirdTLS

/// An origin on this machine: serves a catalog and its pictures, takes orders, and fails on demand.
///
/// It runs on threads of its own, so that it may be started and stopped from anywhere: a command, a
/// synchronous test, a task. It answers while the code that started it is blocked.
///
///     let store = try SampleStore.start(SampleContent(folder: "samples/store"))
///     defer { store.stop() }
///     print(store.baseURL)
package final class SampleStore: Sendable {
  /// The content; it may change at any time.
  package let content: SampleContent
  /// The port that it listens on.
  package let port: Int
  /// Scheme, host and port, without a slash at the end.
  package let baseURL: String

  private let origin: Origin
  private let listener: Listener

  private init(_ origin: Origin, _ listener: Listener, baseURL: String, port: Int) {
    self.origin = origin
    self.content = origin.content
    self.listener = listener
    self.baseURL = baseURL
    self.port = port
  }

  deinit {
    stop()
  }

  /// Starts a store and returns when it accepts connections.
  ///
  /// Blocks for about a millisecond, and waits for no thread but its own.
  ///
  /// - Parameters:
  ///   - content: The content.
  ///   - faults: The faults from the start.
  ///   - tls: A certificate, to speak HTTPS; nil for HTTP.
  ///   - host: The address to listen on; a loopback address unless the whole network may ask.
  ///   - port: The port, or 0 for any that is free.
  ///   - orders: Where orders are taken and kept.
  ///   - threads: Event loop threads, 1 or 2.
  ///   - bytesPerSecond: The bandwidth of the store's link, all bodies together; nil without limit.
  ///   - clock: Seconds since 1970, for `Date` and the arrival of orders.
  /// - Returns: The running store. It stops when it is told to, or when nobody holds it any more.
  /// - Throws: ``SampleError`` when it cannot listen, read its certificate or open its order file.
  package static func start(
    _ content: SampleContent,
    faults: FaultScript = .none,
    tls: TLSIdentity? = nil,
    host: String = "127.0.0.1",
    port: Int = 0,
    orders: OrderIntake = OrderIntake(),
    threads: Int = 2,
    bytesPerSecond: Double? = nil,
    clock: @escaping @Sendable () -> Double = SampleStore.now
  ) throws(SampleError) -> SampleStore {
    let origin = try Origin(
      content,
      faults: faults,
      orders: orders,
      link: bytesPerSecond.map { Link(bytesPerSecond: $0) },
      clock: clock
    )
    let plain = SampleChannel(origin: origin)
    let listener: Listener
    if let tls {
      let secure: TLSChannel<SampleChannel>
      do {
        secure = try TLSChannel(plain, tlsConfiguration: tls.configuration)
      } catch {
        throw SampleError(
          .identity,
          "speak TLS",
          "\(error)",
          "give a key that fits the certificate"
        )
      }
      listener = try Listener(secure, host: host, port: port, threads: threads)
    } else {
      listener = try Listener(plain, host: host, port: port, threads: threads)
    }
    let name = host.contains(":") ? "[\(host)]" : host
    let base = "\(tls == nil ? "http" : "https")://\(name):\(listener.port)"
    return SampleStore(origin, listener, baseURL: base, port: listener.port)
  }

  /// Closes the port and every connection, hanging ones too, and waits until that is done.
  ///
  /// May be called again, and from several threads: each call returns when the store has stopped.
  package func stop() {
    listener.stop { origin.connections.close() }
  }

  /// The faults; setting them restarts the counts of their rules.
  package var faults: FaultScript {
    get { origin.faults }
    set { origin.faults = newValue }
  }

  /// The orders so far, in the order of their arrival.
  package var orders: [OrderRecord] {
    origin.desk.records
  }

  /// Forgets the orders in memory; the file keeps its lines.
  package func clearOrders() {
    origin.desk.clear()
  }

  /// The requests so far; each is here before its answer leaves.
  package var requests: [RequestRecord] {
    origin.journal.records
  }

  /// How often each path was asked for.
  package var requestCounts: [String: Int] {
    requests.reduce(into: [:]) { $0[$1.path, default: 0] += 1 }
  }

  /// Forgets the requests so far.
  package func clearRequests() {
    origin.journal.clear()
  }

  /// Whether requests are written down; switch it off to measure.
  package var journalsRequests: Bool {
    get { origin.journal.keeps }
    set { origin.journal.keeps = newValue }
  }

  /// Blocks until `count` requests were recorded since the journal was last cleared.
  ///
  /// - Parameters:
  ///   - count: How many in all.
  ///   - seconds: How long to wait at most.
  /// - Returns: False when time ran out.
  package func waitForRequests(_ count: Int, seconds: Double = 60) -> Bool {
    origin.journal.wait(for: count, seconds: seconds)
  }

  /// The time of this machine's clock, in seconds since 1970.
  package static let now: @Sendable () -> Double = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }
}
