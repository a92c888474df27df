import ArgumentParser
import Cache
import Pipeline

/// `larder diff [OLD [NEW]]`: what changed.
struct DiffCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "shown, whether or not anything changed",
      .failed: "there is no such run, or no cache",
      .io: "the cache cannot be read",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show what changed between two runs.",
    discussion: """
      Example:  larder diff          the last run against the one before
                larder diff 3 7      run 7 against run 3
                larder diff --runs   which runs there are

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp("The run to compare with.", valueName: "old"),
    transform: Self.number
  )
  var old: RunID?

  @Argument(
    help: ArgumentHelp("The run to look at.", valueName: "new"),
    transform: Self.number
  )
  var new: RunID?

  @Flag(help: "List the runs instead.")
  var runs = false

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  private static func number(_ argument: String) throws -> RunID {
    guard let number = Int64(argument) else {
      throw ValidationError("it takes the number of a run; larder diff --runs lists them")
    }
    return RunID(rawValue: number)
  }

  func run() throws {
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    if runs {
      let document = RunDocument(try reader.runs(limit: 1000))
      if output.json { Output.json(try document.json()) } else { Output.data(document.text) }
      return
    }
    let (first, last, diff) = try reader.diff(from: old, to: new)
    let document = DiffDocument(old: first, new: last, diff)
    if output.json {
      Output.json(try document.json())
    } else {
      Output.data(document.text(Terminal(output)))
    }
  }
}
