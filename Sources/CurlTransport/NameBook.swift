import Glibc
import Transport

/// The addresses of hosts that only fetched data names, for requests through a proxy.
///
/// The proxy opens the socket, so larder cannot judge the address there and resolves the name first. Lives on the
/// transfer thread; the system's resolver blocks, so it runs on other threads.
struct NameBook {
  /// As long as libcurl holds a name's addresses.
  private static let lifetime = Duration.seconds(600)
  /// A feed may name thousands of hosts: no more than these are looked up at once.
  private static let mostAsked = 8

  /// A transfer that waits for its host's addresses, and whether it goes before others.
  struct Waiting {
    let transfer: Transfer
    let first: Bool
  }

  private var known: [String: (addresses: [IPAddress], until: MonotonicTime)] = [:]
  private var waiting: [String: [Waiting]] = [:]
  private var unasked: [String] = []
  private var asked = 0

  /// The addresses of a name; empty when it does not resolve, nil when that is not known or no longer.
  func addresses(of host: String, at now: MonotonicTime) -> [IPAddress]? {
    guard let entry = known[host], now < entry.until else { return nil }
    return entry.addresses
  }

  /// The same, however long ago they were found.
  func lastAddresses(of host: String) -> [IPAddress]? { known[host]?.addresses }

  /// Has a transfer wait for a name.
  mutating func wait(_ transfer: Transfer, first: Bool) {
    let host = transfer.url.host
    if waiting[host] == nil { unasked.append(host) }
    waiting[host, default: []].append(Waiting(transfer: transfer, first: first))
  }

  /// The next name to look up, if one may be now.
  mutating func next() -> String? {
    guard asked < Self.mostAsked, let host = unasked.popLast() else { return nil }
    asked += 1
    return host
  }

  /// Takes what a look-up found; returns whom that was for.
  mutating func note(_ addresses: [IPAddress], of host: String, at now: MonotonicTime) -> [Waiting]
  {
    asked -= 1
    known[host] = (addresses, now + Self.lifetime)
    return waiting.removeValue(forKey: host) ?? []
  }

  /// Takes out those that wait no longer.
  mutating func remove(where condition: (Transfer) -> Bool) -> [Transfer] {
    var removed: [Transfer] = []
    for (host, entries) in waiting {
      removed += entries.map(\.transfer).filter(condition)
      waiting[host] = entries.filter { !condition($0.transfer) }
    }
    return removed
  }

  /// A name's addresses as the system's resolver has them; none when it does not resolve.
  ///
  /// Blocks.
  static func addresses(of host: String) -> [IPAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0, let list else { return [] }
    defer { freeaddrinfo(list) }
    var found: [IPAddress] = []
    var next: UnsafeMutablePointer<addrinfo>? = list
    while let entry = next {
      if let address = entry.pointee.ai_addr.flatMap(IPAddress.init) { found.append(address) }
      next = entry.pointee.ai_next
    }
    return found
  }
}

extension IPAddress {
  /// Reads an address as `inet_pton` does; nil for a name.
  init?(literal text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 {
      self.init(Array(bytes.prefix(4)))
    } else if inet_pton(AF_INET6, text, &bytes) == 1 {
      self.init(bytes)
    } else {
      return nil
    }
  }

  /// The address in text.
  var text: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    inet_ntop(family, bytes, &text, socklen_t(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  // SAFETY: callers pass an address from getaddrinfo, which is as long as its family says.
  fileprivate init?(_ address: UnsafeMutablePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      self.init(
        UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr.bytes
      )
    case AF_INET6:
      self.init(
        UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_addr.bytes
      )
    default: return nil
    }
  }
}

extension in_addr {
  fileprivate var bytes: [UInt8] { withUnsafeBytes(of: self, Array.init) }
}

extension in6_addr {
  fileprivate var bytes: [UInt8] { withUnsafeBytes(of: self, Array.init) }
}
