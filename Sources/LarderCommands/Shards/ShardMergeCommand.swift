import ArgumentParser
import CurlTransport
import Glibc
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

      Nothing is fetched. Every shard needs a manifest of this plan, and every picture in it must \
      match: by length and date, or with --verify by every byte. Until the merge ends the cache \
      shows the run before; a merge that was killed can be run again.
      """,
    statuses: [
      .done: "merged, nothing failed",
      .failed: "nothing could be fetched when it was planned",
      .partial: "merged; some sections, details or pictures failed",
      .withheld: "merged; the guards kept items that the feed no longer lists",
      .data: "a plan or manifest is incomplete or of another plan; never retry",
      .unavailable: "the origin could not be reached when it was planned",
      .io: "the disk is full, or a picture is gone or damaged",
      .tryAgain: "manifests are missing, or another run holds the cache",
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
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let place = try PlanPlace(plan.plan, Log(output))
    defer { place.close() }
    let kept = try cache.place(Log(output))
    let (planned, file) = try trust.plan(at: place, shard: nil, output)
    var options = planned.options
    options.allowRemovals = options.allowRemovals || allowRemovals
    // All responses are in the plan, so nothing is sent.
    let transport = try CurlTransport(TransportOptions())
    var signals: Signals?
    let report = try planned.merge(
      cache: kept.path,
      remote: kept.remote,
      reading: verify,
      holder: "larder shard merge \(planned.plan.catalog), process \(getpid())"
    ) { [options] parts in
      let run = file.syncRun(cache: kept, options, transport, output, parts: parts)
      signals = Signals { run.stop() }
      return run
    }
    place.close()
    if output.json {
      Output.json(report.json)
    } else {
      SyncSummary(report, Terminal(output)).print(output)
    }
    Output.end(ExitStatus(report, signal: signals?.signal))
  }
}
