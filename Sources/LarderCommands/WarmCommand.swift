import ArgumentParser
import CurlTransport
import Pipeline

/// `larder warm CATALOG…`: what is due and no more, for cron.
struct WarmCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "done, or nothing was due",
      .failed: "nothing could be fetched, for a reason that is none of these",
      .partial: "some sections, details or pictures failed; each is listed",
      .withheld: "the guards kept what the feed no longer lists",
      .data: "no section could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "another run holds the cache, the deadline came or it is too soon",
      .configuration: "a catalog file is wrong; of several catalogs, the gravest counts",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "warm",
    abstract: "For cron: fetch what is due and no more; quiet unless something is wrong.",
    discussion: """
      Example:  larder warm /etc/larder --cache /var/cache/larder --deadline 20m
                larder warm shop.yaml --min-interval 40m --metrics larder.prom
                larder warm shop.yaml --on-failure "mail -s larder admin"

      What is fresh costs nothing. What is stale is asked for, the most valuable first: what was \
      never had, then what just changed, then what was seen longest ago; what the deadline, the \
      rate or --max-bytes left over comes first next time. Pictures that the origin says it has not \
      are asked for ever less often, and daily in the end; such a failure counts in the run that finds \
      it, and is listed as known after that. Several catalogs share one transport, \
      and so the limits of the hosts.

      Orders that are due go to LARDER_WEBHOOK_URL, when that is set; see larder order send --help.

      Prints nothing when all is well; on stderr one paragraph a catalog when not, and a line for \
      each item that could not be read. A catalog file that is wrong does not stop the others. On a \
      terminal, a line shows how far it is while it runs.

      How the last run ended lies in the cache as last-run.json, and --on-failure hands the same to a \
      command of yours. A run failed when it ends with another status than 0, 75, 130 and 143. \
      A run that was refused because another holds the cache, or that came too soon, leaves the file.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp(
      "The catalog files (YAML or JSON), or folders of .yaml files.",
      valueName: "catalog"
    ),
    completion: .catalogFile,
    transform: PathArgument.read
  )
  var files: [String]

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Leave a catalog alone whose last run started more recently than this.",
      valueName: "time"
    ),
    transform: DurationArgument.read
  )
  var minInterval: DurationArgument?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Wait a random time up to this first, so that many machines do not call at once.",
      valueName: "time"
    ),
    transform: DurationArgument.read
  )
  var splay: DurationArgument?

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup var fetch: FetchOptions
  @OptionGroup(title: Topic.monitoring) var metrics: MetricsOptions
  @OptionGroup(title: Topic.monitoring) var failure: FailureOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    try failure.demandTrust()
    // Nothing is said of plain http: cron would mail it with every run.
    let place = try cache.place(nil)
    let record = RunRecord(of: "warm", cache: place.path)
    if fetch.dryRun { Output.end(try warm(record, place)) }
    Output.end(
      try record.keep(output, failing: { failure.tell($0, output) }) { try warm(record, place) }
    )
  }

  private func warm(_ record: RunRecord, _ place: CachePlace) throws -> ExitStatus {
    try CatalogWarm(
      try files.flatMap { try CatalogFolder.files($0) },
      cache: place,
      minInterval: minInterval?.seconds,
      splay: splay?.seconds,
      fetch: fetch,
      output: output,
      metrics: metrics,
      record: record
    ).run()
  }
}
