import ArgumentParser
import Catalog
import CurlTransport
import Larder
import Transport

/// What `sync` and `warm` take.
struct FetchOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Fetch from here in place of the catalog's base.", valueName: "url"))
  var base: String?

  @Option(help: ArgumentHelp("Transfers at once, or auto.", valueName: "n|auto"))
  var parallel = ParallelArgument.auto

  @Option(help: ArgumentHelp("Transfers at once to one host.", valueName: "n|auto"))
  var perHost: ParallelArgument?

  @Option(help: ArgumentHelp("Requests a second at most, such as 20/s.", valueName: "n/s"))
  var rate: RateArgument?

  @Option(help: ArgumentHelp("End after this time, such as 10m.", valueName: "time"))
  var deadline: DurationArgument?

  @Option(help: ArgumentHelp("Fetch no more than this, such as 2G.", valueName: "size"))
  var maxBytes: SizeArgument?

  @Option(help: ArgumentHelp("Repeat what failed at most so often.", valueName: "n"))
  var retries = 4

  @Flag(help: "Fetch only the pictures of the lists.")
  var thumbnailsOnly = false

  @Flag(help: "Fetch no details.")
  var noDetails = false

  @Option(
    help: ArgumentHelp(
      "Keep a square of every picture, of so many pixels a side, in squares/<n>.",
      valueName: "n"
    )
  )
  var square: Int?

  @Flag(help: "Fail on the first item that cannot be read.")
  var strict = false

  @Flag(help: "Print what would be done, and change nothing.")
  var dryRun = false

  @Flag(help: "Let items go although a section shrank suddenly.")
  var allowRemovals = false

  @Option(
    help: ArgumentHelp(
      "Connect to the second host in place of the first.",
      valueName: "host:port:host:port"
    )
  )
  var connectTo: [String] = []

  @Option(help: ArgumentHelp("Trust the certificates in this PEM file.", valueName: "file"))
  var cacert: String?

  @Flag(help: "Let hosts that only fetched data names have private addresses.")
  var allowPrivateAddresses = false

  mutating func validate() throws {
    guard (0...100).contains(retries) else {
      throw ValidationError("--retries takes a number from 0 to 100, not \(retries)")
    }
    for rule in connectTo
    where rule.split(separator: ":", omittingEmptySubsequences: false).count < 4 {
      throw ValidationError("--connect-to takes HOST:PORT:HOST:PORT, not \"\(rule)\"")
    }
    if let square, !(1...4096).contains(square) {
      throw ValidationError("--square takes a number from 1 to 4096, not \(square)")
    }
    if let base, !base.contains("://") {
      throw ValidationError("--base takes an absolute URL, not \"\(base)\"")
    }
  }

  /// What the run does beyond the catalog file.
  var sync: SyncOptions {
    var options = SyncOptions()
    options.base = base
    options.thumbnailsOnly = thumbnailsOnly
    options.noDetails = noDetails
    options.strict = strict
    options.allowRemovals = allowRemovals
    options.squareSide = square
    options.squareDeadline = deadline.map { UnixTime.now() + Int64($0.seconds) }
    return options
  }

  /// How the run behaves on the network.
  ///
  /// - Parameter named: the hosts that the catalog file names.
  /// - Returns: The transport's options.
  func transport(named: Set<HostPort>) -> TransportOptions {
    var options = TransportOptions()
    options.parallel = parallel.count
    options.perHost = perHost?.count ?? .auto
    options.rate = rate?.perSecond
    options.retry.retries = retries
    options.deadline = deadline.map { MonotonicTime.now() + $0.duration }
    options.maxBytes = maxBytes?.bytes
    options.connectTo = connectTo
    options.caFile = cacert
    options.allowPrivateAddresses = allowPrivateAddresses
    options.namedHosts = named
    options.userAgent = "larder/\(LarderCommand.version)"
    return options
  }
}
