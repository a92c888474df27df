import Base
import Transport

/// The limits and settings of a transport.
package struct TransportOptions: Sendable {
  /// A number of transfers.
  package enum Count: Hashable, Sendable {
    /// The transport chooses the number.
    case auto
    /// The user gave this number.
    case fixed(Int)
  }

  /// The maximum number of concurrent transfers to all hosts together.
  ///
  /// The option `--parallel` sets it.
  ///
  /// `.auto` means 64, or `perHost` if that is a larger number. Then transfers to hosts that do not answer are not
  /// counted.
  package var parallel = Count.auto
  /// The maximum number of concurrent transfers to one host.
  ///
  /// The option `--per-host` sets it.
  ///
  /// If `parallel` is `.auto`, the number adapts to each host. It is at most 16, or at most the given number. See
  /// ``ConcurrencyWindow``. If only `parallel` is given, one host can get all transfers.
  package var perHost = Count.auto
  /// The maximum number of requests per second to all hosts together, or nil if there is no limit.
  package var rate: Double?
  /// The rules for retries.
  package var retry = RetryPolicy()
  /// The limits after which no more requests are sent to a host that does not answer.
  package var breaker = CircuitBreaker.Thresholds()
  /// The time limit for opening a connection, including name resolution and TLS.
  package var connectTimeout = Duration.seconds(10)
  /// The lowest allowed speed of a transfer, in bytes per second.
  package var lowSpeed = 64
  /// The time after which an attempt fails if it is slower than `lowSpeed`.
  ///
  /// It is rounded up to whole seconds.
  package var idleTimeout = Duration.seconds(30)
  /// The time limit for one attempt.
  package var transferTimeout = Duration.seconds(900)
  /// The time at which every unfinished request fails with the reason `deadline`.
  package var deadline: MonotonicTime?
  /// The maximum number of decoded body bytes in all responses together.
  ///
  /// When it is exceeded, every unfinished request fails with the reason `bytes-limit`.
  package var maxBytes: ByteCount?
  /// The space to leave free on the disk.
  ///
  /// When less space is free, every unfinished request fails with the reason `keep-free`.
  package var reserve: DiskReserve?
  /// Whether a host is allowed to have a private address although only fetched data names it.
  package var allowPrivateAddresses = false
  /// The hosts that the user named.
  ///
  /// They are allowed to have private addresses, even if fetched data also names them.
  package var namedHosts: Set<HostPort> = []
  /// Values of the option `--connect-to`, for example `shop.example:443:127.0.0.1:8443`.
  ///
  /// A connection to the first host and port is made to the second host and port instead. The first host counts as
  /// named by the user.
  package var connectTo: [String] = []
  /// The path of a PEM file with trusted certificates, or nil if the certificates that the system trusts are used.
  package var caFile: String?
  /// The value of the `User-Agent` field.
  package var userAgent = "larder"
  /// The maximum size in bytes of the header fields of a response, including the fields of interim responses.
  package var headerLimit = 64 << 10
  /// The proxies to use.
  ///
  /// Nil if all connections are direct, even if an environment variable names a proxy.
  package var proxy: ProxyRoute?
  /// Returns the addresses of a host name, or an empty array if the name cannot be resolved.
  ///
  /// It is allowed to block.
  var resolver: @Sendable (String) -> [IPAddress] = ProxyAdmission.addresses

  /// Makes the default options.
  package init() {}

  /// The limits for the ``TransferSchedule``.
  var scheduleLimits: TransferSchedule.Limits {
    var limits = TransferSchedule.Limits()
    limits.rate = rate
    limits.breaker = breaker
    limits.breaker.persistence = max(breaker.persistence, min(retry.retries, 1 << 30) + 1)
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
