import ArgumentParser
import Catalog
import Pipeline

/// `larder export DIR`: writes the cache's pictures into a folder, for web servers and apps.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export the pictures to a folder that any web server can serve, with catalog.json.",
    discussion: """
      Example:  larder export /srv/mirror
                larder export pictures --flat --copy --squares

      --tree puts pictures into folders like those of their URLs, host first; --flat puts all into one \
      folder under their plain names. Name clashes get a numeric suffix. Every name ends with the \
      extension of the picture's format, and is safe for web servers and for FAT, exFAT, NTFS and SMB: a \
      GIF called x.html becomes x-html.gif, and 16:9.png becomes 16-9-HASH.png. The folder also gets \
      catalog.json: catalog, sections, items as in list --json, details as in show --json. export.json \
      lists all exported files; --delete removes only those of them that the catalog no longer has.
      """,
    statuses: [
      .done: "done",
      .failed: "there is no cache, or no such catalog",
      .partial: "some pictures are not held, or could not be written",
      .io: "the disk is full, not writable or damaged",
    ],
    stops: true
  )

  @Argument(path: "The folder; created if missing.", value: "dir", completion: .directory)
  var folder: String

  @Flag(help: "Put all pictures into one folder, not into folders like those of their URLs.")
  var flat = false

  @Flag(help: "Copy every file; do not hard-link the cache's files where possible.")
  var copy = false

  @Flag(help: "Export squares too, in squares/SIZE.")
  var squares = false

  @Flag(help: "Remove files of earlier exports that the catalog no longer has.")
  var delete = false

  @OptionGroup(title: Topic.items) var moment: MomentOptions

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let place = try cache.place(reading: true, Log(output))
    let signals = Signals()
    var options = ExportOptions()
    options.isFlat = flat
    options.copies = copy
    options.squares = squares
    options.deletes = delete
    let export = try CacheExport(
      cache: place.path,
      catalog: catalog.catalog,
      remote: place.remote,
      at: moment.at
    )
    let report = try signals.count("export", "pictures", output) {
      try export.run(into: folder, options, isStopped: $0, progress: $1)
    }
    try output.show(report, text: report.text(folder: folder))
    let isWhole = report.missing.isEmpty && report.failed.isEmpty
    Output.end(signals.status ?? (isWhole ? .done : .partial))
  }
}

extension ExportReport {
  /// The result as text: one line for each file that could not be exported, then the totals.
  ///
  /// - Parameter folder: The folder of the export, as the user named it.
  /// - Returns: The lines.
  fileprivate func text(folder: String) -> String {
    var lines = missing.map { "missing  \($0)" }
    lines += failed.map { "failed   \($0.url): \($0.reason)" }
    let count = Quantities.count(files, "picture")
    guard unfinished == 0 else {
      lines.append(
        "\(folder): interrupted: \(count) exported, \(unfinished) not, and no catalog.json written; "
          + "run it again to continue"
      )
      return lines.map(PlainText.row).joined(separator: "\n")
    }
    var sum =
      "\(folder): \(count), \(linked) linked, \(copied) copied, \(unchanged) unchanged; "
      + (hasDocument ? "catalog.json" : "no catalog.json")
    if squares > 0 { sum += "; \(Quantities.count(squares, "square"))" }
    if deleted > 0 { sum += "; \(Quantities.count(deleted, "old file")) removed" }
    return (lines + [sum]).map(PlainText.row).joined(separator: "\n")
  }
}
