import Cache
import Catalog
import CurlTransport
import Pipeline
import Support
import Testing
import Transport

/// A whole sync through a proxy.
@Suite struct ProxiedSyncTests {
  @Test func `a sync through a proxy gives the same result as one without`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 2)
    let port = shop.store.port
    let proxy = ScriptedProxy { _ in .pass(port) }
    defer { proxy.close() }
    for scheme in ["http", "socks5h"] {
      shop.store.clearRequests()
      var options = shop.transportOptions()
      options.proxy = ProxyRoute(try Proxy(parsing: proxy.url(scheme)))

      let report = try shop.sync(folder, transport: options)

      #expect(report.outcome == .complete)
      #expect(!shop.store.requests.isEmpty)
      #expect(proxy.asked.contains { $0.method == (scheme == "http" ? "GET" : "SOCKS") })
    }
  }

  @Test func `the origin's certificate is checked through the tunnel`() throws {
    let folder = try TemporaryFolder()
    let authority = try TestAuthority(folder)
    try authority.make(.authority("root"))
    try authority.make(.server("server", by: "root"))
    let picture = MatrixCase.picture(0)
    let origin = try ScriptedTLSServer(
      chain: try authority.chain("server"),
      key: authority.key("server"),
      speaking: "h2"
    ) { request in
      [.bytes(Frame.headers(request.stream, "200") + Frame.data(request.stream, picture))]
    }
    let port = origin.port
    let proxy = ScriptedProxy { _ in .pass(port) }
    defer {
      origin.close()
      proxy.close()
    }
    let route = ProxyRoute(try Proxy(parsing: proxy.url()))
    // The certificate is for localhost, wherever the tunnel leads.
    let urls = ["https://localhost:\(port)/right.jpg", "https://other.example:\(port)/wrong.jpg"]
    let matrix = try Matrix(urls, folder)

    let report = try matrix.sync { options in
      options.caFile = authority.certificate("root")
      options.proxy = route
      options.namedHosts = [
        HostPort(host: "localhost", port: port), HostPort(host: "other.example", port: port),
      ]
    }

    #expect(matrix.held(urls[0]) == picture)
    #expect(matrix.held(urls[1]) == nil)
    #expect(report.failures.map(\.reason) == ["tls-host"])
    #expect(Set(proxy.asked.map(\.target)) == ["localhost:\(port)", "other.example:\(port)"])
    #expect(proxy.asked.allSatisfy { $0.method == "CONNECT" })
  }
}
