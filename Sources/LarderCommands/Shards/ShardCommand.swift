import ArgumentParser
import Catalog
import Foundation
import Sharding

/// `larder shard`: a group of subcommands.
struct ShardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shard",
    abstract: "Sync one catalog with many machines that share a folder.",
    discussion: """
      Example:  larder shard plan shop.yaml --shards 8 --out plan
                larder shard run --plan plan --shard auto
                larder shard merge --plan plan

      One machine plans, your job engine runs each shard, and one machine merges when all have \
      ended. A shard may be run twice, or killed and run again. docs/many-machines.md has \
      the requirements for engines.
      """,
    statuses: [
      .done: "done",
      .failed: "failed: nothing useful was done",
      .partial: "merged; some sections, details or pictures failed",
      .withheld: "merged; the guards kept items that the feed no longer lists",
      .data: "a plan or manifest is incomplete or of another plan; never retry",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "retry: some pictures are not fetched yet, or a manifest is missing",
      .configuration: "the catalog file is wrong",
    ],
    stops: true,
    subcommands: [ShardPlanCommand.self, ShardRunCommand.self, ShardMergeCommand.self]
  )
}

/// The option `--plan`.
struct PlanOptions: ParsableArguments {
  @Option(
    path: "The plan's folder, or s3://bucket/prefix.",
    value: "dir|s3",
    completion: .directory
  )
  var plan: String

  mutating func validate() throws {
    try CachePlace.demand(plan, "--plan: ")
  }
}

/// The options that limit the trust in a shard plan.
///
/// The plan lists the pictures that each machine fetches.
///
/// The options are needed because it is possible that another machine wrote the plan.
struct PlanTrustOptions: ParsableArguments {
  @Option(
    name: .customLong("env"),
    help: ArgumentHelp(
      "Let the plan's catalog file use this environment variable; repeatable.",
      valueName: "name"
    )
  )
  var variables: [String] = []

  @Option(
    help: ArgumentHelp(
      "Let the plan use the variables that this machine's own catalog file names.",
      valueName: "file"
    ),
    completion: .catalogFile
  )
  var catalogFile: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Use the plan only if it has this digest, which shard plan printed. Its token command may then run.",
      valueName: "sha256"
    )
  )
  var planDigest: String?

  mutating func validate() throws {
    if let name = variables.first(where: { $0.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) == nil }) {
      throw ValidationError(
        "--env takes the name of a variable, such as STORE_TOKEN, not \"\(name)\""
      )
    }
    if let name = variables.first(where: { !PlanTrust.mayBeAllowed($0) }) {
      throw ValidationError(
        "--env \(name): plans may not use the variables AWS_… and LARDER_…; use another name"
      )
    }
    if let planDigest, planDigest.wholeMatch(of: /[0-9a-f]{64}/) == nil {
      throw ValidationError("--plan-digest takes 64 hexadecimal digits, as shard plan prints them")
    }
  }

  /// Reads a plan, and refuses it if it has the wrong digest or uses an environment variable that is not allowed.
  ///
  /// - Parameters:
  ///   - place: The plan's place.
  ///   - shard: The number of the shard to run, whose files are then fetched too. Pass nil for a merge, which needs the
  ///     files of all shards.
  ///   - output: The output options, for warnings.
  /// - Returns: The plan without the parts that are not trusted, and the catalog file in the plan.
  /// - Throws: ``CommandFailure`` that names the variable or the digest.
  func plan(
    at place: PlanPlace,
    shard: Int?,
    _ output: OutputOptions
  ) throws -> (planned: PlannedRun, file: CatalogFileOnDisk) {
    func refusal(_ words: String, _ status: ExitStatus) -> CommandFailure {
      CommandFailure("cannot use \(place.name): \(words)", status)
    }
    let planned = try place.plan()
    let own = try catalogFile.map { try CatalogFileOnDisk($0).catalog.variableNames } ?? []
    let trust = PlanTrust(variables: Set(variables + own), digest: planDigest)
    switch trust.fault(of: planned) {
    case nil: break
    case .digest(let found):
      throw refusal(
        "its digest is \(found), not that of --plan-digest; name the folder that the plan was written to, or "
          + "make a new plan",
        .data
      )
    case .variable(let name):
      let remedy =
        PlanTrust.mayBeAllowed(name)
        ? "add --env \(name) if you trust who can write there"
        : "no plan may use AWS_… and LARDER_…: give the value another name in the catalog file"
      throw refusal(
        "its catalog file takes the environment variable \(name); \(remedy)",
        .configuration
      )
    }
    let admitted = trust.admitted(planned)
    if planned.catalog.token != nil, admitted.catalog.token == nil {
      Log(output).warning(
        "\(place.name): its command for new tokens is not run without --plan-digest"
      )
    }
    let file = CatalogFileOnDisk(
      catalog: admitted.catalog,
      folder: place.folder,
      environment: trust.environment(ProcessInfo.processInfo.environment)
    )
    guard try !file.readsFiles(base: admitted.options.base) else {
      throw refusal(
        "its sections or details are local files, which other machines cannot read; make a new plan",
        .data
      )
    }
    try place.fetch(shard, of: admitted)
    return (admitted, file)
  }
}

extension ShardPlan {
  /// The plan as text: the counts, the digest, and the commands to run next.
  func text(folder: String) -> String {
    let sizes = shards.map(\.urls)
    let least = sizes.min() ?? 0
    let most = sizes.max() ?? 0
    let folder = ShellWord.quoted(PlainText.line(folder))
    return """
      \(PlainText.line(catalog)) planned: \(Quantities.count(urls, "picture")) in \
      \(Quantities.count(shards.count, "shard")), \(least) to \(most) each
      digest: \(digest ?? "")
      next: larder shard run --plan \(folder) --shard 0 … \(shards.count - 1), then larder \
      shard merge --plan \(folder)
      """
  }
}

extension ShardOutcome {
  /// The result of a shard in one line.
  var text: String {
    let end = committed ? "committed" : "was committed by another run"
    return "shard \(shard) \(end): \(Quantities.count(urls, "picture")), "
      + "\(fetched) fetched, \(held) held, \(failed) failed"
  }
}
