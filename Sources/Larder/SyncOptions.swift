import Catalog
import CurlTransport
import Pipeline
import Transport

extension Shop {
  /// What a sync is asked for beyond what the catalog file says.
  ///
  ///     var options = Shop.SyncOptions()
  ///     options.deadline = .seconds(600)
  ///     options.requestsPerSecond = 20
  public struct SyncOptions: Sendable, Hashable {
    /// Fetch from here in place of the catalog's `base`; an absolute URL.
    public var base: String?
    /// Fetch only the pictures of the lists.
    public var thumbnailsOnly = false
    /// Fetch details, and the pictures that they name.
    public var details = true
    /// Fail on the first item that cannot be read.
    public var strict = false
    /// How many items of a listing may be unreadable before the last good one stays in its place.
    public var maxSkipped = SkipLimit.standard
    /// Let go what the feed lost suddenly: items, sections, details.
    public var allowsRemovals = false
    /// Keep a square of every picture, of so many pixels a side, from 1 to 4096; see
    /// ``Shop/squares(side:)``.
    public var square: Int?
    /// Transfers at once over all hosts; nil finds the number that is quickest.
    public var parallel: Int?
    /// Transfers at once to one host; nil leaves it to larder, 16 at most.
    public var perHost: Int?
    /// Requests a second over all hosts; nil for no limit.
    public var requestsPerSecond: Double?
    /// How often a failed request is made again.
    public var retries = 4
    /// End after this time; what is left over is ``Shop/Report/unfinished``.
    public var deadline: Duration?
    /// Fetch no more body bytes than this.
    public var maxBytes: Int64?
    /// Let hosts that only fetched data names have private addresses.
    public var allowsPrivateAddresses = false
    /// Connect elsewhere, as `HOST:PORT:HOST:PORT` in curl's words.
    public var connectTo: [String] = []
    /// Trust the certificates in this PEM file in place of the system's.
    public var certificates: String?
    /// What servers see in their logs.
    public var userAgent = "larder"

    /// The defaults of `larder sync`.
    public init() {}
  }
}

extension Shop.SyncOptions {
  /// What the pipeline is told.
  func inner(at now: UnixTime) -> Pipeline.SyncOptions {
    var inner = Pipeline.SyncOptions()
    inner.base = base
    inner.thumbnailsOnly = thumbnailsOnly
    inner.noDetails = !details
    inner.strict = strict
    inner.maxSkipped = maxSkipped
    inner.allowRemovals = allowsRemovals
    inner.squareSide = square
    inner.deadline = deadline.map { now + $0.components.seconds }
    return inner
  }

  /// What the transport is told; `named` are the hosts of the catalog file.
  func transport(named: Set<HostPort>) -> TransportOptions {
    var options = TransportOptions()
    options.parallel = parallel.map { .fixed($0) } ?? .auto
    options.perHost = perHost.map { .fixed($0) } ?? .auto
    options.rate = requestsPerSecond
    options.retry.retries = retries
    options.deadline = deadline.map { MonotonicTime.now() + $0 }
    options.maxBytes = maxBytes.map { ByteCount($0) }
    options.allowPrivateAddresses = allowsPrivateAddresses
    options.namedHosts = named
    options.connectTo = connectTo
    options.caFile = certificates
    options.userAgent = userAgent
    return options
  }

  /// Demands that every number is one that can be.
  func check() throws(LarderError) {
    func demand(_ holds: Bool, _ name: String, _ expected: String) throws(LarderError) {
      guard !holds else { return }
      throw LarderError(.argument, "cannot sync: \(name) takes \(expected)", thing: name)
    }
    try demand(base.map { $0.contains("://") } ?? true, "base", "an absolute URL")
    try demand(square.map((1...4096).contains) ?? true, "square", "a number from 1 to 4096")
    try demand(parallel.map((1...1024).contains) ?? true, "parallel", "a number from 1 to 1024")
    try demand(perHost.map((1...1024).contains) ?? true, "perHost", "a number from 1 to 1024")
    try demand(
      requestsPerSecond.map { $0 > 0 && $0.isFinite } ?? true,
      "requestsPerSecond",
      "a positive number"
    )
    try demand((0...100).contains(retries), "retries", "a number from 0 to 100")
    try demand(deadline.map { $0 > .zero } ?? true, "deadline", "a positive time")
    try demand(maxBytes.map { $0 > 0 } ?? true, "maxBytes", "a positive number")
  }
}
