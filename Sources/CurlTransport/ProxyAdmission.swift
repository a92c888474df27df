import Dispatch
import Transport

/// Judges what a proxy would be asked for, and looks up the names that this takes.
///
/// Lives on the transfer thread; look-ups run elsewhere and come back through the inbox.
struct ProxyAdmission {
  /// What is to become of a transfer's present hop before it may be queued.
  enum Decision {
    /// It may be queued.
    case go
    /// Its host's name must be looked up first.
    case wait
    /// It leads where a host that only data names may not lead.
    case refuse(FailureReason, String)
  }

  private let core: TransferCore
  /// Names that a proxy would resolve.
  private var names = NameBook()

  init(_ core: TransferCore) { self.core = core }

  /// Finds the proxy for the present hop, and judges what that proxy would be asked for.
  ///
  /// Without a proxy the address is judged where the socket is opened. A proxy opens its own, and resolves names
  /// by itself: whatever only data names is judged here, before the proxy hears of it. An address is judged as it
  /// stands. A name is resolved; where only the end of a tunnel is asked for, that is then the address
  /// found and not the name, so that nobody can answer the proxy otherwise. A proxy that is to pass on a request for
  /// `http` needs the name: there every address must be public, and that the proxy finds the same ones
  /// is more than larder can know.
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
