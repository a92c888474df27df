import Dispatch
import Transport

/// Decides whether a proxy may be asked for a host, and resolves the host's name for that.
///
/// Lives on the transfer thread; look-ups run elsewhere and come back through the inbox.
struct ProxyAdmission {
  /// Whether the current hop of a transfer may be queued.
  enum Decision {
    /// It may be queued.
    case go
    /// Its host's name must be looked up first.
    case wait
    /// Its host, which only fetched data names, has an address that is not public.
    case refuse(FailureReason, String)
  }

  private let core: TransferCore
  /// Names that a proxy would resolve.
  private var names = NameBook()

  init(_ core: TransferCore) { self.core = core }

  /// Finds the proxy for the present hop, and judges what that proxy would be asked for.
  ///
  /// Without a proxy, the address is judged when the socket is opened. A proxy resolves names and opens sockets
  /// itself, so a host that only fetched data names is judged here, before the proxy is asked for it:
  ///
  /// - An address is judged as it is.
  /// - A name is resolved. For a tunnel (`CONNECT`), the proxy gets a public address in place of the name, so
  ///   that its own resolver cannot give another one.
  /// - A request for `http` that the proxy forwards needs the name. Every address of the name must be public; larder
  ///   cannot know whether the proxy resolves it to the same ones.
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
        "only fetched data names this host, and what the proxy would make of the name cannot be judged "
          + "where it does not resolve"
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

  /// Says why a private address is refused.
  static let notPublic = "only fetched data names this host, and its address is not public"

  /// Has a transfer wait until its host's name is looked up.
  mutating func wait(_ transfer: Transfer, first: Bool) {
    names.wait(transfer, first: first)
    lookUp()
  }

  /// Takes what a look-up found; returns whom that was for.
  mutating func note(_ addresses: [IPAddress], of host: String) -> [NameBook.Waiting] {
    let waiting = names.note(addresses, of: host, at: .now())
    lookUp()
    return waiting
  }

  /// Takes out those that wait no longer.
  mutating func remove(where condition: (Transfer) -> Bool) -> [Transfer] {
    names.remove(where: condition)
  }

  /// Starts as many look-ups as may run.
  private mutating func lookUp() {
    while let host = names.next() {
      // The core outlives a look-up that ends after the loop.
      DispatchQueue.global().async { [core] in
        let addresses = core.options.resolver(host)
        if case .mustWake = core.inbox.note(addresses, of: host) { core.multi.wake() }
      }
    }
  }
}
