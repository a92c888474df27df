import Base
import Catalog
import CurlTransport
import Dispatch
import Pipeline
import Synchronization
import Transport

extension Shop {
  /// Fetches the sections, then details and pictures, in parallel, and reports the changes.
  ///
  /// Data that is still fresh is not requested, and unchanged data is not downloaded again, so a second run costs
  /// little. If the process is killed, no complete picture is lost. If the task is cancelled, the run ends early:
  /// complete pictures are kept, and the report has the outcome `interrupted`.
  ///
  /// - Parameters:
  ///   - options: The limits, filters and other settings, such as a `deadline` of `.seconds(600)`.
  ///   - progress: Called about ten times a second while something changes, and once at the end. Two calls never
  ///     overlap.
  /// - Returns: The report. It lists the sections, details and pictures that failed.
  /// - Throws: ``LarderError`` when the run could not take place at all, for example because another run has locked
  ///   the cache.
  @discardableResult
  public func sync(
    _ options: SyncOptions = SyncOptions(),
    progress: (@Sendable (SyncProgress) -> Void)? = nil
  ) async throws(LarderError) -> SyncReport {
    try await run(options, onlyDue: false, progress)
  }

  /// Fetches only stale and missing data, the most valuable first; otherwise the same as ``sync(_:progress:)``.
  ///
  /// The method is meant for a timer that runs often.
  ///
  /// If a deadline, a rate or ``SyncOptions/maxBytes`` prevents requests, those requests come first in the next run.
  ///
  /// - Parameters:
  ///   - options: The limits, filters and other settings.
  ///   - progress: As in ``sync(_:progress:)``.
  /// - Returns: The report. It lists the sections, details and pictures that failed.
  /// - Throws: ``LarderError`` when the run could not take place at all, for example because another run has locked
  ///   the cache.
  @discardableResult
  public func warm(
    _ options: SyncOptions = SyncOptions(),
    progress: (@Sendable (SyncProgress) -> Void)? = nil
  ) async throws(LarderError) -> SyncReport {
    try await run(options, onlyDue: true, progress)
  }

  private func run(
    _ options: SyncOptions,
    onlyDue: Bool,
    _ progress: (@Sendable (SyncProgress) -> Void)?
  ) async throws(LarderError) -> SyncReport {
    try options.check()
    return try await Blocking.run { stop in
      try perform(options, onlyDue: onlyDue, progress, stop)
    }
  }

  private func perform(
    _ options: SyncOptions,
    onlyDue: Bool,
    _ progress: (@Sendable (SyncProgress) -> Void)?,
    _ stop: StopFlag
  ) throws -> SyncReport {
    var inner = options.inner(at: now)
    inner.onlyDue = onlyDue
    return try transport.use {
      let addresses = try CatalogAddresses(
        catalog,
        folder: folder,
        base: options.base,
        environment: environment,
        CurlURLParser()
      )
      return options.transport(named: try addresses.namedHosts())
    } _: { fetcher in
      let run = SyncRun(
        catalog,
        folder: folder,
        cache: cache,
        options: inner,
        transport: fetcher,
        environment: environment,
        now: { now }
      )
      stop.whenRaised { run.stop() }
      let watch = progress.map { ProgressWatch(run.progress, $0) }
      defer { watch?.end() }
      return try run.run(holder: holder(onlyDue ? "warm" : "sync"))
    }
  }
}

/// Looks at the progress of a run ten times a second, and reports changes.
private final class ProgressWatch {
  private let queue = DispatchQueue(label: "larder.progress")
  private let timer: any DispatchSourceTimer
  private let tell: @Sendable () -> Void

  init(_ meter: ProgressMeter, _ call: @escaping @Sendable (SyncProgress) -> Void) {
    let last = Mutex<SyncProgress?>(nil)
    tell = {
      let new = meter.current
      let isNew = last.withLock { last in
        defer { last = new }
        return last != new
      }
      if isNew { call(new) }
    }
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler(handler: tell)
    timer.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100))
    timer.resume()
  }

  /// Reports the final progress, and stops.
  func end() {
    timer.cancel()
    queue.sync(execute: tell)
  }
}

extension Shop {
  /// The settings of a sync that are not in the catalog file.
  ///
  ///     var options = Shop.SyncOptions()
  ///     options.deadline = .seconds(600)
  ///     options.requestsPerSecond = 20
  public struct SyncOptions: Sendable, Hashable {
    /// The URL to fetch from instead of the catalog's `base`.
    ///
    /// It is absolute, such as `https://shop.example/`.
    public var base: String?
    /// Whether to skip the pictures that only the details of items refer to.
    ///
    /// The details themselves are still fetched, unless ``details`` is false.
    public var thumbnailsOnly = false
    /// Whether to fetch details, and the pictures that they refer to.
    ///
    /// A detail is the document about one item.
    public var details = true
    /// Whether to fail on the first item that cannot be read.
    public var strict = false
    /// How many unreadable items of a section are accepted, as a number or as a share, such as `.percent(10)`.
    ///
    /// If more items are unreadable, the section keeps its items of the last run.
    public var maxSkipped = SkipLimit.standard
    /// Whether to accept that very many items, sections or details disappear at once.
    ///
    /// If this is false, larder keeps them and reports the removal, because the removal may be a fault of the shop.
    public var allowsRemovals = false
    /// The width and height of square thumbnails, from 1 to 4096 pixels; if it is nil, no thumbnails are made.
    ///
    /// A sync makes a thumbnail of every picture.
    ///
    /// ``Shop/squares(side:)`` returns the files of the thumbnails.
    public var square: Int?
    /// The number of simultaneous transfers, for all hosts together.
    ///
    /// If it is nil, larder finds the fastest number.
    public var parallel: Int?
    /// The number of simultaneous transfers to one host.
    ///
    /// If it is nil, larder chooses a number up to 16.
    public var perHost: Int?
    /// The maximum number of requests a second to all hosts together.
    ///
    /// If it is nil, there is no limit.
    public var requestsPerSecond: Double?
    /// How many times a failed request is retried.
    public var retries = 4
    /// The time after which the run ends.
    ///
    /// ``SyncReport/unfinished`` lists the work that is left.
    public var deadline: Duration?
    /// The maximum number of bytes to fetch, counted without headers.
    ///
    /// If it is nil, there is no limit.
    public var maxBytes: Int64?
    /// Whether larder is allowed to connect to private addresses of hosts that only the shop's responses name.
    ///
    /// For example, 192.168.0.1 is a private address. A host that the catalog file names is always allowed to have one.
    public var allowsPrivateAddresses = false
    /// Other addresses to connect to, in the form `HOST:PORT:HOST:PORT` of curl's option `--connect-to`.
    public var connectTo: [String] = []
    /// Trust the certificates in this PEM file instead of the system's.
    public var certificates: String?
    /// The value of the header field `User-Agent`.
    ///
    /// Many servers log it.
    public var userAgent = "larder"

    /// Makes the default settings.
    ///
    /// They are those of `larder sync`.
    public init() {}
  }
}

extension Shop.SyncOptions {
  /// The settings for the pipeline.
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

  /// The settings for the transport.
  ///
  /// `named` are the hosts that the catalog file names.
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

  /// Checks that every setting is in its range.
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
