import ArgumentParser
import CurlTransport
import Transport

/// How whatever fetches a catalog meets its origins.
struct ConnectionOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Transfers at once to one host.", valueName: "n|auto"))
  var perHost: ParallelArgument?

  @Option(help: ArgumentHelp("Repeat what failed at most so often.", valueName: "n"))
  var retries = 4

  @Option(
    help: ArgumentHelp(
      "Connect to the second host in place of the first.",
      valueName: "host:port:host:port"
    )
  )
  var connectTo: [String] = []

  @Option(help: ArgumentHelp("Trust the certificates in this PEM file.", valueName: "file"))
  var cacert: String?

  @OptionGroup var proxy: ProxyOptions

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
  }

  /// How a run behaves on the network.
  ///
  /// - Parameter named: the hosts that the catalog file names.
  /// - Returns: The transport's options.
  /// - Throws: A usage error when the proxy is none.
  func transport(named: Set<HostPort>) throws -> TransportOptions {
    var options = TransportOptions()
    options.perHost = perHost?.count ?? .auto
    options.retry.retries = retries
    options.connectTo = connectTo
    options.caFile = cacert
    options.proxy = try proxy.route()
    options.allowPrivateAddresses = allowPrivateAddresses
    options.namedHosts = named
    options.userAgent = "larder/\(LarderCommand.version)"
    return options
  }
}
