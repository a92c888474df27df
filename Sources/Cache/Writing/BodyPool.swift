import Synchronization

/// Arrays for the bodies of small pictures, used again and again.
///
/// A body is gathered on the transfer thread and let go on a lane. With malloc both would take the lock of one heap for
/// each, and whoever holds it when another program's turn comes keeps the other waiting for that long.
final class BodyPool: Sendable {
  /// How much each array holds: what most pictures of a list take.
  static let capacity = 48 << 10
  /// How many are kept: about as many as the gate lets wait.
  private static let most = 96

  private let free = Mutex<[[UInt8]]>([])

  /// An empty array with room for `count` bytes.
  func take(_ count: Int) -> [UInt8] {
    if count <= Self.capacity, let bytes = free.withLock({ $0.popLast() }) { return bytes }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(max(count, Self.capacity))
    return bytes
  }

  /// Keeps an array that nobody else holds, if it is one of these.
  func give(_ used: consuming [UInt8]) {
    var bytes = used
    guard (Self.capacity..<2 * Self.capacity).contains(bytes.capacity) else { return }
    bytes.removeAll(keepingCapacity: true)
    free.withLock { [bytes] in
      if $0.count < Self.most { $0.append(bytes) }
    }
  }
}
