import ArgumentParser
import Base
import CurlTransport
import Pipeline
import Sharding

/// `larder shard merge`: commits the pictures of all shards as one run.
///
/// A shard is the part of a sync's pictures that one machine has fetched.
struct ShardMergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Commit a planned run once all shards have ended; report as sync does.",
    discussion: """
      Example:  larder shard merge --plan /srv/plan --cache /srv/cache

      Every shard needs a manifest of this plan, and every picture in it must match: by length and \
      date, or with --verify by every byte. These pictures are not requested again. Sections and \
      details are, as in a sync, and so are pictures that failed. Until the merge ends the cache \
      shows the run before; a merge that was killed can be run again.
      """,
    statuses: [
      .done: "merged, nothing failed",
      .failed: "no section could be fetched, for another reason",
      .partial: "merged; some sections, details or pictures failed",
      .withheld: "merged; the guards kept items that the feed no longer lists",
      .data: "a plan or manifest is incomplete, or no section could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, or a picture is gone or damaged",
      .tryAgain: "manifests are missing, the cache is locked, or the deadline passed",
      .configuration: "the catalog file is wrong, or a variable is not set or not allowed",
    ],
    stops: true
  )

  @OptionGroup var plan: PlanOptions

  @Flag(help: "Read every picture, and compare it with its digest.")
  var verify = false

  @Flag(help: "Accept sudden mass removals of items, sections or details.")
  var allowRemovals = false

  @OptionGroup(title: Topic.trust) var trust: PlanTrustOptions
  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.limits) var limits: LimitOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let place = try PlanPlace(plan.plan, Log(output))
    defer { place.close() }
    let kept = try cache.place(Log(output))
    let (planned, file) = try trust.plan(at: place, shard: nil, output)
    var options = planned.options
    options.allowRemovals = options.allowRemovals || allowRemovals
    options.deadline = limits.deadline.map { UnixTime.now() + Int64($0.seconds) }
    var settings = try connection.transport(named: file.namedHosts(base: options.base))
    limits.apply(to: &settings)
    let transport = try CurlTransport(settings)
    defer { transport.shutdown() }
    let signals = Signals()
    let name = "shard merge \(planned.plan.catalog)"
    let report = try planned.merge(cache: kept.path, remote: kept.remote, reading: verify) {
      [options] in
      try file.sync(as: name, cache: kept, options, transport, output, signals, shared: $0)
    }
    place.close()
    if output.json {
      Output.json(report.json)
    } else {
      SyncSummary(report: report, terminal: Terminal(output)).print(output)
    }
    Output.end(ExitStatus(report, signal: signals.signal))
  }
}
