import NIOCore
import Synchronization

/// The connections that are open, so that stopping can close them all.
final class OpenConnections: Sendable {
  private struct State {
    var open: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Takes a connection in; false when the store has stopped.
  func add(_ channel: any Channel) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.open[ObjectIdentifier(channel)] = channel }
      return !state.isClosed
    }
  }

  func remove(_ channel: any Channel) {
    state.withLock { $0.open[ObjectIdentifier(channel)] = nil }
  }

  /// Tells every connection to close, and lets no further one in.
  func close() {
    let open = state.withLock { state in
      state.isClosed = true
      defer { state.open = [:] }
      return Array(state.open.values)
    }
    for channel in open { channel.pipeline.fireUserInboundEventTriggered(StoreConnection.Stop()) }
  }
}
