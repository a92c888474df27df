import ArgumentParser
import Base
import Cache
import Catalog
import Glibc
import Pipeline

/// `larder gc`: removes pictures that no catalog refers to any more, and old runs.
struct GcCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gc",
    abstract: "Remove pictures that no catalog needs any more, and old runs.",
    discussion: """
      Example:  larder gc --dry-run
                larder gc --grace 7d --max-size 2G --history 90d

      A picture is removed when no catalog has referred to it for the grace period. --max-size removes \
      more of the pictures that no catalog refers to, those without a catalog for the longest time \
      first. larder diff lists the removed pictures, with the times.
      """,
    statuses: [
      .done: "swept",
      .failed: "there is no cache, or --forget names an unknown catalog",
      .partial: "the pictures that catalogs refer to still exceed --max-size",
      .io: "the disk is not writable or damaged",
      .tryAgain: "a run holds the cache",
    ],
    stops: true
  )

  @Option(
    "How long to keep a picture after the last catalog dropped it. (default: 7d)",
    value: "time"
  )
  var grace: DurationArgument?

  @Option(
    "Remove pictures until no more than this is left, such as 20G. (default: no limit)",
    value: "size"
  )
  var maxSize: SizeArgument?

  @Option("How long runs are kept for diff. (default: 400d)", value: "time")
  var history: DurationArgument?

  @Option(
    "Remove changes older than this, such as 2y, from the history; the values in force at that point are kept. "
      + "(default: keep all)",
    value: "time"
  )
  var prices: DurationArgument?

  @Option("First remove this catalog from the cache; may be repeated.", value: "catalog")
  var forget: [String] = []

  @Flag(help: "Print the removals, and change nothing.")
  var dryRun = false

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if dryRun, !forget.isEmpty {
      throw ValidationError("--forget cannot be combined with --dry-run")
    }
  }

  func run() throws {
    var options = SweepOptions()
    options.grace = grace?.duration ?? options.grace
    options.maxBytes = maxSize?.bytes.count
    options.history = history?.duration ?? options.history
    options.prices = prices?.duration
    options.isDryRun = dryRun
    options.forget = forget
    let place = try cache.place(reading: true, Log(output))
    let gc = CacheGc(place.path, remote: place.remote, options: options, now: .now())
    let signals = Signals()
    let report = try signals.count("gc", "files", output) {
      try gc.run(holder: "larder gc, process \(getpid())", isStopped: $0, progress: $1)
    }
    try output.show(report, text: report.text(all: output.verbose > 0 || dryRun))
    Output.end(signals.status ?? (report.bytesOver > 0 ? .partial : .done))
  }
}

extension SweepReport {
  /// The report as text: the number of removed pictures, and the bytes that were freed.
  ///
  /// If `all` is true, a line for each removed picture comes first.
  func text(all: Bool) -> String {
    let removals = plan.removals.map { removal in
      let picture = removal.picture
      let since = Quantities.since(picture.unreferenced)
      let path = PictureName(url: picture.url, id: picture.id).path
      return "\(removal.reason.rawValue)\(since)  \(path)  \(PlainText.line(picture.url))"
    }
    var lines = all ? removals + strays.map { "stray  \(PlainText.line($0))" } : []
    let forgotten = [(runs, "old run"), (changes, "old change")].filter { $0.0 > 0 }
    lines.append(
      "\(Quantities.count(plan.removals.count, "picture")) and \(Quantities.count(strays.count, "stray")) "
        + (isDryRun ? "would be removed" : "removed") + ": \(plan.bytesFreed.formatted()) freed, "
        + "\(plan.bytesKept.formatted()) kept"
        + forgotten.map { ", \(Quantities.count($0, $1)) forgotten" }.joined()
    )
    if unfinished > 0 {
      lines.append(
        "interrupted: \(Quantities.count(unfinished, "file")) not removed yet; run it again to continue"
      )
    }
    if bytesOver > 0 {
      lines.append(
        "\(plan.bytesOver.formatted()) more than --max-size are held because catalogs refer to them"
      )
    }
    return lines.joined(separator: "\n")
  }
}
