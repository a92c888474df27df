import ArgumentParser
import Base
import Catalog
import Glibc
import Larder
import Pipeline
import SystemPackage
import Web

/// `larder report`: writes the catalog as an HTML page.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write the catalog, its changes and failures as one HTML page.",
    discussion: """
      Example:  larder report
                larder report --out /srv/www/banchan.html --language ko
                larder report --since 30d --out month.html

      The page is self-contained: you can open, send or print it. Up to 2000 items have their thumbnails \
      in the page itself. With more items, the thumbnails are in a folder beside it (report.files for \
      report.html), which must be copied along. A report replaces an older report; any other file is \
      replaced only with --force. Thumbnails are kept in the cache, so the next report makes only new \
      ones.
      """,
    statuses: [
      .done: "written",
      .failed: "no cache, no such catalog, or --out names a file that is no report",
      .io: "the cache cannot be read, or the page cannot be written",
    ],
    stops: true
  )

  @Option(
    help: ArgumentHelp(
      "The output file; - is stdout, without thumbnails if there are more than 2000 items. (default: report.html)",
      valueName: "file"
    ),
    completion: .file(extensions: ["html"]),
    transform: PathArgument.read
  )
  var out = "report.html"

  @Option("The language of the page: en or ko. (default: LC_ALL, LC_MESSAGES, LANG)")
  var language: PageLanguage?

  @Option(
    "Only the changes from this far back, such as 30d, and the changed items. (default: the whole catalog)",
    value: "time"
  )
  var since: DurationArgument?

  @Flag(help: "Replace a file that is not a report.")
  var force = false

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if out == "-", output.json {
      throw ValidationError("--out - and --json both write to stdout; give one of them")
    }
  }

  /// The folder beside the page for its thumbnails, such as `report.files` for `report.html`.
  private var folder: FilePath {
    let file = FilePath(out)
    return file.removingLastComponent().appending("\(file.stem ?? "report").files")
  }

  func run() throws {
    let began = MonotonicTime.now()
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    let isStream = out == "-"
    if !isStream { try demandRoom() }
    let now = UnixTime.now()
    let pictures = PictureFolder(folder.string)
    let signals = Signals()
    let made = try signals.count("report", "pictures", output) { isStopped, progress in
      try ReportPage.make(
        reader,
        language ?? PageLanguage(locale: OutboxOptions.environmentLocale),
        .system(at: now),
        since: since.map { now + -Int64($0.seconds) },
        advice: { $0.commandText },
        pictures: Workers.forPictures,
        folder: isStream ? nil : (pictures, folder.lastComponent?.string ?? ""),
        isStopped: isStopped,
        progress: progress
      )
    }
    guard let made else { Output.end(signals.status ?? .interrupted) }
    if isStream {
      if made.items > ReportPage.mostInline {
        Log(output).warning(
          "the page has no thumbnails: with more than 2000 items they need --out FILE"
        )
      }
      return Output.file(Array(made.html.utf8))
    }
    try TextFile.replace(out, with: made.html)
    pictures.sweep(except: made.files ?? [])
    let picturesFolder = made.files == nil ? nil : folder.string
    let bytes = made.html.utf8.count
    let seconds = (Double(MonotonicTime.now() - began) / 1e6).rounded() / 1000
    let thumbnails = Quantities.count(made.thumbnails, "picture")
    let place = picturesFolder.map { " in \(PlainText.line($0))" } ?? ""
    try output.show(
      JSONMembers([
        "path": out, "folder": picturesFolder, "items": made.items, "thumbnails": made.thumbnails,
        "bytes": bytes, "seconds": seconds,
      ]),
      text:
        "\(PlainText.line(out)): \(Quantities.count(made.items, "item")), \(thumbnails)\(place), "
        + "\(ByteCount(Int64(bytes)).formatted()) in \(Quantities.duration(seconds))"
    )
  }

  /// Checks that the page can be written, before the work of making it.
  ///
  /// - Throws: ``CommandFailure`` when the page cannot be written.
  private func demandRoom() throws {
    try TextFile.demandRoom(at: out)
    guard !force, TextFile.exists(out) else { return }
    // An empty file, or one that begins as a report of larder does, can be replaced without --force.
    var status = stat()
    let isFile = stat(out, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    let start = isFile ? try? BoundedReading.bytes(ofFile: out, limit: 1023) : nil
    if let start, start.isEmpty || ReportPage.isReport(Array(start.prefix(1024))) { return }
    throw CommandFailure(
      "cannot write \(out): it exists and is not a report of larder; name another with --out, or "
        + "replace it with --force",
      .failed
    )
  }
}

extension PageLanguage: ExpressibleByArgument {}
