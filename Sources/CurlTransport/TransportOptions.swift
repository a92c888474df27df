import Base
import Glibc
import Transport

/// The limits and settings of a run of transfers: concurrency, retries, timeouts, addresses and proxies.
package struct TransportOptions: Sendable {
  /// A number that the user gave, or that the transport determines itself.
  package enum Count: Hashable, Sendable {
    /// The transport determines the number from measured speed, latency and errors.
    case auto
    /// The user gave this number.
    case fixed(Int)
  }

  /// The maximum number of concurrent transfers over all hosts; auto is 64, or a larger `perHost`.
  ///
  /// Transfers to hosts that do not answer are not counted.
  package var parallel = Count.auto
  /// The maximum number of concurrent transfers to one host; auto is 16, or as many as a fixed `parallel` allows.
  ///
  /// If `parallel` is auto, the number for each host starts at 16, or at `perHost` if that is smaller, and adapts to
  /// the host's answers. (``ConcurrencyWindow``)
  package var perHost = Count.auto
  /// The maximum number of requests per second over all hosts; nil for no limit.
  package var rate: Double?
  /// Which failures are retried, how often and when.
  package var retry = RetryPolicy()
  /// When a host that does not answer counts as dead.
  package var breaker = CircuitBreaker.Thresholds()
  /// The time limit for name resolution, TCP and TLS together.
  package var connectTimeout = Duration.seconds(10)
  /// The lowest speed of a body in bytes a second; a slower transfer is given up after `idleTimeout`.
  package var lowSpeed = 64
  /// How long a transfer may receive nothing, or be slower than `lowSpeed`; whole seconds.
  package var idleTimeout = Duration.seconds(30)
  /// The time limit for one attempt from start to end.
  package var transferTimeout = Duration.seconds(900)
  /// When every unfinished request fails with `deadline`; see ``MonotonicTime/now()``.
  package var deadline: MonotonicTime?
  /// The maximum number of decoded body bytes in the run.
  ///
  /// Beyond it, every unfinished request fails with `bytes-limit`.
  package var maxBytes: ByteCount?
  /// The space to leave free on the disk.
  ///
  /// If less is free, every unfinished request fails with `keep-free`.
  package var reserve: DiskReserve?
  /// Whether hosts that appear only in fetched data may have private addresses.
  package var allowPrivateAddresses = false
  /// The hosts that the user named; they may have private addresses, regardless of where their URL comes from.
  package var namedHosts: Set<HostPort> = []
  /// Connections to make to another host, as `HOST:PORT:HOST:PORT` of curl's `--connect-to`.
  ///
  /// The first host counts as named by the user.
  package var connectTo: [String] = []
  /// A PEM file with the certificates to trust instead of the system's.
  package var caFile: String?
  /// The User-Agent field, visible in servers' logs.
  package var userAgent = "larder"
  /// The maximum size in bytes of all headers of one response, those of interim responses included.
  package var headerLimit = 64 << 10
  /// The proxies to use; nil for direct connections, even if the environment names a proxy.
  package var proxy: ProxyRoute?
  /// Finds a name's addresses, and returns none when the name does not resolve; may block.
  var resolver: @Sendable (String) -> [IPAddress] = NameBook.addresses

  /// Makes the default options.
  package init() {}

  /// The limits for the schedule, ``TransferSchedule``.
  var scheduleLimits: TransferSchedule.Limits {
    var limits = TransferSchedule.Limits()
    limits.rate = rate
    limits.breaker = breaker
    limits.breaker.persistence = max(breaker.persistence, min(retry.retries, 1 << 30) + 1)
    limits.passesOverSilent = parallel == .auto
    switch (parallel, perHost) {
    case (.auto, .auto):
      break
    case (.auto, .fixed(let count)):
      limits.perHost = .upTo(count)
      limits.parallel = max(limits.parallel, count)
    case (.fixed(let total), .auto):
      limits.parallel = max(1, total)
      limits.perHost = .fixed(limits.parallel)
    case (.fixed(let total), .fixed(let count)):
      limits.parallel = max(1, total)
      limits.perHost = .fixed(count)
    }
    return limits
  }
}
