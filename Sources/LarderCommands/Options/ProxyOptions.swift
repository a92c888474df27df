import ArgumentParser
import CurlTransport
import Foundation

/// Whether requests go through a proxy, and through which.
struct ProxyOptions: ParsableArguments {
  /// What stands for the environment's own variables, and for no proxy at all.
  private static let environment = "env"
  private static let none = "none"

  @Option(
    help: ArgumentHelp(
      "Go through this proxy (http, https, socks5h), or with env through those that curl's variables "
        + "name; a password belongs into LARDER_PROXY (default: LARDER_PROXY, else none).",
      valueName: "url|env|none"
    )
  )
  var proxy: String?

  mutating func validate() throws {
    do {
      _ = try route()
    } catch let failure as CommandFailure {
      throw ValidationError(failure.message ?? "")
    }
  }

  /// Which proxy a URL goes through; nil for none at all.
  ///
  /// The flag wins over `LARDER_PROXY`. Without either no proxy is used, whatever `http_proxy` says.
  ///
  /// - Throws: A usage error, which does not repeat what may hold a password.
  func route() throws -> ProxyRoute? { try Self.route(proxy) }

  /// The same for a flag's value; nil where there is no such flag.
  static func route(_ proxy: String?) throws -> ProxyRoute? {
    guard let text = proxy ?? OutboxOptions.variable("LARDER_PROXY"), text != Self.none else {
      return nil
    }
    let variables = ProcessInfo.processInfo.environment
    do throws(ProxyError) {
      if text == Self.environment { return try ProxyRoute(environment: variables) }
      return ProxyRoute(try Proxy(parsing: text), variables: variables)
    } catch {
      let name = proxy == nil ? "LARDER_PROXY" : "--proxy"
      throw CommandFailure("cannot use the proxy that \(name) gives: \(error)", .usage)
    }
  }
}
