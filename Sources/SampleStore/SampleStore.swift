import Base
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A web server on this machine that behaves like a shop, for the demo and the tests.
///
/// It serves a catalog and its pictures, takes orders, and fails on demand.
///
/// The store runs on its own threads, so that any code can start and stop it: a command, a synchronous test or a task.
/// It answers even while the code that started it is blocked.
///
///     let store = try SampleStore(SampleContent(folder: "samples/store"))
///     defer { store.stop() }
///     print(store.baseURL)
package final class SampleStore: Sendable {
  /// The content, which can change at any time.
  package var content: SampleContent { origin.content }
  /// The port that the store listens on.
  package let port: Int
  /// The scheme, the host and the port, such as `http://127.0.0.1:8080`.
  package let baseURL: String

  private let origin: Origin
  /// Two threads of the store's own.
  private let group: MultiThreadedEventLoopGroup
  private let server: any Channel
  private let isStopped = Mutex(false)

  deinit {
    stop()
  }

  /// The type that decodes requests.
  ///
  /// The runtime of Swift 6.3 has crashed once when the threads of several servers made this type at the same time.
  private static let decoder: Any.Type = ByteToMessageHandler<HTTPRequestDecoder>.self

  /// Starts a store, and returns when it accepts connections.
  ///
  /// It stops when ``stop()`` is called, or when the last reference to it is released.
  ///
  /// The call blocks for about a millisecond, and waits only for the store's own threads.
  ///
  /// - Parameters:
  ///   - content: The content.
  ///   - faults: The first fault script.
  ///   - host: The address to listen on. Use a loopback address unless other machines need access.
  ///   - port: The port. Pass 0 to use any free port.
  ///   - orders: The paths that accept orders.
  ///   - journal: A file to which each order is appended as a line of JSON, and synced to disk before the order is
  ///     answered. Pass nil to keep orders only in memory.
  ///   - clock: Returns the seconds since 1970, for the header line `Date` and the arrival of orders.
  /// - Throws: ``LarderError`` when the store cannot listen, or cannot open its file for orders.
  package init(
    _ content: SampleContent,
    faults: FaultScript = [],
    host: String = "127.0.0.1",
    port: Int = 0,
    orders: Set<String> = ["/orders"],
    journal: String? = nil,
    clock: @escaping @Sendable () -> Double = SampleStore.now
  ) throws(LarderError) {
    let origin = try Origin(
      content,
      faults: faults,
      orders: orders,
      journal: journal,
      clock: clock
    )
    _ = Self.decoder
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    do {
      server = try ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
            try pipeline.addHandler(SampleConnection(origin))
          }
        }
        .bind(host: host, port: port).wait()
    } catch {
      try? group.syncShutdownGracefully()
      throw LarderError(
        cannot: "listen on \(host):\(port)",
        (error as? IOError).map { systemMessage($0.errnoCode) } ?? "\(error)",
        "choose another port, or 0 for any"
      )
    }
    (self.origin, self.group) = (origin, group)
    self.port = server.localAddress?.port ?? port
    baseURL = "http://\(host.contains(":") ? "[\(host)]" : host):\(self.port)"
  }

  /// Closes the port and every connection, even those that hang, and waits until all are closed.
  ///
  /// It can be called several times and on several threads. Each call returns after the store has stopped.
  package func stop() {
    isStopped.withLock { isStopped in
      if isStopped { return }
      isStopped = true
      try? server.close().wait()
      // A connection that is being accepted now passes from one thread to another and back. When it finds the port
      // closed, it is closed itself. The threads must not end before that.
      for _ in 1...2 { for loop in group.makeIterator() { try? loop.submit {}.wait() } }
    }
    // If another call has begun this, it waits for the same end.
    try? group.syncShutdownGracefully()
  }

  /// The fault script.
  ///
  /// When a script is set, the counts of its rules begin at 0.
  package var faults: FaultScript {
    get { origin.ledger.withLock { $0.script } }
    set { origin.ledger.withLock { $0 = FaultLedger(newValue) } }
  }

  /// The orders received so far, in the order of their arrival.
  ///
  /// An order counts if it has arrived completely, even if it could not be answered.
  package var orders: [RequestRecord] {
    origin.desk.records
  }

  /// The requests received so far.
  ///
  /// A request is recorded before its answer is sent.
  package var requests: [RequestRecord] {
    origin.journal.records
  }

  /// Removes the recorded requests.
  package func clearRequests() {
    origin.journal.clear()
  }

  /// Blocks until `count` requests have been recorded since the last ``clearRequests()``.
  ///
  /// - Parameters:
  ///   - count: The number of requests.
  ///   - seconds: The longest time to wait.
  /// - Returns: False if the time is over before that.
  package func waitForRequests(_ count: Int, seconds: Double = 60) -> Bool {
    origin.journal.wait(for: count, seconds: seconds)
  }

  /// The current time, in seconds since 1970.
  package static let now: @Sendable () -> Double = { Date().timeIntervalSince1970 }
}

extension LarderError {
  /// An error of the sample store: "cannot TASK: CAUSE; ADVICE".
  init(cannot task: String, _ cause: String, _ advice: String) {
    self.init(.failed, "cannot \(task): \(cause); \(advice)")
  }
}
