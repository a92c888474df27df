import ArgumentParser
import Cache
import CurlTransport
import Glibc
import Larder
import Pipeline
import Transport

/// `larder gc`: sweeps what no catalog needs any more.
struct GcCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "swept",
      .failed: "there is no cache, or no catalog that --forget names",
      .partial: "what catalogs refer to still exceeds --max-size",
      .io: "the disk is not writable or damaged",
      .tryAgain: "a run holds the cache",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "gc",
    abstract: "Remove pictures that no catalog needs any more, and old runs.",
    discussion: """
      Example:  larder gc --dry-run
                larder gc --grace 7d --max-size 2G --history 90d

      A picture goes when no catalog has referred to it for the grace. --max-age and --max-size take \
      more, the least recently used first, and never what a catalog refers to unless \
      --include-referenced is given: the next run then fetches that again. larder diff says what \
      went and when.

      \(statuses.text)
      """
  )

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long a picture stays after it was dropped. (default: 7d)",
      valueName: "time"
    ),
    transform: DurationArgument.read
  )
  var grace: DurationArgument?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Remove what no run has needed for so long. (default: no limit)",
      valueName: "time"
    ),
    transform: DurationArgument.read
  )
  var maxAge: DurationArgument?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Hold no more than this, such as 20G. (default: no limit)",
      valueName: "size"
    ),
    transform: SizeArgument.read
  )
  var maxSize: SizeArgument?

  @Flag(help: "Let --max-age and --max-size take what catalogs refer to.")
  var includeReferenced = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How long runs are kept for diff. (default: 400d)", valueName: "time"),
    transform: DurationArgument.read
  )
  var history: DurationArgument?

  @Option(
    help: ArgumentHelp("Forget this catalog first; may be repeated.", valueName: "catalog")
  )
  var forget: [String] = []

  @Flag(help: "Say what would go, and change nothing.")
  var dryRun = false

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if includeReferenced, maxAge == nil, maxSize == nil {
      throw ValidationError("--include-referenced goes with --max-age or --max-size")
    }
    if dryRun, !forget.isEmpty {
      throw ValidationError("--forget cannot be tried with --dry-run")
    }
  }

  func run() throws {
    var options = CacheGc.Options()
    if let grace { options.limits.grace = Int64(grace.seconds) }
    options.limits.maxAge = maxAge.map { Int64($0.seconds) }
    options.limits.maxBytes = maxSize?.bytes
    options.limits.includesReferenced = includeReferenced
    if let history { options.history = Int64(history.seconds) }
    options.forget = forget
    let place = try cache.place(reading: true, Log(output))
    let now = UnixTime.now()
    let gc = CacheGc(place.path, keeper: place.keeper, options: options, now: now)
    let stop = StopFlag()
    let signals = Signals { _ in stop.raise() }
    let display = CountDisplay("gc", "files", Terminal(output))
    let result = Result {
      try dryRun
        ? gc.plan()
        : gc.run(holder: "larder gc, process \(getpid())") {
          stop.isRaised
        } progress: { done, total in
          display.show(done, of: total)
        }
    }
    display.end()
    let report = try result.get()
    if !dryRun, !stop.isRaised { try place.store?.pictures.abortOldUploads(now: now) }
    let document = GcDocument(report, isDryRun: dryRun)
    if output.json {
      Output.json(try document.json())
    } else if !output.quiet {
      Output.data(document.text(all: output.verbose > 0 || dryRun))
    }
    if let signal = signals.signal { Output.end(signal == 15 ? .terminated : .interrupted) }
    Output.end(report.plan.bytesOver > 0 ? .partial : .done)
  }
}
