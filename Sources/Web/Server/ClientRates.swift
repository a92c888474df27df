import NIOCore
import Synchronization

/// How many requests each client may make: a bucket an address, refilled steadily.
final class ClientRates: Sendable {
  private struct Bucket {
    var tokens: Double
    var filled: NIODeadline
  }

  private let remote: Double?
  private let all: Double?
  private let buckets = Mutex<[String: Bucket]>([:])

  /// How many clients are remembered; then the full buckets are emptied out, and if there are none, all.
  private static let most = 10_000

  init(_ limits: ServerLimits) {
    (remote, all) = (limits.perClient, limits.perAnyClient)
  }

  /// In how many seconds a client may ask again; nil when it may now.
  func refusal(of client: SocketAddress?, at now: NIODeadline = .now()) -> Int? {
    guard remote != nil || all != nil, let address = client?.ipAddress else { return nil }
    guard let rate = all ?? (LoopbackAddress.isOne(address) ? nil : remote) else { return nil }
    // Whoever has one IPv6 address has 2^64.
    let key =
      address.contains(":") && !address.hasPrefix("::ffff:") ? Self.network(address) : address
    let room = max(1, 2 * rate)
    return buckets.withLock { buckets in
      if buckets.count >= Self.most, buckets[key] == nil {
        buckets = buckets.filter { bucket in
          bucket.value.tokens + rate * Self.seconds(bucket.value.filled, now) < room
        }
        if buckets.count >= Self.most { buckets = [:] }
      }
      var bucket = buckets[key] ?? Bucket(tokens: room, filled: now)
      bucket.tokens = min(room, bucket.tokens + rate * Self.seconds(bucket.filled, now))
      bucket.filled = now
      let isAdmitted = bucket.tokens >= 1
      if isAdmitted { bucket.tokens -= 1 }
      buckets[key] = bucket
      return isAdmitted ? nil : max(1, Int(((1 - bucket.tokens) / rate).rounded(.up)))
    }
  }

  private static func seconds(_ from: NIODeadline, _ to: NIODeadline) -> Double {
    Double((to - from).nanoseconds) / 1e9
  }

  /// The first 64 bits of an IPv6 address.
  private static func network(_ address: String) -> String {
    guard let socket = try? SocketAddress(ipAddress: address, port: 0), case .v6(let six) = socket
    else { return address }
    return withUnsafeBytes(of: six.address.sin6_addr) {
      $0.prefix(8).map(String.init).joined(separator: ".")
    }
  }
}
