import Glibc
import Testing

@testable import Transport

/// The IANA special-purpose registries (RFC 6890), and addresses that embed others.
@Suite struct AddressPolicyTests {
  static func address(_ text: String) -> IPAddress? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return IPAddress(Array(bytes.prefix(4))) }
    if inet_pton(AF_INET6, text, &bytes) == 1 { return IPAddress(bytes) }
    return nil
  }

  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200",
    "100.127.255.255", "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.0.1",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1",
    "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::10.0.0.1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "64:ff9b::10.0.0.1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::1", "100::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1",
    "2002:a00:1::1", "2002:808:808::1", "3ffe::1", "3fff::1", "5f00::1", "fc00::1",
    "fd00:ec2::254",
    "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ffff::1", "4000::1", "1fff::1",
  ])
  func `an address outside the public Internet is refused`(_ text: String) throws {
    #expect(try !AddressPolicy.isPublic(#require(Self.address(text))))
  }

  @Test(arguments: [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
    "126.255.255.255", "128.0.0.1", "168.63.129.15", "169.253.255.255", "169.255.0.0",
    "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255", "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2003::1",
    "2606:4700::1111", "2a00:1450::1", "2c0f::1", "3000::1",
  ])
  func `an address of the public Internet is allowed`(_ text: String) throws {
    #expect(try AddressPolicy.isPublic(#require(Self.address(text))))
  }

  @Test(arguments: [0, 3, 5, 15, 17])
  func `an address of another length is refused`(_ count: Int) {
    #expect(IPAddress([UInt8](repeating: 8, count: count)) == nil)
  }
}
