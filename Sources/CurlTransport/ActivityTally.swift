import Synchronization
import Transport

/// Counts the requests under way, for other threads to look at.
///
/// The transfer thread alone counts: a few times a request, with no lock, and never for a byte.
final class ActivityTally: Sendable {
  /// How many requests under way were last sent to one host.
  final class Host: Sendable {
    let name: String
    private let requests = Atomic<Int>(0)

    init(_ name: String) { self.name = name }

    var count: Int { requests.load(ordering: .relaxed) }

    func add(_ count: Int) { requests.wrappingAdd(count, ordering: .relaxed) }
  }

  private let hosts = Mutex<[Host]>([])
  private let retrying = Atomic<Int>(0)

  /// Makes the counter of a host that has none.
  func addHost(_ url: WebURL) -> Host {
    let host = Host(url.shownHost)
    hosts.withLock { $0.append(host) }
    return host
  }

  /// Takes note of so many more requests, or fewer, that are made again.
  func addRetrying(_ count: Int) { retrying.wrappingAdd(count, ordering: .relaxed) }

  /// What is under way now.
  ///
  /// Each count is right; between the looks at two of them a request may have moved.
  var activity: TransferActivity {
    let hosts = hosts.withLock { $0 }
    return TransferActivity(
      retrying: retrying.load(ordering: .relaxed),
      underWay: hosts.lazy.map { ($0.name, $0.count) }
    )
  }
}
