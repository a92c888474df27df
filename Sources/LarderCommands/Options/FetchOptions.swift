import ArgumentParser
import Base
import Catalog
import CurlTransport
import Pipeline

/// The options `--square` and `--dry-run`.
struct WorkOptions: ParsableArguments {
  @Option(
    "Keep a square of every picture, N pixels a side, in squares/<n>.",
    value: "n",
    read: WholeNumber.reader(1...4096)
  )
  var square: Int?

  @Flag(help: "Print the plan, and change nothing.")
  var dryRun = false
}

/// The options that limit a run's use of the network, and its time.
struct LimitOptions: ParsableArguments {
  @Option(
    "Simultaneous transfers, 1 to 1024, or auto. (default: auto)",
    value: "n|auto",
    read: ParallelArgument.read
  )
  var parallel = TransportOptions.Count.auto

  @Option("Send at most this many requests, such as 20/s. (default: no limit)", value: "n/s")
  var rate: RateArgument?

  @Option(
    "Stop after this time, such as 10m. (default: never)",
    value: "time",
    read: DurationArgument.readPositive
  )
  var deadline: DurationArgument?

  @Option("Fetch no more than this, such as 2G. (default: no limit)", value: "size")
  var maxBytes: SizeArgument?

  /// Applies the limits to a transport.
  ///
  /// The deadline counts from now.
  func apply(to options: inout TransportOptions) {
    options.parallel = parallel
    options.rate = rate?.perSecond
    options.deadline = deadline.map { MonotonicTime.now() + $0.duration }
    options.maxBytes = maxBytes?.bytes
  }
}

/// The options for items that cannot be read, and for items that the shop suddenly no longer lists.
struct DoubtOptions: ParsableArguments {
  @Option(
    "The most unreadable items in a section, such as 3 or 10% (but at least one). A section with "
      + "more keeps its previous items. (default: 10%)",
    value: "n%|n",
    read: Self.limit
  )
  var maxSkipped = SkipLimit.standard

  @Flag(help: "Fail on the first item that cannot be read.")
  var strict = false

  @Flag(help: "Accept sudden mass removals of items, sections or details.")
  var allowRemovals = false

  /// A copy of `options` with these settings.
  func applied(to options: SyncOptions) -> SyncOptions {
    var options = options
    options.strict = strict
    options.allowRemovals = allowRemovals
    options.maxSkipped = maxSkipped
    return options
  }

  /// Parses the value of `--max-skipped`: a percentage such as `10%`, or a number of items.
  @Sendable private static func limit(_ argument: String) throws -> SkipLimit {
    if argument.hasSuffix("%"), let share = try? PercentArgument.read(argument) {
      return .percent(share)
    }
    if let count = WholeNumber.read(argument, in: 0...Int.max) { return .count(count) }
    throw ValidationError("it takes a share from 0% to 100%, or a number of items")
  }
}

/// The options that select the parts of a catalog to fetch, and its source.
struct ScopeOptions: ParsableArguments {
  @Option("Use this URL instead of the catalog's base.", value: "url")
  var base: String?

  @Flag(help: "Fetch only the pictures of the lists.")
  var thumbnailsOnly = false

  @Flag(help: "Fetch no details.")
  var noDetails = false

  mutating func validate() throws {
    if let base, !base.contains("://") {
      throw ValidationError(
        "--base takes an absolute URL such as https://store.example/, not \"\(base)\""
      )
    }
  }

  /// The settings of a run that these options determine.
  var sync: SyncOptions {
    var options = SyncOptions()
    options.base = base
    options.thumbnailsOnly = thumbnailsOnly
    options.noDetails = noDetails
    return options
  }
}
