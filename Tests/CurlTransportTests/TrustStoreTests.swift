import Testing

@testable import CurlTransport

/// The CA certificates that are used when libcurl's built-in path does not exist.
@Suite struct TrustStoreTests {
  private static let debian = "/etc/ssl/certs/ca-certificates.crt"

  @Test(
    arguments: [
      (debian, [debian, "/etc/ssl/cert.pem"], nil),
      (debian, ["/etc/pki/tls/certs/ca-bundle.crt"], "/etc/pki/tls/certs/ca-bundle.crt"),
      (debian, ["/etc/ssl/ca-bundle.pem"], "/etc/ssl/ca-bundle.pem"),
      (debian, ["/etc/ssl/cert.pem"], "/etc/ssl/cert.pem"),
      ("/opt/ca.pem", [debian], debian),
      (nil, [debian], debian),
      (debian, [], nil),
    ] as [(String?, [String], String?)]
  )
  func `the system's certificates are found in every known place`(
    _ builtIn: String?,
    _ present: [String],
    _ expected: String?
  ) {
    #expect(TrustStore.file(builtIn: builtIn) { present.contains($0) } == expected)
  }

  @Test func `the loaded libcurl reports its certificate path`() {
    #expect(CurlTransport.trust?.hasPrefix("/") == true)
  }
}
