import Transport

/// Knows which hosts the user named, on the command line, in the catalog file, or as the target of a connect-to.
struct HostTrust {
  private let named: Set<HostPort>
  /// The first halves of connect-to entries; an empty host or a nil port stands for any.
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

  /// Whether a transfer's present hop may lead to a private address.
  func isTrusted(_ transfer: Transfer) -> Bool {
    let first = transfer.request.url
    if transfer.request.trust == .named,
      transfer.url.port == first.port, transfer.url.host == first.host
    {
      return true
    }
    return isNamed(transfer.url)
  }

  /// `HOST:PORT` of `HOST:PORT:HOST:PORT`, where the host may be an address in brackets.
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
