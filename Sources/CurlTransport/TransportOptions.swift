import Base
import Glibc
import Transport

/// The limits and settings of a run of transfers: concurrency, retries, timeouts, addresses and proxies.
package struct TransportOptions: Sendable {
  /// A number that the transport finds itself, or one that the user gave.
  package enum Count: Hashable, Sendable {
    /// Found from measured speed, latency and errors.
    case auto
    /// Exactly that many.
    case fixed(Int)
  }

  /// Concurrent transfers over all hosts; auto goes up to 64, or to `perHost` if that is more, not counting silent
  /// hosts.
  package var parallel = Count.auto
  /// The most concurrent transfers to one host; auto is 16, or no limit under a fixed `parallel`.
  ///
  /// Under an auto `parallel`, each host starts at 16, or at this number if it is smaller, and adapts to its answers.
  /// (``ConcurrencyWindow``)
  package var perHost = Count.auto
  /// Requests per second over all hosts; nil does not limit.
  package var rate: Double?
  /// Which failures are retried, how often and when.
  package var retry = RetryPolicy()
  /// When a host that does not answer counts as dead.
  package var breaker = CircuitBreaker.Thresholds()
  /// The time limit for name resolution, TCP and TLS together.
  package var connectTimeout = Duration.seconds(10)
  /// The least speed of a body in bytes a second; a slower one is given up after `idleTimeout`.
  package var lowSpeed = 64
  /// How long a transfer may be silent, or slower than `lowSpeed`; whole seconds.
  package var idleTimeout = Duration.seconds(30)
  /// The time limit for one attempt from start to end.
  package var transferTimeout = Duration.seconds(900)
  /// When everything unfinished fails with `deadline`; see ``MonotonicTime/now()``.
  package var deadline: MonotonicTime?
  /// The most body bytes, decoded, of the run; then everything unfinished fails with `bytes-limit`.
  package var maxBytes: ByteCount?
  /// The space to leave free on the disk; if less is free, everything unfinished fails with `keep-free`.
  package var reserve: DiskReserve?
  /// Whether hosts that only fetched data names may have private addresses.
  package var allowPrivateAddresses = false
  /// Hosts that the user named, and that may be private wherever their URL comes from.
  package var namedHosts: Set<HostPort> = []
  /// Connections to make elsewhere, as `HOST:PORT:HOST:PORT` of curl's `--connect-to`; such a host counts as named.
  package var connectTo: [String] = []
  /// Certificates to trust instead of the system's, a PEM file.
  package var caFile: String?
  /// The User-Agent field, visible in servers' logs.
  package var userAgent = "larder"
  /// The most bytes of all headers of one response, interim ones included.
  package var headerLimit = 64 << 10
  /// The proxies to use; nil connects directly, even if the environment names one.
  package var proxy: ProxyRoute?
  /// Finds a name's addresses, none when it does not resolve; may block.
  var resolver: @Sendable (String) -> [IPAddress] = NameBook.addresses

  /// Makes the default options.
  package init() {}

  /// The limits that the schedule works with.
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
