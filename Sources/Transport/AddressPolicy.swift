/// An IPv4 or IPv6 address in network byte order.
package struct IPAddress: Hashable, Sendable {
  /// 4 or 16 bytes.
  package let bytes: [UInt8]

  /// Takes 4 bytes for IPv4 or 16 for IPv6; nil for any other count.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }
}

/// Decides which addresses a host that only fetched data names may have.
///
/// Judges the resolved address, on every connection: the text of a URL proves nothing about where it leads. What is
/// not globally reachable in the IANA special-purpose registries (RFC 6890) is refused.
package enum AddressPolicy {
  /// Whether the address belongs to the public Internet.
  package static func isPublic(_ address: IPAddress) -> Bool {
    address.bytes.count == 4 ? isPublic4(address.bytes[...]) : isPublic6(address.bytes)
  }

  private static func isPublic4(_ bytes: ArraySlice<UInt8>) -> Bool {
    let word = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return !refused4.contains { word >> (32 - $0.bits) == $0.prefix >> (32 - $0.bits) }
  }

  private static func isPublic6(_ bytes: [UInt8]) -> Bool {
    // Only 2000::/3 is global unicast (RFC 4291, section 2.4). That refuses ::, ::1, IPv4-mapped and -compatible,
    // NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only 100::/64, SRv6 5f00::/16, unique local, link-local,
    // site-local and multicast, and with them the metadata address fd00:ec2::254.
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    return !refused6.contains { prefix, bits in
      (0..<bits).allSatisfy { bit in
        let mask: UInt8 = 0x80 >> UInt8(bit % 8)
        return bytes[bit / 8] & mask == prefix[bit / 8] & mask
      }
    }
  }

  private static let refused4: [(prefix: UInt32, bits: UInt32)] = [
    (0x0000_0000, 8),  // "this network", RFC 791
    (0x0A00_0000, 8),  // private, RFC 1918
    (0x6440_0000, 10),  // carrier-grade NAT, RFC 6598; holds the metadata address 100.100.100.200
    (0x7F00_0000, 8),  // loopback, RFC 1122
    (0xA9FE_0000, 16),  // link-local, RFC 3927; holds the metadata address 169.254.169.254
    (0xAC10_0000, 12),  // private, RFC 1918
    (0xC000_0000, 24),  // protocol assignments, RFC 6890
    (0xC000_0200, 24),  // documentation, RFC 5737
    (0xC058_6300, 24),  // 6to4 relays, RFC 7526
    (0xC0A8_0000, 16),  // private, RFC 1918
    (0xC612_0000, 15),  // benchmarking, RFC 2544
    (0xC633_6400, 24),  // documentation, RFC 5737
    (0xCB00_7100, 24),  // documentation, RFC 5737
    (0xA83F_8110, 32),  // metadata of one large cloud, 168.63.129.16
    (0xE000_0000, 4),  // multicast, RFC 5771
    (0xF000_0000, 4),  // reserved and broadcast, RFC 1112
  ]

  private static let refused6: [(prefix: [UInt8], bits: Int)] = [
    ([0x20, 0x01, 0x00], 23),  // protocol assignments with Teredo, ORCHID, benchmarking; RFC 2928
    ([0x20, 0x01, 0x0D, 0xB8], 32),  // documentation, RFC 3849
    ([0x20, 0x02], 16),  // 6to4, which may hide a private IPv4 address; RFC 3056
    ([0x3F, 0xFE], 16),  // the former 6bone, RFC 3701
    ([0x3F, 0xFF, 0x00], 20),  // documentation, RFC 9637
  ]
}
