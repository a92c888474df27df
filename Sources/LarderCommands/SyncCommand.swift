import ArgumentParser
import CurlTransport
import Pipeline

/// `larder sync CATALOG`: the main job.
struct SyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Fetch sections, then details and pictures, in parallel; report what changed.",
    discussion: """
      Example:  larder sync shop.yaml --cache /var/cache/shop

      Runs again and again cost little: what is fresh is not asked for, what did not change is \
      not fetched. A run that was killed loses nothing that was whole.

      Exit statuses: 0 done, 3 some things failed (each is listed), 4 the shrink guard kept items, \
      64 usage, 65 no section could be read, 69 the origin cannot be reached, 74 disk, \
      75 another run holds the cache or the deadline came, 78 the catalog file is wrong.
      """
  )

  @Argument(
    help: ArgumentHelp("The catalog file (YAML or JSON).", valueName: "catalog"),
    completion: CacheCompletion.files
  )
  var file: String

  @OptionGroup var cache: CacheOptions
  @OptionGroup var fetch: FetchOptions
  @OptionGroup var metrics: MetricsOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let record = RunRecord(of: "sync", cache: cache.path)
    Output.end(fetch.dryRun ? try sync(record) : try record.keep(output) { try sync(record) })
  }

  private func sync(_ record: RunRecord) throws -> ExitStatus {
    let status = try CatalogSync(
      try CatalogFileOnDisk(file),
      cache: cache.path,
      fetch: fetch,
      output: output,
      record: record
    ).run()
    if !fetch.dryRun { try metrics.write(cache: cache.path) }
    return status
  }
}
