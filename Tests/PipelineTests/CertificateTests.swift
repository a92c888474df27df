import Cache
import Pipeline
import Support
import Testing
import Transport

/// Certificates that must be rejected, each presented by a server of its own.
@Suite struct CertificateTests {
  private typealias Certificate = TestAuthority.Certificate

  @Test
  func `fourteen bad certificates are refused with their reasons, and the good one is accepted`()
    throws
  {
    let folder = try TemporaryFolder()
    let authority = try TestAuthority(folder)
    for certificate in Self.certificates { try authority.make(certificate) }
    // OpenSSL follows a chain of at most a hundred authorities.
    try authority.makeTower("tower", by: "root", height: 101)
    let shown: [(leaf: String, others: [String], reason: FailureReason?)] = [
      ("good", [], nil), ("deep", ["between"], nil),
      ("expired", [], .tlsExpired), ("early", [], .tlsExpired),
      ("elsewhere", [], .tlsHost), ("alone", [], .tlsUntrusted),
      ("strange", ["stranger"], .tlsUntrusted), ("client", [], .tlsUntrusted),
      ("late", ["over"], .tlsExpired), ("stray", [], .tlsUntrusted),
      ("forged", ["good"], .tlsUntrusted), ("outside", ["narrow"], .tlsUntrusted),
      ("weak", [], .tlsUntrusted), ("old", ["sha1"], .tlsUntrusted),
      ("beyond", ["below", "last"], .tlsUntrusted), ("tower", ["tower-between"], .tlsUntrusted),
    ]
    let body = MatrixCase.picture(1)
    let servers = try shown.map { leaf, others, _ in
      let file = "\(leaf)-shown.pem"
      try folder.write(try ([leaf] + others).flatMap { try folder.read("\($0).pem") }, to: file)
      return try ScriptedTLSServer(chain: folder.path(file), key: authority.key(leaf)) { _ in
        [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n".utf8) + body)]
      }
    }
    defer { for server in servers { server.close() } }
    let urls = servers.map { "https://localhost:\($0.port)/picture.jpg" }
    let matrix = try Matrix(urls, folder)

    let report = try matrix.sync { $0.caFile = authority.certificate("root") }

    let reasons = Dictionary(report.failures.map { ($0.url, $0.reason) }) { $1 }
    for (number, (leaf, _, reason)) in shown.enumerated() {
      let url = urls[number]
      #expect(reasons[url] == reason?.rawValue, "\(leaf)")
      #expect(matrix.held(url) == (reason == nil ? body : nil), "\(leaf)")
      #expect((servers[number].requests == 0) == (reason != nil), "\(leaf) was asked")
    }
    #expect(report.failures.count == 14)
    #expect(try verify(folder) == VerifyReport(checked: 2))
    #expect(folder.files(below: "cache/partial").isEmpty)
  }

  /// All certificates that the servers present, issuers first.
  private static var certificates: [Certificate] {
    var expired = Certificate.server("expired", by: "root")
    expired.until = "20210101000000Z"
    var early = Certificate.server("early", by: "root")
    early.from = "20490101000000Z"
    var elsewhere = Certificate.server("elsewhere", by: "root")
    elsewhere.extensions = "basicConstraints=CA:FALSE\nsubjectAltName=DNS:elsewhere.example"
    var client = Certificate.server("client", by: "root")
    client.extensions = client.extensions.replacing("serverAuth", with: "clientAuth")
    var over = Certificate.authority("over", by: "root")
    over.until = "20210101000000Z"
    var narrow = Certificate.authority("narrow", by: "root")
    narrow.extensions += "\nnameConstraints=critical,permitted;DNS:shop.example"
    var weak = Certificate.server("weak", by: "root")
    weak.key = ["RSA", "rsa_keygen_bits:1024"]
    var sha1 = Certificate.authority("sha1", by: "root")
    sha1.digest = "sha1"
    var last = Certificate.authority("last", by: "root")
    last.extensions = last.extensions.replacing("CA:TRUE", with: "CA:TRUE,pathlen:0")
    return [
      .authority("root"), .authority("stranger"), .authority("between", by: "root"), over, narrow,
      sha1, last, .authority("below", by: "last"), .server("good", by: "root"),
      .server("deep", by: "between"), expired, early, elsewhere, .server("alone", by: nil),
      .server("strange", by: "stranger"), client, .server("late", by: "over"),
      .server("stray", by: "between"), .server("forged", by: "good"),
      .server("outside", by: "narrow"), weak, .server("old", by: "sha1"),
      .server("beyond", by: "below"),
    ]
  }
}
