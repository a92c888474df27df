import ArgumentParser
import Cache
import Catalog
import Pipeline

/// `larder diff [OLD [NEW]]`: prints changes between runs.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show the changes between two runs.",
    discussion: """
      Example:  larder diff          the last run against the one before
                larder diff 3 7      run 7 against run 3
                larder diff --runs   list the runs
      """,
    statuses: [
      .done: "shown, whether or not anything changed",
      .failed: "there is no such run, or no cache",
      .io: "the cache cannot be read",
    ]
  )

  @Argument(help: "The earlier run.", transform: Self.number)
  var old: RunID?

  @Argument(help: "The later run.", transform: Self.number)
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
      let runs = try reader.runs(limit: 1000)
      let text = runs.map(\.line).joined(separator: "\n")
      return try output.show(runs, text: text, always: true)
    }
    let diff = try reader.diff(from: old, to: new)
    try output.show(diff, text: diff.text(Terminal(output)), always: true)
  }
}

extension RunDiff {
  /// The changes as text: one line for each change, after a mark such as `+` (added), `-` (removed) or `~` (changed).
  func text(_ terminal: Terminal) -> String {
    let line = PlainText.line
    var lines = items.added.map { terminal.paint("+ \(line("\($0.section)/\($0.id)"))", .green) }
    lines += items.removed.map { terminal.paint("- \(line("\($0.section)/\($0.id)"))", .red) }
    lines += items.changed.map {
      line("~ \($0.section)/\($0.id) \($0.field): \($0.from ?? "nothing") → \($0.to ?? "nothing")")
    }
    lines += pictures.map { line("~ picture \($0)") }
    lines += removed.map {
      line("- picture \($0.url) (swept \($0.removed.rfc3339): \($0.reason))")
    }
    let span = old.map { "run \($0) to run \(new)" } ?? "run \(new), the first"
    return ([lines.isEmpty ? "nothing changed (\(span))" : span] + lines).joined(separator: "\n")
  }
}

extension RunEntry {
  /// The run as a line of text: its number, its start and its outcome.
  fileprivate var line: String {
    "\(padded(id.description, to: 5)) \(started.rfc3339)  \(outcome ?? "killed or still running")"
  }
}
