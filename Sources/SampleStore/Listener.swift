import Dispatch
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Hummingbird's server on threads of its own, with a start and a stop that block.
final class Listener: Sendable {
  /// What became of binding the port.
  private final class Outcome: Sendable {
    let channel = Mutex<(any Channel)?>(nil)
    let error = Mutex<(any Error)?>(nil)
    let isKnown = DispatchSemaphore(value: 0)
  }

  let port: Int
  private let group: MultiThreadedEventLoopGroup
  private let server: any Channel
  private let running: DispatchGroup
  private let isStopped = Mutex(false)

  init(
    _ child: some ServerChildChannel,
    host: String,
    port: Int,
    threads: Int
  ) throws(StoreError) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: min(2, max(1, threads)))
    let outcome = Outcome()
    let running = DispatchGroup()
    running.enter()
    let configuration = ServerConfiguration(
      address: .hostname(host, port: port),
      backlog: 1024
    )
    Task(executorPreference: LoopExecutor(group.next())) {
      await Self.serve(child, configuration, on: group, outcome)
      running.leave()
    }
    outcome.isKnown.wait()

    guard let server = outcome.channel.withLock({ $0 }), let bound = server.localAddress?.port
    else {
      running.wait()
      try? group.syncShutdownGracefully()
      let error = outcome.error.withLock { $0 }
      let cause =
        switch error {
        case let error as IOError: StoreError.words(for: error.errnoCode)
        case let error?: "\(error)"
        case nil: "it closed at once"
        }
      throw StoreError(
        .listen,
        "listen on \(host):\(port)",
        cause,
        "choose another port, or 0 for any"
      )
    }
    self.group = group
    self.server = server
    self.running = running
    self.port = bound
  }

  /// Runs the server until its port closes.
  ///
  /// The server ends with this function, and so before the threads do: its last act needs them.
  private static func serve(
    _ child: some ServerChildChannel,
    _ configuration: ServerConfiguration,
    on group: MultiThreadedEventLoopGroup,
    _ outcome: Outcome
  ) async {
    let server = Server(
      childChannelSetup: child,
      configuration: configuration,
      onServerRunning: { channel in
        outcome.channel.withLock { $0 = channel }
        outcome.isKnown.signal()
      },
      eventLoopGroup: group,
      logger: Logger(label: "sample-store") { _ in SwiftLogNoOpLogHandler() }
    )
    do {
      try await server.run()
    } catch {
      outcome.error.withLock { $0 = error }
    }
    outcome.isKnown.signal()
  }

  /// Closes the port, then what `closeConnections` closes, and waits for all of it.
  func stop(closeConnections: () -> Void) {
    let isFirst = isStopped.withLock { stopped in
      defer { stopped = true }
      return !stopped
    }
    if isFirst {
      server.close(promise: nil)
      closeConnections()
    }
    running.wait()
    // The threads end here; a second call finds them ended.
    if isFirst { try? group.syncShutdownGracefully() }
  }
}
