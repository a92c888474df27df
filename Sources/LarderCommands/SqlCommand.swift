import ArgumentParser
import Cache

/// `larder sql QUERY`: runs a read-only SQL query on the index.
struct SqlCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sql",
    abstract: "Query the index with SQL, read-only.",
    discussion: """
      Example:  larder sql 'SELECT section, count(*) FROM items GROUP BY section'
                larder sql --csv "SELECT * FROM prices" > prices.csv

      The views are items, prices, pictures, sections, runs, changes and failures; docs/database.md \
      describes them, with ten questions and their answers. Queries cannot write, and end after 8 seconds. \
      A sync can run at the same time.
      """,
    statuses: [
      .done: "answered, with or without rows",
      .failed: "there is no cache, or an older larder wrote it",
      .io: "the cache cannot be read",
      .tryAgain: "a sync holds the index for too long",
    ]
  )

  @Argument(help: "One SELECT.")
  var query: String

  @Flag(help: "Print CSV, with a heading.")
  var csv = false

  @Flag(help: "Print SQLite's query plan.")
  var explain = false

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func validate() throws {
    if csv, output.json { throw ValidationError("--csv and --json: choose one of them") }
  }

  func run() throws {
    let rows = try Index.rows((explain ? "EXPLAIN QUERY PLAN " : "") + query, of: cache.path)
    let document = QueryDocument(rows)
    try output.show(document.objects, text: csv ? document.table : document.text, always: true)
  }
}
