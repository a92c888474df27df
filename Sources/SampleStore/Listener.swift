import Dispatch
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Runs hummingbird's server on its own threads.
///
/// Its functions for starting and stopping block their thread.
final class Listener: Sendable {
  /// The result of binding the port.
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
  ) throws(SampleError) {
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
        case let error as IOError: SampleError.words(for: error.errnoCode)
        case let error?: "\(error)"
        case nil: "it closed at once"
        }
      throw SampleError(
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
  /// The server has ended when this function returns. Its threads must end later, because the server needs them to shut
  /// down.
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

  /// Closes the port, calls `closeConnections`, and waits until everything is closed.
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
    // Only the first call shuts the threads down.
    if isFirst { try? group.syncShutdownGracefully() }
  }
}

/// Runs Swift tasks on one event loop.
///
/// `SampleStore.start` blocks its thread until the port is bound. If the server ran on Swift's cooperative threads, a
/// few concurrent starts could block all of them and wait forever.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) {
    self.loop = loop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Sets up each connection of hummingbird's server.
struct SampleChannel: ServerChildChannel {
  /// The connection, whose work runs on its event loop.
  struct Value: ServerChildChannelValue {
    let channel: any Channel
  }

  let origin: Origin

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
      try pipeline.addHandler(SampleConnection(origin))
      return Value(channel: channel)
    }
  }

  func handle(value: Value, logger: Logger) async {
    try? await value.channel.closeFuture.get()
  }
}

/// The open connections, which are closed when the store stops.
final class OpenConnections: Sendable {
  private struct Channels {
    var open: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  private let state = Mutex(Channels())

  /// Registers a connection; false when the store has stopped.
  func add(_ channel: any Channel) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.open[ObjectIdentifier(channel)] = channel }
      return !state.isClosed
    }
  }

  func remove(_ channel: any Channel) {
    state.withLock { $0.open[ObjectIdentifier(channel)] = nil }
  }

  /// Closes every connection and refuses new ones.
  func close() {
    let open = state.withLock { state in
      state.isClosed = true
      defer { state.open = [:] }
      return Array(state.open.values)
    }
    for channel in open { channel.pipeline.fireUserInboundEventTriggered(SampleConnection.Stop()) }
  }
}
