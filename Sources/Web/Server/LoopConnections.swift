import NIOCore
import Synchronization
import Transport

/// The connections of one event loop: their time limits, and the date that their answers bear.
///
/// All of it runs on that loop.
final class LoopConnections {
  /// What the loops of a server share.
  final class Shared: Sendable {
    /// How many connections are open.
    let count = Atomic<Int>(0)
    /// The wall clock.
    let clock: @Sendable () -> UnixTime

    init(_ clock: @escaping @Sendable () -> UnixTime) { self.clock = clock }
  }

  private let shared: Shared
  private let limits: ServerLimits
  private var open: [ObjectIdentifier: ServerConnection] = [:]
  private(set) var date = ""
  private var second: Int64 = 0

  init(_ shared: Shared, _ limits: ServerLimits) {
    (self.shared, self.limits) = (shared, limits)
    renewDate()
  }

  /// Looks at every connection once a second.
  ///
  /// One timer a loop costs less than one a request, and a limit that comes a second late is no harm.
  static func start(
    _ shared: Shared,
    _ limits: ServerLimits,
    on loop: any EventLoop
  ) -> NIOLoopBound<LoopConnections> {
    let connections = NIOLoopBound(LoopConnections(shared, limits), eventLoop: loop)
    loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
      connections.value.sweep()
    }
    return connections
  }

  /// Takes a connection in.
  ///
  /// Where there are too many, the one that has waited longest without asking for anything is closed: thousands of
  /// connections that send a byte now and then keep nobody out.
  ///
  /// - Returns: False when none can give way.
  func add(_ connection: ServerConnection) -> Bool {
    if shared.count.add(1, ordering: .relaxed).newValue > limits.connections {
      guard
        let idlest = open.values.filter(\.isWaiting).min(by: { $0.waitingSince < $1.waitingSince })
      else {
        shared.count.subtract(1, ordering: .relaxed)
        return false
      }
      idlest.shut()
    }
    open[ObjectIdentifier(connection)] = connection
    return true
  }

  /// Lets a connection go that was taken in.
  func remove(_ connection: ServerConnection) {
    guard open.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    shared.count.subtract(1, ordering: .relaxed)
  }

  /// Closes every connection, whatever it is doing.
  func shutAll() {
    for connection in Array(open.values) { connection.shut() }
  }

  private func sweep() {
    renewDate()
    let now = NIODeadline.now()
    for connection in Array(open.values) where connection.deadline < now { connection.shut() }
  }

  private func renewDate() {
    let now = shared.clock()
    guard now.seconds != second else { return }
    second = now.seconds
    date = now.httpDate
  }
}
