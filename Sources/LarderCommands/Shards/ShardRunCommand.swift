import ArgumentParser
import CGlibc
import CurlTransport
import Foundation
import Pipeline
import Sharding

/// `larder shard run`: fetches the pictures of one shard, and commits its manifest.
///
/// A shard is the part of a sync's pictures that one machine fetches. Its manifest lists the pictures that were
/// fetched.
struct ShardRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Fetch the pictures of one shard, and commit them once.",
    discussion: """
      Example:  larder shard run --plan /srv/plan --shard 3 --cache /srv/cache
                srun larder shard run --plan plan --shard auto

      Shards run side by side in one cache. A complete picture is not fetched again, so a shard \
      that was killed continues where it stopped. Of several runs of one shard the first commits \
      and the others end with status 0. auto reads SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or \
      AWS_BATCH_JOB_ARRAY_INDEX.

      The plan's catalog file decides where requests and their headers go, so anyone who can write \
      the plan decides that. It gets only the environment variables that --env or --catalog-file \
      allow.
      """,
    statuses: [
      .done: "the shard is committed, by this run or another one",
      .data: "the plan or manifest is incomplete or of another plan; never retry",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "retry: the deadline passed, or the origin is down",
      .configuration: "the catalog file is wrong, or a variable is not set or not allowed",
    ],
    stops: true
  )

  @OptionGroup var plan: PlanOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The shard's number, from 0, or auto.", valueName: "i|auto")
  )
  var shard: String

  @Option(
    "Commit even if up to this share of pictures failed temporarily. (default: 10%)",
    value: "n%",
    read: PercentArgument.read
  )
  var maxFailures = 10.0

  @Flag(help: "End as after SIGTERM when the parent process ends.")
  var dieWithParent = false

  @Option("The most shards that run at once.", value: "n", read: WholeNumber.reader(1...100_000))
  var clusterSlots: Int?

  @Option(
    "Simultaneous transfers to one host, for all shards together.",
    value: "n",
    read: WholeNumber.reader(1...100_000)
  )
  var hostLimit: Int?

  @OptionGroup(title: Topic.trust) var trust: PlanTrustOptions
  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.limits) var limits: LimitOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    guard (clusterSlots == nil) == (hostLimit == nil) else {
      throw ValidationError("--cluster-slots and --host-limit must be given together")
    }
    if let clusterSlots, let hostLimit {
      guard connection.perHost == nil else {
        throw ValidationError("--per-host and --host-limit exclude each other")
      }
      guard clusterSlots <= hostLimit else {
        throw ValidationError(
          "--cluster-slots \(clusterSlots) is more than --host-limit \(hostLimit): each shard "
            + "needs a connection to a host; run fewer at once, or plan with --shard-by host"
        )
      }
    }
  }

  func run() throws {
    if dieWithParent { try endWithParent() }
    let number = try shardNumber()
    let place = try PlanPlace(plan.plan, Log(output))
    defer { place.close() }
    let kept = try cache.place(Log(output))
    let (planned, file) = try trust.plan(at: place, shard: number, output)
    var settings = try connection.transport(named: file.namedHosts(base: planned.options.base))
    limits.apply(to: &settings)
    if let clusterSlots, let hostLimit {
      settings.perHost = .fixed(min(1024, hostLimit / clusterSlots))
    }
    let transport = try CurlTransport(settings)
    defer { transport.shutdown() }
    let token = String(UInt64.random(in: .min ... .max), radix: 16)
    let run = file.run(kept, planned.options, transport, output)
    let signals = Signals { run.stop() }
    let result = Result {
      try ProgressDisplay.during(run.progress, of: transport, output) {
        try planned.run(
          number,
          by: run,
          token: token,
          maxFailures: maxFailures,
          publish: place.publish
        )
      }
    }
    if let status = signals.status {
      place.close()
      if case .failure(let error) = result, let words = CommandFailure(error)?.message {
        Log(output).error(words)
      }
      Output.end(status)
    }
    let outcome = try result.get()
    try output.show(outcome, text: outcome.text)
  }

  /// Asks the kernel to send this process a signal when its parent ends. (`PR_SET_PDEATHSIG`)
  ///
  /// If the parent has the process id 1, that does not mean that the real parent has ended. In a container, process 1
  /// may be the real parent, such as an init process or the agent of a job engine.
  ///
  /// - Throws: ``CommandFailure`` when the parent has already ended.
  private func endWithParent() throws {
    let parent = getppid()
    guard larder_end_with_parent() == 0, getppid() == parent else {
      throw CommandFailure("cannot run: the parent process has ended", .terminated)
    }
  }

  /// The environment variables that job engines set to the number of the shard.
  private static let variables = [
    "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX",
  ]

  /// The number of the shard to run, which `--shard` or a job engine gives.
  ///
  /// - Throws: ``CommandFailure`` when the number is invalid or missing.
  private func shardNumber() throws -> Int {
    var (value, fault) = (shard, "\"\(shard)\": --shard takes a number from 0, or auto")
    if shard == "auto" {
      let environment = ProcessInfo.processInfo.environment
      guard let name = Self.variables.first(where: { environment[$0] != nil }) else {
        throw CommandFailure(
          "cannot find the shard to run: none of \(Self.variables.joined(separator: ", ")) is set; "
            + "give --shard N"
        )
      }
      value = environment[name] ?? ""
      fault = "\(name)=\"\(value)\": it is not a shard's number"
    }
    guard let number = WholeNumber.read(value, in: 0...99_999) else {
      throw CommandFailure("cannot run shard \(fault)")
    }
    return number
  }
}
