import ArgumentParser
import Base
import CurlTransport
import Foundation
import Pipeline
import Sharding

/// `larder shard plan CATALOG`: fetches sections and details, and splits the pictures into shards.
///
/// A shard is the part of the pictures that one machine will fetch.
struct ShardPlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Fetch sections and details once, and split the pictures into shards.",
    discussion: """
      Example:  larder shard plan shop.yaml --shards 8 --out /srv/plan

      The plan has only the pictures that are due, not those that are fresh in the cache.
      """,
    statuses: [
      .done: "planned; failures are listed",
      .failed: "nothing could be fetched, for another reason",
      .data: "no section could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "the deadline passed; no plan was written",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  @Argument(path: "The catalog file (YAML or JSON).", value: "catalog", completion: .catalogFile)
  var file: String

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The number of shards, 1 to 100000.", valueName: "n"),
    transform: WholeNumber.reader(1...100_000)
  )
  var shards: Int

  @Option(
    path: "The place of the plan: a new folder that all machines can read, or s3://bucket/prefix.",
    value: "dir|s3",
    completion: .directory
  )
  var out: String

  @Option("Assign pictures to shards by url or host.", value: "url|host")
  var shardBy = Partition.url

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.scope) var scope: ScopeOptions
  @OptionGroup(title: Topic.limits) var limits: LimitOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.doubt) var doubt: DoubtOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    try CachePlace.demand(out, "--out: ")
  }

  func run() throws {
    let place = try PlanPlace(out, Log(output))
    defer { place.close() }
    let known = try cache.place(Log(output))
    let paths = [out, known.path].map {
      URL(filePath: $0).standardizedFileURL.resolvingSymlinksInPath().pathComponents
    }
    if paths[0] == paths[1] {
      throw CommandFailure(
        "--out \(out): it is the cache; write the plan to another folder",
        .usage
      )
    }
    let file = try CatalogFileOnDisk(file)
    let options = doubt.applied(to: scope.sync)
    try file.demandOrigins(base: options.base)
    var settings = try connection.transport(named: try file.namedHosts(base: options.base))
    limits.apply(to: &settings)
    let transport = try CurlTransport(settings)
    defer { transport.shutdown() }
    let planning = ShardPlanning(
      shards: shards,
      by: shardBy,
      run: String(UInt64.random(in: .min ... .max), radix: 16)
    )
    try place.demandNew()
    let signals = Signals()
    let (plan, report) = try planning.make(
      file.catalog,
      text: file.bytes,
      out: place.folder,
      cache: known.path,
      options: options,
      now: { UnixTime.now() }
    ) { cache, shared in
      let cache = CachePlace(path: cache)
      let name = "shard plan \(file.catalog.name)"
      return try file.sync(
        as: name,
        cache: cache,
        options,
        transport,
        output,
        signals,
        shared: shared
      )
    }
    for warning in SyncSummary(report: report, terminal: Terminal(output)).warnings(
      all: output.verbose > 0
    ) {
      Log(output).warning(warning)
    }
    guard let plan else {
      place.close()
      throw CommandFailure(
        "cannot plan \(file.catalog.name): its sections or details could not be read, so no plan was written; "
          + "run it again",
        ExitStatus(report, signal: signals.signal)
      )
    }
    try place.put()
    try output.show(plan, text: plan.text(folder: out))
  }
}

extension Partition: ExpressibleByArgument {}
