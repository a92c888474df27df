import ArgumentParser
import CurlTransport
import Pipeline

/// `larder sync CATALOG`: the main job.
struct SyncCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "done",
      .failed: "nothing could be fetched, for a reason that is none of these",
      .partial: "some sections, details or pictures failed; each is listed",
      .withheld: "the guards kept what the feed no longer lists",
      .data: "no section could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "another run holds the cache, or the deadline came",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Fetch sections, then details and pictures, in parallel; report what changed.",
    discussion: """
      Example:  larder sync shop.yaml --cache /var/cache/shop

      Runs again and again cost little: what is fresh is not asked for, what did not change is \
      not fetched. A run that was killed loses nothing that was whole.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp("The catalog file (YAML or JSON).", valueName: "catalog"),
    completion: .catalogFile,
    transform: PathArgument.read
  )
  var file: String

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup var fetch: FetchOptions
  @OptionGroup(title: Topic.monitoring) var metrics: MetricsOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let place = try cache.place(Log(output))
    let record = RunRecord(of: "sync", cache: place.path)
    Output.end(
      fetch.dryRun ? try sync(record, place) : try record.keep(output) { try sync(record, place) }
    )
  }

  private func sync(_ record: RunRecord, _ place: CachePlace) throws -> ExitStatus {
    let status = try CatalogSync(
      try CatalogFileOnDisk(file),
      cache: place,
      fetch: fetch,
      output: output,
      record: record
    ).run()
    if !fetch.dryRun { try metrics.write(cache: place.path) }
    return status
  }
}
