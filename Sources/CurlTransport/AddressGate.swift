import CCurl
import Transport

/// Prevents the transfers of one libcurl handle from connecting to addresses that are not allowed.
///
/// libcurl asks the gate before it opens a socket, and again before it sends a request on a connection. The second
/// question is needed because libcurl reuses connections that other transfers opened to the same host and port. The
/// other transfer may have been allowed to use an address that this transfer is not allowed to use.
final class AddressGate {
  private let judge: UnsafeMutablePointer<larder_address_judge>
  private var isOpen = false
  private var refused = 0
  private var allowed = 0

  init() {
    judge = .allocate(capacity: 1)
    judge.initialize(to: larder_address_judge())
    judge.pointee.callback = Self.onAddress
    // SAFETY: the pointer is unretained. The exchange owns both this gate and the handle that calls it.
    judge.pointee.context = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit { judge.deallocate() }

  /// Whether the transfer tried at least one address, and all of these were refused.
  var hasRefusedAll: Bool { refused > 0 && allowed == 0 }

  /// Makes a handle ask this gate before it opens a socket, and before it sends a request.
  func guardHandle(_ easy: borrowing EasyHandle) {
    easy.set(judge: judge)
    // SAFETY: the pointer is unretained, as in `init`.
    easy.set(CURLOPT_PREREQDATA, context: Unmanaged.passUnretained(self).toOpaque())
    easy.set(prereq: Self.onRequest)
  }

  /// Prepares the gate for a transfer.
  ///
  /// If `isOpen` is true, the transfer is allowed to connect to all addresses.
  func prepare(isOpen: Bool) {
    self.isOpen = isOpen
    refused = 0
    allowed = 0
  }

  /// Whether a request is allowed to be sent on a connection to an address, for example `192.0.2.1`.
  private func mayAsk(_ peer: UnsafePointer<CChar>) -> Bool {
    allowed = 0
    return isOpen || mayConnect(to: IPAddress(literal: String(cString: peer)))
  }

  private func mayConnect(to address: IPAddress?) -> Bool {
    guard !isOpen else { return true }
    guard let address, AddressPolicy.isPublic(address) else {
      refused += 1
      return false
    }
    allowed += 1
    return true
  }

  // SAFETY: the context is the gate, which exists as long as the handle. The bytes are valid during the call.
  private static let onAddress: larder_address_callback = { bytes, count, context in
    guard let context else { return 0 }
    let gate = Unmanaged<AddressGate>.fromOpaque(context).takeUnretainedValue()
    let address = IPAddress(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return gate.mayConnect(to: address) ? 1 : 0
  }

  // SAFETY: the context is the gate, which exists as long as the handle. The C string `peer` is valid during the call.
  private static let onRequest: larder_prereq_callback = { context, peer, _, _, _ in
    guard let context, let peer else { return CURL_PREREQFUNC_ABORT }
    let gate = Unmanaged<AddressGate>.fromOpaque(context).takeUnretainedValue()
    return gate.mayAsk(peer) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }
}

/// The hosts that the user named.
///
/// Transfers to these hosts are allowed to use private addresses.
///
/// The user names a host on the command line, in the catalog file, or as the first host in a value of the option
/// `--connect-to`, such as `shop.example:443:127.0.0.1:8443`.
struct HostTrust {
  private let named: Set<HostPort>
  private let redirected: [ConnectRule]

  init(_ options: TransportOptions) {
    named = options.namedHosts
    redirected = options.connectTo.compactMap(ConnectRule.init)
  }

  func isNamed(_ place: HostPort) -> Bool {
    named.contains(place)
      || redirected.contains { rule in
        (rule.host.isEmpty || rule.host == place.host)
          && (rule.port.map { $0 == place.port } ?? true)
      }
  }

  /// Whether the current request of a transfer, which goes to `place`, is allowed to be sent to a private address.
  func isTrusted(_ transfer: Transfer, at place: HostPort) -> Bool {
    let isFirst = transfer.visited.isEmpty || transfer.request.url.hostPort == place
    return isFirst && transfer.request.trust == .named || isNamed(place)
  }
}

/// A value `HOST:PORT:HOST:PORT` of the option `--connect-to`.
///
/// Each part can be empty. A host can be an IPv6 address in brackets.
package struct ConnectRule {
  /// The first host, without brackets; empty if the rule is for any host.
  let host: String
  /// The first port; nil if the rule is for any port.
  let port: Int?

  /// Parses a value; nil if it does not have four parts, or if a port is not from 1 to 65535.
  package init?(_ text: String) {
    let parts = /(\[[^\]]*\]|[^:]*):([^:]*):(\[[^\]]*\]|[^:]*):([^:]*)/
    guard let match = text.wholeMatch(of: parts) else { return nil }
    for port in [match.2, match.4] where !port.isEmpty && !(1...65535 ~= Int(port) ?? 0) {
      return nil
    }
    host = match.1.lowercased().filter { $0 != "[" && $0 != "]" }
    port = Int(match.2)
  }
}
