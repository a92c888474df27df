import CCurl
import Transport

/// Keeps one libcurl handle from connecting to addresses that its transfer may not reach.
///
/// libcurl asks the gate twice: before each socket is opened, and on each connection before the request is sent. The
/// second question is for connections that another transfer opened: libcurl distinguishes connections only by host
/// and port, and would reuse them.
final class AddressGate {
  private let judge: UnsafeMutablePointer<larder_address_judge>
  private var isOpen = false
  private var refused = 0
  private var allowed = 0

  init() {
    judge = .allocate(capacity: 1)
    judge.initialize(to: larder_address_judge())
    judge.pointee.callback = Self.onAddress
    // SAFETY: unretained: the exchange owns this gate and the handle that calls it, and frees them together.
    judge.pointee.context = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit { judge.deallocate() }

  /// Whether every address that the transfer tried was refused.
  var hasRefusedAll: Bool { refused > 0 && allowed == 0 }

  /// Makes the handle ask this gate before it opens a socket, and before it sends a request.
  func guardHandle(_ easy: borrowing EasyHandle) {
    easy.set(judge: judge)
    // SAFETY: unretained, as in `init`.
    easy.set(CURLOPT_PREREQDATA, context: Unmanaged.passUnretained(self).toOpaque())
    easy.set(prereq: Self.onRequest)
  }

  /// Prepares the gate for a transfer; an open gate lets it connect anywhere.
  func prepare(isOpen: Bool) {
    self.isOpen = isOpen
    refused = 0
    allowed = 0
  }

  /// Whether a request may be sent on a connection to the address `peer`.
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

  // SAFETY: the context is the gate, which lives as long as the handle; the bytes are the shim's, and valid during the
  // call.
  private static let onAddress: larder_address_callback = { bytes, count, context in
    guard let context else { return 0 }
    let gate = Unmanaged<AddressGate>.fromOpaque(context).takeUnretainedValue()
    let address = IPAddress(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return gate.mayConnect(to: address) ? 1 : 0
  }

  // SAFETY: the context is the gate, which lives as long as the handle; the peer is a C string that is valid during the
  // call.
  private static let onRequest: larder_prereq_callback = { context, peer, _, _, _ in
    guard let context, let peer else { return CURL_PREREQFUNC_ABORT }
    let gate = Unmanaged<AddressGate>.fromOpaque(context).takeUnretainedValue()
    return gate.mayAsk(peer) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }
}

/// The hosts that the user named: on the command line, in the catalog file, or as the first host of a connect-to
/// entry (curl's `--connect-to`).
struct HostTrust {
  private let named: Set<HostPort>
  /// The first halves of connect-to entries, `HOST:PORT`; an empty host or a nil port stands for any.
  private let redirected: [(host: String, port: Int?)]

  init(_ options: TransportOptions) {
    named = options.namedHosts
    redirected = options.connectTo.compactMap(Self.source)
  }

  func isNamed(_ url: WebURL) -> Bool {
    if named.isEmpty, redirected.isEmpty { return false }
    return named.contains(url.hostPort)
      || redirected.contains { source in
        (source.host.isEmpty || source.host == url.host)
          && (source.port.map { $0 == url.port } ?? true)
      }
  }

  /// Whether a transfer's current hop may lead to a private address.
  func isTrusted(_ transfer: Transfer) -> Bool {
    let first = transfer.request.url
    if transfer.request.trust == .named,
      transfer.url.port == first.port, transfer.url.host == first.host
    {
      return true
    }
    return isNamed(transfer.url)
  }

  /// The first half, `HOST:PORT`, of an entry `HOST:PORT:HOST:PORT`; the host may be an address in brackets.
  private static func source(of entry: String) -> (host: String, port: Int?)? {
    var rest = entry[...]
    var host: Substring
    if rest.first == "[" {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...]
    } else {
      host = rest.prefix { $0 != ":" }
      rest = rest.dropFirst(host.count)
    }
    guard rest.first == ":" else { return nil }
    let port = rest.dropFirst().prefix { $0 != ":" }
    if !port.isEmpty, Int(port) == nil { return nil }
    return (host.lowercased(), Int(port))
  }
}
