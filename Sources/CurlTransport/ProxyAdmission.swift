import Base
import Dispatch
import Glibc
import Transport

/// Decides whether a request is allowed to be sent to a proxy.
///
/// For this decision, it resolves the host's name if necessary.
///
/// This type is used on the transfer thread. Names are resolved on other threads, which post the addresses to the
/// ``TransferCore``.
struct ProxyAdmission {
  /// Whether the current request of a transfer is allowed to be sent.
  enum Decision {
    /// The request is allowed to be sent.
    case go
    /// The name of the host must be resolved first.
    case wait
    /// The request must not be sent, because only fetched data names the host, and its address is private or unknown.
    case refuse(FailureReason, String)
  }

  /// The time after which a name is resolved again.
  ///
  /// libcurl uses the same time.
  private static let lifetime = Duration.seconds(600)
  /// The maximum number of names that are resolved at the same time.
  ///
  /// A shop's responses may name thousands of hosts.
  private static let mostAsked = 8

  private let core: TransferCore
  /// The addresses of hosts, and the time until which they are used.
  private var known: [String: (addresses: [IPAddress], until: MonotonicTime)] = [:]
  /// The transfers that wait for the addresses of each host.
  private var waiting: [String: [Transfer]] = [:]
  /// The waiting names that no thread resolves yet.
  private var unasked: [String] = []
  /// The number of names that are being resolved.
  private var asked = 0

  init(_ core: TransferCore) { self.core = core }

  /// Finds the proxy for the current request of a transfer, and decides whether the request is allowed to be sent to
  /// it.
  ///
  /// Without a proxy, the address of the host is checked when libcurl opens the socket. But a proxy resolves the host's
  /// name and connects to the host itself. So if only fetched data names the host, its address is checked here:
  ///
  /// - If the host is an IP address, this address must be public.
  /// - If the host is a name and the proxy opens a tunnel, the name is resolved. The proxy gets one of its public
  ///   addresses instead of the name, because it could resolve the name to another address.
  /// - If the host is a name and the proxy forwards the request, the proxy needs the name. Then all addresses of the
  ///   name must be public. However, larder cannot know whether the proxy resolves the name to the same addresses.
  func admit(_ transfer: Transfer) -> Decision {
    transfer.proxy = core.options.proxy?.proxy(for: transfer.url)
    transfer.pin = nil
    guard let proxy = transfer.proxy, !transfer.isTrusted, !core.options.allowPrivateAddresses
    else { return .go }
    let host = transfer.url.host
    if let address = IPAddress(literal: host) {
      return AddressPolicy.isPublic(address) ? .go : .refuse(.addressRefused, Self.notPublic)
    }
    guard let (found, until) = known[host], MonotonicTime.now() < until else { return .wait }
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

  /// The error message for a private address.
  static let notPublic = "only fetched data names this host, and its address is not public"

  /// Makes a transfer wait until the name of its host is resolved.
  mutating func wait(_ transfer: Transfer) {
    let host = transfer.url.host
    if waiting[host] == nil { unasked.append(host) }
    waiting[host, default: []].append(transfer)
    lookUp()
  }

  /// Stores the addresses of a host, and returns the transfers that waited for them.
  mutating func note(_ addresses: [IPAddress], of host: String) -> [Transfer] {
    asked -= 1
    known[host] = (addresses, MonotonicTime.now() + Self.lifetime)
    let transfers = waiting.removeValue(forKey: host) ?? []
    lookUp()
    return transfers
  }

  /// Removes the waiting transfers, and returns them.
  mutating func removeAll() -> [Transfer] {
    defer { for host in waiting.keys { waiting[host] = [] } }
    return Array(waiting.values.joined())
  }

  /// Starts to resolve waiting names, as many as are allowed at the same time.
  private mutating func lookUp() {
    while asked < Self.mostAsked, let host = unasked.popLast() {
      asked += 1
      // The closure retains the core, because the name may be resolved after the transfer thread has ended.
      DispatchQueue.global().async { [core] in
        let addresses = core.options.resolver(host)
        core.post { $0.names.append((host, addresses)) }
      }
    }
  }

  /// Asks the system's resolver for the addresses of a host.
  ///
  /// The result is empty if the name cannot be resolved.
  ///
  /// This function blocks.
  static func addresses(of host: String) -> [IPAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0, let list else { return [] }
    defer { freeaddrinfo(list) }
    return sequence(first: list) { $0.pointee.ai_next }.compactMap { entry in
      // Before the address are the family and the port, and for IPv6 also the flow label. (sockaddr_in, sockaddr_in6)
      let (address, length) = (entry.pointee.ai_addr, Int(entry.pointee.ai_addrlen))
      let bytes = UnsafeRawBufferPointer(start: address, count: length)
      return IPAddress(Array(entry.pointee.ai_family == AF_INET ? bytes[4..<8] : bytes[8..<24]))
    }
  }
}

extension IPAddress {
  /// Parses an IPv4 or IPv6 address, for example `192.0.2.1` or `::1`.
  ///
  /// The result is nil for any other text.
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

  /// The address as text, for example `192.0.2.1` or `::1`.
  var text: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    inet_ntop(family, bytes, &text, socklen_t(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
