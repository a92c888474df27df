import CCurl
import Transport

extension Exchange {
  /// What went wrong with the proxy itself, before anything reached the origin; nil when the proxy did its part.
  func proxyTrouble(
    _ code: CURLcode,
    _ outcome: larder_outcome,
    _ transfer: Transfer,
    _ text: String
  ) -> (FailureReason, String)? {
    guard let proxy = transfer.proxy, outcome.connections > 0 || outcome.request == 0 else {
      return nil
    }
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY:
      return (.proxyFailed, "the name of the proxy \(proxy) does not resolve")
    case CURLE_PROXY:
      return socksTrouble(proxy, outcome, text)
    case CURLE_OPERATION_TIMEDOUT:
      return nil
    case CURLE_PEER_FAILED_VERIFICATION where outcome.proxy_verification != 0:
      return (.proxyFailed, "the certificate of the proxy \(proxy) cannot be trusted: \(text)")
    default:
      break
    }
    switch outcome.proxy_status {
    case 200...299:
      return nil
    case 407:
      return (.proxyAuth, "the proxy \(proxy) wants another user or password")
    case 502...504:
      return (.connectFailed, "the proxy \(proxy) answered \(outcome.proxy_status) to CONNECT")
    case 100...:
      return (.proxyRefused, "the proxy \(proxy) answered \(outcome.proxy_status) to CONNECT")
    default:
      break
    }
    if code == CURLE_COULDNT_CONNECT {
      return (.proxyFailed, "the proxy \(proxy) takes no connection: \(text)")
    }
    // The tunnel never stood.
    guard proxy.tunnels(to: transfer.url), outcome.secured == 0, head == nil,
      proxy.scheme == .http || proxy.scheme == .https
    else { return nil }
    return (.proxyFailed, "the proxy \(proxy) made no tunnel: \(text)")
  }

  private func socksTrouble(_ proxy: Proxy, _ outcome: larder_outcome, _ text: String)
    -> (FailureReason, String)
  {
    switch CURLproxycode(UInt32(outcome.proxy_error)) {
    case CURLPX_REPLY_CONNECTION_REFUSED:
      (.connectRefused, "the proxy \(proxy) says that nobody listens there")
    case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED,
      CURLPX_REPLY_GENERAL_SERVER_FAILURE:
      (.connectFailed, "the proxy \(proxy) cannot reach it: \(text)")
    case CURLPX_REPLY_NOT_ALLOWED:
      (.proxyRefused, "the proxy \(proxy) does not allow it")
    case CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_REQUEST_FAILED, CURLPX_GSSAPI:
      (.proxyAuth, "the proxy \(proxy) wants another user or password")
    default:
      (.proxyFailed, "the proxy \(proxy) made no tunnel: \(text)")
    }
  }
}
