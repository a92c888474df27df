import Base
import Dispatch
import Glibc
import Transport

/// Decides whether a request for a host may be sent to a proxy; for that, it resolves the host's name.
///
/// It is used on the transfer thread. Look-ups run on other threads, and their results return through the inbox.
struct ProxyAdmission {
  /// Whether the current hop of a transfer may be queued.
  enum Decision {
    /// The hop may be queued.
    case go
    /// The name of the hop's host must be looked up first.
    case wait
    /// The hop's host appears only in fetched data, and has an address that is not public.
    case refuse(FailureReason, String)
  }

  private let core: TransferCore
  /// The addresses of names that a proxy would otherwise resolve.
  private var names = NameBook()

  init(_ core: TransferCore) { self.core = core }

  /// Finds the proxy for the current hop, and judges the request to that proxy.
  ///
  /// Without a proxy, the address is judged when the socket is opened. A proxy resolves names and opens sockets itself,
  /// so a host that appears only in fetched data is judged here, before the proxy gets the request:
  ///
  /// - If the host is an IP address, that address is judged.
  /// - If the host is a name, it is resolved. For a tunnel (`CONNECT`), the proxy gets a public address instead of the
  ///   name, so that its own resolver cannot return another one.
  /// - A proxy that forwards a request for `http` needs the name. In this case, every address of the name must be
  ///   public. larder cannot know whether the proxy resolves the name to the same addresses.
  mutating func admit(_ transfer: Transfer, mayWait: Bool = true) -> Decision {
    transfer.proxy = core.options.proxy?.proxy(for: transfer.url)
    transfer.pin = nil
    guard let proxy = transfer.proxy, !transfer.isTrusted, !core.options.allowPrivateAddresses
    else { return .go }
    let host = transfer.url.host
    if let address = IPAddress(literal: host) {
      return AddressPolicy.isPublic(address) ? .go : .refuse(.addressRefused, Self.notPublic)
    }
    guard
      let found = mayWait
        ? names.addresses(of: host, at: .now()) : names.lastAddresses(of: host)
    else { return .wait }
    guard !found.isEmpty else {
      return .refuse(
        .dnsFailed,
        "this host comes from fetched data and does not resolve on this machine, so the address that the "
          + "proxy would use cannot be checked"
      )
    }
    let open = found.filter(AddressPolicy.isPublic)
    guard let first = open.first, proxy.tunnels(to: transfer.url) || open.count == found.count
    else {
      return .refuse(.addressRefused, Self.notPublic)
    }
    if proxy.tunnels(to: transfer.url) { transfer.pin = first }
    return .go
  }

  /// The reason for which a private address is refused, as a part of an error message.
  static let notPublic = "only fetched data names this host, and its address is not public"

  /// Makes a transfer wait until its host's name is looked up.
  mutating func wait(_ transfer: Transfer, first: Bool) {
    names.wait(transfer, first: first)
    lookUp()
  }

  /// Stores the result of a look-up; returns the transfers that waited for it.
  mutating func note(_ addresses: [IPAddress], of host: String) -> [NameBook.Waiting] {
    let waiting = names.note(addresses, of: host, at: .now())
    lookUp()
    return waiting
  }

  /// Removes the waiting transfers that satisfy a condition, and returns them.
  mutating func remove(where condition: (Transfer) -> Bool) -> [Transfer] {
    names.remove(where: condition)
  }

  /// Starts as many look-ups as may run.
  private mutating func lookUp() {
    while let host = names.next() {
      // The closure keeps the core alive, because a look-up may end after the loop.
      DispatchQueue.global().async { [core] in
        let addresses = core.options.resolver(host)
        if case .mustWake = core.inbox.note(addresses, of: host) { core.multi.wake() }
      }
    }
  }
}

/// The addresses of hosts that appear only in fetched data, for requests through a proxy.
///
/// The proxy opens the socket, so larder cannot judge the address at that time, and resolves the name before the
/// request. This type is used on the transfer thread. The system's resolver blocks, so it runs on other threads.
struct NameBook {
  /// How long addresses are kept: as long as libcurl caches addresses.
  private static let lifetime = Duration.seconds(600)
  /// The maximum number of names that are looked up at the same time: a feed may name thousands of hosts.
  private static let mostAsked = 8

  /// A transfer that waits for its host's addresses, and whether it is queued before others.
  struct Waiting {
    let transfer: Transfer
    let first: Bool
  }

  private var known: [String: (addresses: [IPAddress], until: MonotonicTime)] = [:]
  private var waiting: [String: [Waiting]] = [:]
  private var unasked: [String] = []
  private var asked = 0

  /// The addresses of a name; empty when it does not resolve, nil when they are unknown or expired.
  func addresses(of host: String, at now: MonotonicTime) -> [IPAddress]? {
    guard let entry = known[host], now < entry.until else { return nil }
    return entry.addresses
  }

  /// The addresses of a name, even if expired; nil when they are unknown.
  func lastAddresses(of host: String) -> [IPAddress]? { known[host]?.addresses }

  /// Makes a transfer wait for a name.
  mutating func wait(_ transfer: Transfer, first: Bool) {
    let host = transfer.url.host
    if waiting[host] == nil { unasked.append(host) }
    waiting[host, default: []].append(Waiting(transfer: transfer, first: first))
  }

  /// The next name to look up; nil when no name waits, or enough look-ups are running.
  mutating func next() -> String? {
    guard asked < Self.mostAsked, let host = unasked.popLast() else { return nil }
    asked += 1
    return host
  }

  /// Stores the result of a look-up; returns the transfers that waited for it.
  mutating func note(_ addresses: [IPAddress], of host: String, at now: MonotonicTime) -> [Waiting]
  {
    asked -= 1
    known[host] = (addresses, now + Self.lifetime)
    return waiting.removeValue(forKey: host) ?? []
  }

  /// Removes the waiting transfers that satisfy a condition, and returns them.
  mutating func remove(where condition: (Transfer) -> Bool) -> [Transfer] {
    var removed: [Transfer] = []
    for (host, entries) in waiting {
      removed += entries.map(\.transfer).filter(condition)
      waiting[host] = entries.filter { !condition($0.transfer) }
    }
    return removed
  }

  /// A name's addresses from the system's resolver; empty when the name does not resolve.
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
  /// Parses an address as `inet_pton` does; nil for a name.
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

  /// The address as text.
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
