import ArgumentParser
import Base
import Catalog
import CurlTransport
import Pipeline
import Transport

/// The options that `sync` and `warm` share, from several groups; other commands use single groups.
///
/// Not a `ParsableArguments` itself: the argument parser would evaluate nested groups several times.
struct FetchOptions {
  let scope: ScopeOptions
  let limits: LimitOptions
  let room: RoomOptions
  let connection: ConnectionOptions
  let work: WorkOptions
  let doubt: DoubtOptions

  /// Whether to print only the plan.
  var dryRun: Bool { work.dryRun }

  /// The run's settings, except the catalog file.
  var sync: SyncOptions {
    var options = doubt.applied(to: scope.sync)
    options.squareSide = work.square
    options.pictures = Workers.forPictures
    options.deadline = limits.deadline.map { UnixTime.now() + Int64($0.seconds) }
    return options
  }

  /// Converts these command-line options to the transport's options.
  ///
  /// - Parameters:
  ///   - named: The hosts that the catalog file names.
  ///   - cache: The cache's path; `--keep-free` applies to the disk that holds it.
  /// - Returns: The transport's options.
  /// - Throws: A usage error when `--proxy` names an invalid proxy.
  func transport(named: Set<HostPort>, cache: String) throws -> TransportOptions {
    var options = try connection.transport(named: named)
    limits.apply(to: &options)
    options.reserve = room.reserve(of: cache)
    return options
  }
}

/// The options `--square` and `--dry-run`.
struct WorkOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Keep a square of every picture, N pixels a side, in squares/<n>.",
      valueName: "n"
    ),
    transform: WholeNumber.reader(1...4096)
  )
  var square: Int?

  @Flag(help: "Print the plan, and change nothing.")
  var dryRun = false
}

/// The options that limit a run's use of the network, and its time.
struct LimitOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Simultaneous transfers, 1 to 1024, or auto. (default: auto)",
      valueName: "n|auto"
    ),
    transform: ParallelArgument.read
  )
  var parallel = ParallelArgument.auto

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Send at most this many requests, such as 20/s. (default: no limit)",
      valueName: "n/s"
    ),
    transform: RateArgument.read
  )
  var rate: RateArgument?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Stop after this time, such as 10m. (default: never)", valueName: "time"),
    transform: DurationArgument.readPositive
  )
  var deadline: DurationArgument?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Fetch no more than this, such as 2G. (default: no limit)",
      valueName: "size"
    ),
    transform: SizeArgument.read
  )
  var maxBytes: SizeArgument?

  /// Applies the limits; the deadline counts from now.
  func apply(to options: inout TransportOptions) {
    options.parallel = parallel.count
    options.rate = rate?.perSecond
    options.deadline = deadline.map { MonotonicTime.now() + $0.duration }
    options.maxBytes = maxBytes?.bytes
  }
}

/// The options for items that cannot be read, or that the feed no longer lists.
struct DoubtOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The most unreadable items in a section, such as 3 or 10% (but at least one). A section with "
        + "more keeps its previous items. (default: 10%)",
      valueName: "n%|n"
    ),
    transform: MaxSkippedArgument.read
  )
  var maxSkipped = MaxSkippedArgument(limit: .standard)

  @Flag(help: "Fail on the first item that cannot be read.")
  var strict = false

  @Flag(help: "Accept sudden mass removals of items, sections or details.")
  var allowRemovals = false

  /// A copy of `options` with these settings.
  func applied(to options: SyncOptions) -> SyncOptions {
    var options = options
    options.strict = strict
    options.allowRemovals = allowRemovals
    options.maxSkipped = maxSkipped.limit
    return options
  }
}

/// The options that select the parts of a catalog to fetch, and its source.
struct ScopeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Use this URL instead of the catalog's base.", valueName: "url"))
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

  /// The run's settings, except the catalog file.
  var sync: SyncOptions {
    var options = SyncOptions()
    options.base = base
    options.thumbnailsOnly = thumbnailsOnly
    options.noDetails = noDetails
    return options
  }
}

/// The value of `--max-skipped`: a percentage such as `10%`, or a number of items.
struct MaxSkippedArgument: Sendable, CustomStringConvertible {
  let limit: SkipLimit

  init(limit: SkipLimit) {
    self.limit = limit
  }

  /// Reads the option's value.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  static func read(_ argument: String) throws -> MaxSkippedArgument {
    guard let limit = limit(argument) else {
      throw ValidationError("it takes a share from 0% to 100%, or a number of items")
    }
    return MaxSkippedArgument(limit: limit)
  }

  private static func limit(_ argument: String) -> SkipLimit? {
    guard argument.first?.isNumber == true else { return nil }
    guard argument.hasSuffix("%") else { return Int(argument).map(SkipLimit.count) }
    guard let share = Double(argument.dropLast()), (0...100).contains(share) else { return nil }
    return .percent(share)
  }

  /// The value in the form that the option accepts.
  var description: String {
    switch limit {
    case .percent(let share):
      share == share.rounded() ? "\(Int(share))%" : "\(share)%"
    case .count(let most): "\(most)"
    }
  }
}
