import ArgumentParser

/// `larder shard`: only names its subcommands.
struct ShardCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "done",
      .failed: "failed: nothing useful was done",
      .partial: "merged; some sections, details or pictures failed",
      .withheld: "merged; the guards kept what the feed no longer lists",
      .data: "a plan or manifest is torn or foreign; never retry",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "retry: not all could be had, or a manifest is missing",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "shard",
    abstract: "Sync one catalog with many machines that share a folder.",
    discussion: """
      Example:  larder shard plan shop.yaml --shards 8 --out plan
                larder shard run --plan plan --shard auto
                larder shard merge --plan plan

      One machine plans, each shard is run by whatever engine runs your jobs, one machine merges \
      when all have ended. A shard may be run twice, or killed and run again. \
      docs/many-machines.md says what an engine has to know.

      \(statuses.text)
      """,
    subcommands: [ShardPlanCommand.self, ShardRunCommand.self, ShardMergeCommand.self]
  )
}

/// Which plan.
struct PlanOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The plan's folder, or s3://bucket/prefix.", valueName: "dir|s3"),
    completion: .directory,
    transform: PathArgument.read
  )
  var plan: String

  mutating func validate() throws {
    try Self.demandPlace("--plan", plan)
  }
}
