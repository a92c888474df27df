import ArgumentParser
import Cache
import Catalog
import FoundationEssentials
import Pipeline

/// `larder diff [OLD [NEW]]`: prints changes between runs.
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
    abstract: "Show the changes between two runs.",
    discussion: """
      Example:  larder diff          the last run against the one before
                larder diff 3 7      run 7 against run 3
                larder diff --runs   list the runs

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp("The earlier run.", valueName: "old"),
    transform: Self.number
  )
  var old: RunID?

  @Argument(
    help: ArgumentHelp("The later run.", valueName: "new"),
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
    let document = DiffDocument(try reader.diff(from: old, to: new), of: reader.catalog.name)
    if output.json {
      Output.json(try document.json())
    } else {
      Output.data(document.text(Terminal(output)))
    }
  }
}

/// The changes between two runs, as JSON or text.
struct DiffDocument: Encodable {
  private struct Listing: Encodable {
    var id: String
    var section: String
  }

  private struct Removal: Encodable {
    var url: String
    var at: String
    var reason: String
  }

  private struct Change: Encodable {
    var id: String
    var section: String
    var field: String
    @OrNull var from: String?
    @OrNull var to: String?
  }

  private let catalog: String
  @OrNull private var old: RunID?
  private let new: RunID
  private let added: [Listing]
  private let removed: [Listing]
  private let changed: [Change]
  private let pictures: [String]
  private let swept: [Removal]

  init(_ diff: RunDiff, of catalog: String) {
    self.catalog = catalog
    old = diff.old
    new = diff.new
    added = diff.items.added.map { Listing(id: $0.id, section: $0.section) }
    removed = diff.items.removed.map { Listing(id: $0.id, section: $0.section) }
    changed = diff.items.changed.map {
      Change(id: $0.id, section: $0.section, field: $0.field, from: $0.from, to: $0.to)
    }
    pictures = diff.pictures
    swept = diff.removed.map {
      Removal(url: $0.url, at: $0.removed.rfc3339, reason: $0.reason)
    }
  }

  /// One line of JSON.
  func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// One line for each change, with a mark: `+` added, `-` removed, `~` changed.
  func text(_ terminal: Terminal) -> String {
    let line = PlainText.line
    var lines = added.map { terminal.paint("+ \(line("\($0.section)/\($0.id)"))", .green) }
    lines += removed.map { terminal.paint("- \(line("\($0.section)/\($0.id)"))", .red) }
    lines += changed.map {
      line("~ \($0.section)/\($0.id) \($0.field): \($0.from ?? "nothing") → \($0.to ?? "nothing")")
    }
    lines += pictures.map { line("~ picture \($0)") }
    lines += swept.map { line("- picture \($0.url) (swept \($0.at): \($0.reason))") }
    let span = old.map { "run \($0) to run \(new)" } ?? "run \(new), the first"
    return ([lines.isEmpty ? "nothing changed (\(span))" : span] + lines).joined(separator: "\n")
  }
}

/// The runs of a catalog, as JSON or text.
struct RunDocument: Encodable {
  private struct Run: Encodable {
    var run: RunID
    var started: String
    @OrNull var finished: String?
    @OrNull var outcome: String?
  }

  private let runs: [Run]

  init(_ runs: [RunEntry]) {
    self.runs = runs.map {
      Run(
        run: $0.id,
        started: $0.started.rfc3339,
        finished: $0.finished.map(\.rfc3339),
        outcome: $0.outcome
      )
    }
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.singleValueContainer()
    try body.encode(runs)
  }

  /// One line of JSON.
  func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// One line for each run, the newest first.
  var text: String {
    runs.map {
      "\(padded($0.run.description, to: 5)) \($0.started)  \($0.outcome ?? "killed or still running")"
    }
    .joined(separator: "\n")
  }
}
