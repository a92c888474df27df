import ArgumentParser

/// `larder sync CATALOG`: fetches a catalog with its details and pictures.
struct SyncCommand: FetchCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Fetch sections, then details and pictures, in parallel; report changes.",
    discussion: """
      Example:  larder sync shop.yaml --cache /var/cache/shop

      Later runs cost little: fresh data is not requested, unchanged data is not fetched again. A \
      killed run keeps every complete picture.
      """,
    statuses: [
      .done: "done",
      .failed: "nothing could be fetched, for another reason",
      .partial: "some sections, details or pictures failed; each is listed",
      .withheld: "the guards kept items that the feed no longer lists",
      .data: "no section could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "another run holds the cache, or the deadline passed",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  @Argument(path: "The catalog file (YAML or JSON).", value: "catalog", completion: .catalogFile)
  var file: String

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.scope) var scope: ScopeOptions
  @OptionGroup(title: Topic.limits) var limits: LimitOptions
  @OptionGroup(title: Topic.limits) var room: RoomOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup var work: WorkOptions
  @OptionGroup(title: Topic.doubt) var doubt: DoubtOptions
  @OptionGroup(title: Topic.monitoring) var metrics: MetricsOptions
  @OptionGroup(title: Topic.monitoring) var change: ChangeOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    try change.onChange?.demandTrust()
    let place = try cache.place(Log(output))
    let record = RunRecord(of: "sync", cache: place.path)
    Output.end(
      work.dryRun ? try sync(record, place) : try record.keep(output) { try sync(record, place) }
    )
  }

  private func sync(_ record: RunRecord, _ place: CachePlace) throws -> ExitStatus {
    let file = try CatalogFileOnDisk(file)
    let settings = settings
    try place.demandNoSquares(settings)
    let hosts = try file.namedHosts(base: settings.base)
    let transport = try transport(named: hosts, cache: place.path)
    defer { transport.shutdown() }
    if work.dryRun { return try file.printPlan(cache: place, settings, transport, output) }
    let status = try run(file, settings, in: place, transport, record, Signals()) { report in
      SyncSummary(report: report, terminal: Terminal(output)).print(output)
    }
    try metrics.write(cache: place.path)
    return status
  }
}
