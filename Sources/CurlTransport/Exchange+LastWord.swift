import CCurl
import Transport

extension Exchange {
  // SAFETY: libcurl passes the context that `init` set: this exchange, alive while its handle is; the peer is a C string
  // for the call.
  static let onRequest: larder_prereq_callback = { context, peer, _, _, _ in
    guard let context, let peer else { return CURL_PREREQFUNC_ABORT }
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    return exchange.mayAsk(peer) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }

  /// Whether the request may go out; where only a connection is wanted, none does.
  ///
  /// libcurl gives a connection to no other transfer when CURLOPT_CONNECT_ONLY was set as it was made. Set here,
  /// between the handshakes and the request, the option ends this transfer, and the connection serves the next.
  private func mayAsk(_ peer: UnsafePointer<CChar>) -> Bool {
    guard gate.mayAsk(peer) else { return false }
    guard transfer?.isOpening ?? true else { return true }
    easy.set(CURLOPT_CONNECT_ONLY, true)
    return easy.refused == nil
  }

  /// Leaves an opened connection to the transfers that follow: with the option set, the handle would close it as it
  /// leaves.
  func leaveConnection() { easy.set(CURLOPT_CONNECT_ONLY, false) }
}
