import ArgumentParser
import CurlTransport
import Transport

/// How whatever fetches a catalog meets its origins.
struct ConnectionOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Transfers at once to one host, 1 to 1024. (default: auto, 16 at most)",
      valueName: "n|auto"
    ),
    transform: ParallelArgument.read
  )
  var perHost: ParallelArgument?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Retry a request up to this often, 0 to 100, if its failure may pass. (default: 4)",
      valueName: "n"
    ),
    transform: RetriesArgument.read
  )
  var retries = RetriesArgument.standard

  @Option(
    help: ArgumentHelp(
      "Connect to the second host in place of the first.",
      valueName: "host:port:host:port"
    )
  )
  var connectTo: [String] = []

  @Option(
    help: ArgumentHelp("Trust the certificates in this PEM file.", valueName: "file"),
    completion: .file(),
    transform: CertificateFile.read
  )
  var cacert: CertificateFile?

  @OptionGroup var proxy: ProxyOptions

  @Flag(help: "Let hosts that only fetched data names have private addresses.")
  var allowPrivateAddresses = false

  mutating func validate() throws {
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
    options.retry.retries = retries.count
    options.connectTo = connectTo
    options.caFile = cacert?.path
    options.proxy = try proxy.route()
    options.allowPrivateAddresses = allowPrivateAddresses
    options.namedHosts = named
    options.userAgent = "larder/\(LarderCommand.version)"
    return options
  }
}
