/// Which addresses only this machine can reach. (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3)
enum LoopbackAddress {
  /// Whether an IP address, as the system writes it, is one; IPv4 within IPv6 is.
  static func isOne(_ address: String) -> Bool {
    address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
  }
}
