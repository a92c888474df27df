import ArgumentParser
import Base
import CurlTransport
import Foundation
import Transport

/// The connection options of every command that fetches.
struct ConnectionOptions: ParsableArguments {
  @Option(
    "Simultaneous transfers to one host, 1 to 1024. (default: auto, at most 16)",
    value: "n|auto",
    read: ParallelArgument.read
  )
  var perHost: TransportOptions.Count?

  @Option(
    "Retry a request up to N times, 0 to 100, after a temporary failure. (default: 4)",
    value: "n",
    read: WholeNumber.reader(0...100)
  )
  var retries = RetryPolicy().retries

  @Option(
    "Connect to the second host and port instead of the first (as curl's option of this name).",
    value: "host:port:host:port"
  )
  var connectTo: [String] = []

  @OptionGroup var route: RouteOptions

  @Flag(help: "Allow private addresses for hosts that are named only by fetched data.")
  var allowPrivateAddresses = false

  mutating func validate() throws {
    for rule in connectTo where ConnectRule(rule) == nil {
      throw ValidationError(
        "--connect-to takes HOST:PORT:HOST:PORT with ports from 1 to 65535, not \"\(rule)\""
      )
    }
  }

  /// Converts these command-line options to the transport's options.
  ///
  /// - Parameter named: The hosts that the catalog file names. They are allowed to have private addresses.
  /// - Returns: The transport's options.
  /// - Throws: A usage error when the proxy is invalid.
  func transport(named: Set<HostPort>) throws -> TransportOptions {
    var options = try route.transport()
    options.perHost = perHost ?? .auto
    options.retry.retries = retries
    options.connectTo = connectTo
    options.allowPrivateAddresses = allowPrivateAddresses
    options.namedHosts = named
    return options
  }
}

/// The options `--cacert` and `--proxy` of every command that connects to a server.
struct RouteOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Trust the certificates in this PEM file.", valueName: "file"),
    completion: .file(),
    transform: CertificateFile.read
  )
  var cacert: String?

  @Option(
    "Use this proxy (http, https, socks5h), or with env the proxies of curl's variables. Put a URL with a "
      + "password into LARDER_PROXY (default: LARDER_PROXY, else none).",
    value: "url|env|none"
  )
  var proxy: String?

  /// Refuses an invalid proxy while the command line is parsed.
  mutating func validate() throws {
    do throws(LarderError) {
      _ = try ProxyArgument.route(proxy)
    } catch {
      throw ValidationError(error.problem)
    }
  }

  /// Adds the certificates, the proxy and larder's name to a transport's options.
  ///
  /// - Parameter options: The other options of the transport.
  /// - Returns: The transport's options.
  /// - Throws: A usage error when the proxy is invalid.
  func transport(_ options: TransportOptions = TransportOptions()) throws -> TransportOptions {
    var options = options
    options.caFile = cacert
    options.proxy = try ProxyArgument.route(proxy)
    options.userAgent = "larder/\(LarderCommand.version)"
    return options
  }
}

/// The value of `--proxy`: a proxy's URL, `env` or `none`.
///
/// `env` means the proxies in curl's environment variables, such as `https_proxy`, and `none` means no proxy.
enum ProxyArgument {
  /// The proxy for each URL; nil if no proxy is used.
  ///
  /// `--proxy` takes precedence over `LARDER_PROXY`. Without either, no proxy is used, even if `http_proxy` is set.
  ///
  /// - Parameter proxy: The value of `--proxy`; nil if it was not given.
  /// - Returns: The proxies.
  /// - Throws: A usage error. The error does not repeat the argument, because a proxy's URL can contain a password.
  static func route(_ proxy: String?) throws(LarderError) -> ProxyRoute? {
    guard let text = proxy ?? OutboxOptions.variable("LARDER_PROXY"), text != "none" else {
      return nil
    }
    let variables = ProcessInfo.processInfo.environment
    let name = "the proxy in \(proxy == nil ? "LARDER_PROXY" : "--proxy")"
    if text == "env" { return try ProxyRoute(environment: variables, named: name) }
    return ProxyRoute(try Proxy(parsing: text, named: name), variables: variables)
  }
}
