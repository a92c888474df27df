import Base
import Cache
import Catalog
import Glibc
import Pipeline
import Synchronization
import Transport

/// Runs the passes with one number of simultaneous transfers, one after the other on the same cache.
///
/// A pass fetches all pictures once: first into an empty cache, then with a full cache. Each pass with a cache is a
/// sync of its own with new connections, as if the user had started it by a command. ``stop()`` can be called on any
/// thread.
final class LevelRun: Sendable {
  /// The number of seconds after which everything in the cache is stale, because no response is fresh for more than a
  /// year.
  private static let untilStale: Int64 = 400 * 86_400

  private let plan: BenchPlan
  private let surroundings: BenchSurroundings
  private let catalog: (file: CatalogFile, folder: String, options: SyncOptions)
  private let current = Mutex<(@Sendable () -> Void)?>(nil)
  private let isStopped = Atomic(false)

  init(
    _ plan: BenchPlan,
    _ catalog: (CatalogFile, folder: String, SyncOptions),
    _ surroundings: BenchSurroundings
  ) {
    self.plan = plan
    self.surroundings = surroundings
    self.catalog = (catalog.0, catalog.folder, catalog.2)
  }

  var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  /// Ends the present pass early, and starts no other pass.
  func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    current.withLock { $0 }?()
  }

  /// Runs the passes as syncs into a cache in an empty folder.
  func sync(parallel: Int, into folder: String) throws -> [RunRecord] {
    try plan.order.compactMap { pass in
      hasStopped ? nil : try sync(pass, parallel: parallel, cache: "\(folder)/cache").record
    }
  }

  /// Syncs once without a measurement, and returns the URLs of the requested pictures.
  func urls(parallel: Int, into folder: String) throws -> [WebURL] {
    let (_, transport) = try sync(.cold, parallel: parallel, cache: "\(folder)/cache")
    return try transport.urls.map { try transport.parse($0, relativeTo: nil) }
  }

  /// Runs the passes as fetches of URLs over the same connections, and discards the bytes.
  ///
  /// - Parameters:
  ///   - parallel: The number of simultaneous transfers.
  ///   - urls: The URLs.
  ///   - repeats: Whether the list of URLs can be repeated, so that a pass is long enough.
  /// - Returns: The measurements of each pass.
  /// - Throws: An error if the transport cannot be created.
  func discard(parallel: Int, _ urls: [WebURL], repeats: Bool) throws -> [RunRecord] {
    let length: PassLength =
      if !repeats {
        .requests(urls.count)
      } else if let count = plan.count {
        .requests(count)
      } else if let rate = plan.rate {
        .requests(max(urls.count, Int(rate * BenchPlan.leastSeconds)))
      } else {
        .time(leastRequests: max(urls.count, parallel))
      }
    let run = DiscardRun(urls, length, now: surroundings.monotonic)
    let base = try surroundings.transport(parallel)
    return plan.order.compactMap { pass in
      guard !hasStopped else { return nil }
      let transport = MeasuringTransport(
        base,
        rate: plan.rate,
        timesSinks: false,
        now: surroundings.monotonic
      )
      attend { transport.cancelAll() }
      defer { attend(nil) }
      return measure(pass, parallel, transport) { run.run(pass, over: transport) }
    }
  }

  private func sync(
    _ pass: Pass,
    parallel: Int,
    cache: String
  ) throws -> (record: RunRecord, MeasuringTransport) {
    let transport = MeasuringTransport(
      try surroundings.transport(parallel),
      rate: plan.rate,
      timesSinks: true,
      now: surroundings.monotonic
    )
    let wall = surroundings.wall
    let age = pass == .revalidate ? Self.untilStale : 0
    let now: @Sendable () -> UnixTime = { wall() + age }
    let run = SyncRun(
      catalog.file,
      folder: catalog.folder,
      cache: cache,
      options: catalog.options,
      transport: transport,
      environment: surroundings.variables,
      now: now
    )
    attend { run.stop() }
    defer { attend(nil) }
    let record = try measure(pass, parallel, transport) {
      let report = try run.run(holder: "larder bench, process \(getpid())")
      let failed = report.failures.map(\.reason) + report.unfinished.map { _ in "cancelled" }
      let unfinished = report.unfinished.count { $0.stage == .picture }
      return (
        report.pictures.total - report.pictures.failed - unfinished,
        failed.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      )
    }
    return (record, transport)
  }

  private func measure(
    _ pass: Pass,
    _ parallel: Int,
    _ transport: MeasuringTransport,
    _ work: () throws -> (images: Int, failures: [String: Int])
  ) rethrows -> RunRecord {
    let meter = ProcessMeter()
    let began = surroundings.monotonic()
    let (images, failures) = try work()
    let ended = surroundings.monotonic()
    return RunRecord(
      pass: pass,
      parallel: parallel,
      seconds: Double(ended - began) / 1e9,
      began: began,
      images: max(0, images),
      failures: failures,
      others: transport.others,
      samples: transport.samples,
      writingSeconds: transport.writingSeconds(until: ended),
      cpuSeconds: meter.cpuSeconds,
      peakBytes: meter.peakBytes
    )
  }

  /// Registers the function that stops the present pass.
  ///
  /// If a stop was requested already, the function is called at once.
  private func attend(_ stop: (@Sendable () -> Void)?) {
    current.withLock { $0 = stop }
    if hasStopped { stop?() }
  }
}

/// The length of a pass that discards the bytes.
enum PassLength: Sendable {
  /// The pass ends after this number of requests.
  case requests(Int)
  /// The pass runs for ``BenchPlan/leastSeconds``, and makes at least this number of requests.
  case time(leastRequests: Int)
}

/// Fetches a list of pictures and discards the bytes.
///
/// If a pass has to be longer than the list, the list is repeated. The validators of each picture, such as its ETag,
/// are kept from the cold pass for the revalidating pass.
final class DiscardRun: Sendable {
  private struct Progress {
    var conditions: [Int: Condition] = [:]
    var started = 0
    var images = 0
    var failures: [String: Int] = [:]
  }

  private let urls: [WebURL]
  private let length: PassLength
  private let now: @Sendable () -> MonotonicTime
  private let state = Mutex(Progress())

  init(_ urls: [WebURL], _ length: PassLength, now: @escaping @Sendable () -> MonotonicTime) {
    (self.urls, self.length, self.now) = (urls, length, now)
  }

  /// The values that all requests of one pass share.
  private struct Round: Sendable {
    let pass: Pass
    let transport: any Fetching
    let known: [Int: Condition]
    /// The time after which no request is started; nil if the number of requests is fixed.
    let end: MonotonicTime?
    let group = WorkGroup()
  }

  /// Runs a pass, with as many simultaneous transfers as the transport allows, and waits until all have ended.
  func run(
    _ pass: Pass,
    over transport: any Fetching
  ) -> (images: Int, failures: [String: Int]) {
    let (count, end): (Int, MonotonicTime?) =
      switch length {
      case .requests(let count): (count, nil)
      case .time(let count): (count, now() + .seconds(BenchPlan.leastSeconds))
      }
    let known = state.withLock { state in
      (state.images, state.failures, state.started) = (0, [:], count)
      return state.conditions
    }
    guard !urls.isEmpty else { return (0, [:]) }
    let round = Round(pass: pass, transport: transport, known: known, end: end)
    // Enter the group for all requests before the first is sent, because a request that ends can start another one.
    for _ in 0..<count { round.group.enter() }
    for number in 0..<count { fetch(number % urls.count, round) }
    round.group.join()
    return state.withLock { ($0.images, $0.failures) }
  }

  /// Fetches the URL with this position in the list.
  ///
  /// After a success and before the end of the pass, it continues with another URL of the list.
  private func fetch(_ number: Int, _ round: Round) {
    var request = Request(urls[number])
    request.accept = .picture
    request.trust = .named
    if round.pass == .revalidate { request.condition = round.known[number] }
    round.transport.fetch(request, into: DiscardSink()) { [self] result in
      note(result, number, keeps: round.pass == .cold)
      if case .success = result, let end = round.end, now() < end {
        let next = state.withLock { state in
          state.started += 1
          return (state.started - 1) % urls.count
        }
        round.group.enter()
        fetch(next, round)
      }
      round.group.leave()
    }
  }

  private func note(
    _ result: Result<Response, TransferFailure>,
    _ number: Int,
    keeps: Bool
  ) {
    state.withLock { state in
      switch result {
      case .success(let response):
        state.images += 1
        if keeps { state.conditions[number] = Condition(response.head) }
      case .failure(let failure):
        state.failures[failure.reason.rawValue, default: 0] += 1
      }
    }
  }
}

/// A destination of a response's bytes that discards them.
final class DiscardSink: BodySink {
  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision { .accept }
  func receive(_ bytes: RawSpan) -> BodyDecision { .accept }
  func restart() {}
}

/// The measurements of one run of a pass.
struct RunRecord: Sendable {
  let pass: Pass
  let parallel: Int
  /// The duration in seconds, including the requests for sections and the report.
  var seconds: Double
  /// The time of the start, measured by the same clock as the times in `samples`.
  var began: MonotonicTime
  /// The number of pictures that were complete at the end of the run.
  var images: Int
  /// The number of failed requests for each reason, such as `timeout-idle`.
  var failures: [String: Int]
  /// The number of requests for sections and details.
  var others: Int
  var samples: [RequestSample]
  /// How long transfers waited for larder to hash and write, in seconds.
  var writingSeconds = 0.0
  var cpuSeconds: Double
  var peakBytes: ByteCount

  var imagesPerSecond: Double { seconds > 0 ? Double(images) / seconds : 0 }
  var bytes: ByteCount { samples.reduce(.zero) { $0 + $1.bytes } }
}

/// Measures the processor time and the highest memory use of this process, as Linux counts them.
struct ProcessMeter: Sendable {
  private let began: Double

  /// Starts the measurement, and resets the highest memory use to the present use. (proc(5), `clear_refs`)
  init() {
    began = Self.cpuSeconds
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    if file >= 0 {
      _ = write(file, "5", 1)
      close(file)
    }
  }

  /// The processor time of all threads since the start, in seconds.
  var cpuSeconds: Double { Self.cpuSeconds - began }

  /// The highest resident memory; 0 if the system does not report it.
  var peakBytes: ByteCount {
    var buffer = [UInt8](repeating: 0, count: 8192)
    let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    let count = read(file, &buffer, buffer.count)
    close(file)
    return Self.peakBytes(status: String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
  }

  /// Parses the highest resident memory from the text of `/proc/self/status`, where it is named `VmHWM`.
  static func peakBytes(status: String) -> ByteCount {
    for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
      let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      return number.flatMap { Int64($0) }.map { ByteCount($0 << 10) } ?? 0
    }
    return 0
  }

  private static var cpuSeconds: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let user = Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
    return user + Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6
  }
}
