import CCurl
import Transport

/// The way that a handle's transfers take: direct, or through a proxy and there to what.
///
/// Setting an option again costs more than comparing, and the list must stay as long as the handle uses it.
struct ProxyWay: ~Copyable {
  private var proxy: Proxy?
  private var target: String?
  private var list = HeaderList()

  /// Tells a handle the way of a transfer's present hop.
  mutating func set(_ transfer: Transfer, _ policy: ExchangePolicy, on easy: borrowing EasyHandle)
  {
    if proxy != transfer.proxy {
      proxy = transfer.proxy
      _ = easy.set(CURLOPT_PROXY, proxy?.description ?? "")
      _ = easy.set(CURLOPT_PROXYUSERNAME, proxy?.user)
      _ = easy.set(CURLOPT_PROXYPASSWORD, proxy?.password)
    }
    let target = transfer.pin.map { address in
      let url = transfer.url
      return "\(url.host):\(url.port):\(HostPort(host: address.text, port: url.port))"
    }
    guard target != self.target else { return }
    self.target = target
    guard let target else { return policy.setConnectTo(easy) }
    var fresh = HeaderList()
    fresh.append(line: target)
    easy.set(CURLOPT_CONNECT_TO, context: fresh.raw)
    list = fresh
  }
}
