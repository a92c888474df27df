import CCurl
import Transport

/// Keeps one handle from connecting to addresses that its transfer may not reach.
///
/// Asked twice: before each socket is opened, and again on each connection before the request goes out. The second
/// time matters for connections that another transfer opened and that libcurl, which tells them apart by host and
/// port alone, would reuse.
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

  /// Whether every address that the transfer came to was refused.
  var hasRefusedAll: Bool { refused > 0 && allowed == 0 }

  /// Makes the handle ask this gate before it opens a socket, and before each request goes out.
  func guardHandle(_ easy: borrowing EasyHandle) {
    easy.set(judge: judge)
    // SAFETY: unretained, as in `init`.
    easy.set(CURLOPT_PREREQDATA, context: Unmanaged.passUnretained(self).toOpaque())
    easy.set(prereq: Self.onRequest)
  }

  /// Readies the gate for a transfer: open lets it connect anywhere.
  func prepare(isOpen: Bool) {
    self.isOpen = isOpen
    refused = 0
    allowed = 0
  }

  /// Whether a request may go out on a connection to that address.
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

  // SAFETY: the context is the gate, alive as the handle is; the bytes are the shim's for the call.
  private static let onAddress: larder_address_callback = { bytes, count, context in
    guard let context else { return 0 }
    let gate = Unmanaged<AddressGate>.fromOpaque(context).takeUnretainedValue()
    let address = IPAddress(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return gate.mayConnect(to: address) ? 1 : 0
  }

  // SAFETY: the context is the gate, alive as the handle is; the peer is a C string for the call.
  private static let onRequest: larder_prereq_callback = { context, peer, _, _, _ in
    guard let context, let peer else { return CURL_PREREQFUNC_ABORT }
    let gate = Unmanaged<AddressGate>.fromOpaque(context).takeUnretainedValue()
    return gate.mayAsk(peer) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }
}
