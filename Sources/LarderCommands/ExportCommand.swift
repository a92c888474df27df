import ArgumentParser
import Cache
import Catalog
import Larder
import Pipeline

/// `larder export DIR`: writes the cache's pictures into a folder, for web servers and apps.
struct ExportCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "done",
      .failed: "there is no cache, or no such catalog",
      .partial: "some pictures are not held, or could not be written",
      .io: "the disk is full, not writable or damaged",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export the pictures to a folder that any web server can serve, with a manifest.",
    discussion: """
      Example:  larder export /srv/mirror
                larder export pictures --flat --copy --squares

      --tree puts pictures into folders like those of their URLs, host first; --flat puts all into one \
      folder under their plain names. Name clashes get a numeric suffix and are listed with -v. Every \
      name ends with the extension of the picture's format, and is safe for web servers and for FAT, \
      exFAT, NTFS and SMB: a GIF called x.html becomes x-html.gif, and 16:9.png becomes 16-9-HASH.png. \
      The folder also gets catalog.json (catalog, sections, items as in list --json, details as in show \
      --json), manifest.jsonl, manifest.csv, and items.geojson if items have coordinates. export.json \
      lists all exported files; --delete removes only those of them that the catalog no longer has.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp("The folder; created if missing.", valueName: "dir"),
    completion: .directory,
    transform: PathArgument.read
  )
  var folder: String

  @Flag(help: "Put all pictures into one folder.")
  var flat = false

  @Flag(help: "Put pictures into folders like those of their URLs (the default).")
  var tree = false

  @Flag(help: "Copy every file.")
  var copy = false

  @Flag(help: "Hard-link the cache's files where possible (the default).")
  var link = false

  @Flag(help: "Export squares too, in squares/SIZE.")
  var squares = false

  @Flag(help: "Remove files of earlier exports that the catalog no longer has.")
  var delete = false

  @OptionGroup(title: Topic.items) var moment: MomentOptions

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if flat && tree { throw ValidationError("--flat and --tree exclude each other") }
    if copy && link { throw ValidationError("--copy and --link exclude each other") }
  }

  func run() throws {
    let place = try cache.place(reading: true, Log(output))
    let display = CountDisplay("export", "pictures", Terminal(output))
    let stop = StopFlag()
    let signals = Signals { _ in stop.raise() }
    var options = ExportOptions()
    options.isFlat = flat
    options.copies = copy
    options.squares = squares
    options.deletes = delete
    let report = try CacheExport(
      cache: place.path,
      catalog: catalog.catalog,
      remote: place.remote,
      at: moment.at
    )
    .run(into: folder, options) {
      stop.isRaised
    } progress: { done, total in
      display.show(done, of: total)
    }
    display.end()
    if output.json {
      Output.json(try report.jsonLine())
    } else if !output.quiet {
      Output.data(ExportSummary(report, folder: folder, namesEach: output.verbose > 0).text)
    }
    if let signal = signals.signal { Output.end(signal == 15 ? .terminated : .interrupted) }
    Output.end(report.missing.isEmpty && report.failed.isEmpty ? .done : .partial)
  }
}

/// The result of an export as text.
struct ExportSummary {
  private let report: ExportReport
  private let folder: String
  private let namesEach: Bool

  /// Creates a summary; with `namesEach`, it lists the pictures whose names clashed.
  init(_ report: ExportReport, folder: String, namesEach: Bool) {
    self.report = report
    self.folder = folder
    self.namesEach = namesEach
  }

  /// One line for each picture that the cache lacks and each file that could not be written, then the totals.
  var text: String {
    var lines =
      namesEach
      ? report.collisions.map { "renamed  \($0.wanted): \($0.url) is now \($0.path)" } : []
    lines += report.missing.map { "missing  \($0)" }
    lines += report.failed.map { "failed   \($0.url): \($0.reason)" }
    if report.unfinished > 0 {
      lines.append(
        "\(folder): interrupted: \(Quantities.count(report.files, "picture")) exported, "
          + "\(report.unfinished) not, and no manifest written; run it again to continue"
      )
      return lines.map(PlainText.row).joined(separator: "\n")
    }
    var sum =
      "\(folder): \(Quantities.count(report.files, "picture")), \(report.linked) linked, "
      + "\(report.copied) copied, \(report.unchanged) unchanged; catalog.json, "
      + "manifest.jsonl, manifest.csv"
    if report.places > 0 {
      sum += ", items.geojson with \(Quantities.count(report.places, "place"))"
    }
    let renamed = report.collisions.count
    if renamed > 0, !namesEach {
      sum += "; \(Quantities.count(renamed, "picture")) under another name (-v lists them)"
    }
    if report.squares > 0 { sum += "; \(Quantities.count(report.squares, "square"))" }
    if report.deleted > 0 { sum += "; \(Quantities.count(report.deleted, "old file")) removed" }
    lines.append(sum)
    return lines.map(PlainText.row).joined(separator: "\n")
  }
}
