import CCurl
import Transport

/// What every handle of a transport is set to once, from the options.
final class ExchangePolicy {
  /// How many bytes libcurl reads at once.
  static let bufferSize = 64 << 10

  let options: TransportOptions
  private var connectTo = HeaderList()

  init(_ options: TransportOptions) {
    self.options = options
    for entry in options.connectTo { connectTo.append(line: entry) }
  }

  func configure(_ easy: borrowing EasyHandle) {
    configureSafety(easy)
    easy.set(CURLOPT_NOSIGNAL, true)
    // Ctrl-C must not wait for a resolver thread that waits for a dead name server.
    easy.set(CURLOPT_QUICK_EXIT, true)
    easy.set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 600)
    easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(options.connectTimeout.wholeMilliseconds))
    easy.set(CURLOPT_LOW_SPEED_LIMIT, options.lowSpeed)
    let idleSeconds = (options.idleTimeout.wholeMilliseconds + 999) / 1000
    easy.set(CURLOPT_LOW_SPEED_TIME, Int(idleSeconds))
    // For a proxy's CONNECT, to which a request's own lines do not go.
    if options.proxy != nil { _ = easy.set(CURLOPT_USERAGENT, options.userAgent) }
    setConnectTo(easy)
  }

  /// Has a handle connect as the options say.
  func setConnectTo(_ easy: borrowing EasyHandle) {
    easy.set(CURLOPT_CONNECT_TO, context: options.connectTo.isEmpty ? nil : connectTo.raw)
  }

  private func configureSafety(_ easy: borrowing EasyHandle) {
    _ = easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Redirects are followed hop by hop, each judged.
    easy.set(CURLOPT_FOLLOWLOCATION, false)
    easy.set(CURLOPT_DISALLOW_USERNAME_IN_URL, true)
    easy.set(CURLOPT_SSL_VERIFYPEER, true)
    easy.set(CURLOPT_SSL_VERIFYHOST, 2)
    easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    let trusted = options.caFile ?? TrustStore.file
    if let trusted { _ = easy.set(CURLOPT_CAINFO, trusted) }
    // Empty texts keep libcurl from reading the proxy variables of the environment.
    _ = easy.set(CURLOPT_PROXY, "")
    _ = easy.set(CURLOPT_NOPROXY, "")
    easy.set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    if let trusted { _ = easy.set(CURLOPT_PROXY_CAINFO, trusted) }
    easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    easy.set(CURLOPT_HTTP09_ALLOWED, false)
    easy.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
  }
}
