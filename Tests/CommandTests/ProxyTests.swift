import Foundation
import SampleStore
import Support
import Testing

import class Support.ScriptedProxy

/// `--proxy` and `LARDER_PROXY` in every command that uses the network.
@Suite struct ProxyTests {
  private static let secret = "pr0xy-pa55"

  private func proxy(to shop: Shop) -> ScriptedProxy {
    let port = shop.store.port
    return ScriptedProxy { _ in .pass(port) }
  }

  @Test(arguments: ["http", "socks5h"])
  func `a sync uses the proxy of --proxy`(scheme: String) throws {
    let shop = try Shop()
    let proxy = proxy(to: shop)
    defer { proxy.close() }

    // Only the proxy can resolve this host.
    let base = "http://shop.invalid/develop/"
    let sync = try shop.larder(
      "sync",
      shop.catalog,
      "--base",
      base,
      "--proxy",
      proxy.url(scheme)
    )

    #expect([0, 3].contains(sync.status))
    #expect(!proxy.asked.isEmpty)
    #expect(shop.store.requests.count == Shop.requests)
  }

  @Test
  func `the environment names a proxy, its password is never shown, and --proxy overrides it`()
    throws
  {
    let shop = try Shop()
    let proxy = proxy(to: shop)
    defer { proxy.close() }
    let environment = ["LARDER_PROXY": proxy.url("http", "clerk:\(Self.secret)")]

    let sync = try shop.larder("sync", shop.catalog, "-vv", environment: environment)
    let asked = proxy.asked
    let direct = try shop.larder(
      "sync",
      shop.catalog,
      "--proxy",
      "none",
      environment: environment
    )

    #expect([0, 3].contains(sync.status) && [0, 3].contains(direct.status))
    #expect(!asked.isEmpty)
    let expected = Data("clerk:\(Self.secret)".utf8).base64EncodedString()
    #expect(asked.allSatisfy { $0.text.contains("Proxy-Authorization: Basic \(expected)") })
    #expect(proxy.asked.count == asked.count)
    for text in [sync.output, sync.errors, direct.output, direct.errors] {
      #expect(!text.contains(Self.secret) && !text.contains(expected))
    }
    for (name, bytes) in try shop.folder.contents(below: "cache") {
      #expect(bytes.range(of: Data(Self.secret.utf8)) == nil, "\(name)")
    }
  }

  @Test func `--proxy env reads the variables that curl reads`() throws {
    let shop = try Shop()
    let proxy = proxy(to: shop)
    defer { proxy.close() }
    let variables = ["http_proxy": proxy.url()]

    let through = try shop.larder(
      "sync",
      shop.catalog,
      "--proxy",
      "env",
      environment: variables
    )
    let asked = proxy.asked.count
    let past = try shop.larder(
      "sync",
      shop.catalog,
      "--proxy",
      "env",
      environment: variables.merging(["no_proxy": "127.0.0.1"]) { $1 }
    )

    #expect([0, 3].contains(through.status) && [0, 3].contains(past.status))
    #expect(asked > 0)
    #expect(proxy.asked.count == asked)
  }

  @Test(arguments: [
    ["sync", "c.yaml"], ["warm", "c.yaml"], ["bench", "c.yaml"], ["order", "send"],
    ["stamp", "p.jpg", "--out", "o", "--post", "https://h.example/"],
  ])
  func `an invalid proxy is a usage error that does not repeat it`(arguments: [String]) throws {
    let proxy = ["--proxy", "gopher://clerk:\(Self.secret)@proxy.example"]

    let flag = try Command.larder(arguments + proxy)
    let variable = try Command.larder(arguments, environment: ["LARDER_PROXY": proxy[1]])

    for command in [flag, variable] {
      #expect(command.status == 64, "\(command.errors)")
      #expect(command.errors.contains("socks5h://"))
      #expect(!(command.errors + command.output).contains(Self.secret))
    }
  }

  @Test func `a proxy that is unreachable or refuses the password is reported as the reason`()
    throws
  {
    let shop = try Shop()
    let proxy = ScriptedProxy { _ in
      .say("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
    }
    let gone = ScriptedProxy { _ in .say("") }
    gone.close()
    defer { proxy.close() }
    let plain = ["sync", shop.catalog, "--cache", shop.cache, "--retries", "0", "--json"]

    let asks = try Command.larder(plain + ["--proxy", proxy.url()])
    let silent = try Command.larder(plain + ["--proxy", "http://127.0.0.1:\(gone.port)"])

    #expect(asks.status == 69)
    #expect(asks.output.contains("\"proxy-auth\""))
    #expect(silent.status == 69)
    #expect(silent.output.contains("\"proxy-failed\""))
    #expect(shop.store.requests.isEmpty)
  }

  @Test func `an order that a proxy refuses counts as not sent`() throws {
    let shop = try Shop()
    _ = try shop.larder("sync", shop.catalog)
    let proxy = ScriptedProxy { _ in .say("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") }
    defer { proxy.close() }
    let environment = [
      "LARDER_ORDERS": shop.folder.path("orders.sqlite"),
      "LARDER_WEBHOOK_URL": "https://hooks.example/secret-path",
      "LARDER_PROXY": proxy.url(),
    ]
    _ = try shop.larder("order", "place", "A1", "--by", "Jiyeon", environment: environment)

    let send = try Command.larder(["order", "send", "--wait", "0s"], environment: environment)
    let list = try Command.larder(["order", "list", "--json"], environment: environment)

    #expect(proxy.asked.map(\.description).first == "CONNECT hooks.example:443")
    #expect(send.status != 0)
    #expect(list.output.contains("\"queued\""))
    #expect(!list.output.contains("\"ambiguous\""))
    #expect(!(send.output + send.errors + list.output).contains("secret-path"))
  }

  @Test func `an order is delivered through the proxy once`() throws {
    let (shop, environment) = try OrderTests.shop()
    let proxy = proxy(to: shop)
    defer { proxy.close() }
    _ = try OrderTests.order("place", "A1", "--by", "Jiyeon", in: shop, environment)

    let send = try Command.larder(
      ["order", "send", "--json", "--proxy", proxy.url("http", "clerk:\(Self.secret)")],
      environment: environment
    )

    #expect(send.status == 0, "\(send.errors)")
    #expect(try Document(send)["delivered"].int == 1)
    #expect(proxy.asked.map(\.description) == ["POST \(shop.store.baseURL)/orders"])
    #expect(proxy.asked.allSatisfy { $0.text.contains("Proxy-Authorization: Basic ") })
    #expect(shop.store.orders.count == 1)
  }

  @Test func `a stamped photo is uploaded through the proxy`() throws {
    let store = try SampleStore(
      SampleContent(["/photos": Resource(json: #"{"success":true,"message":"thanks"}"#)]),
      orders: ["/photos"]
    )
    let port = store.port
    let proxy = ScriptedProxy { _ in .pass(port) }
    defer {
      proxy.close()
      store.stop()
    }
    let folder = try TemporaryFolder()
    let photo = try #require(
      FileManager.default.contentsOfDirectory(atPath: "\(Command.samples)/photo").sorted().first
    )

    let stamp = try Command.larder([
      "stamp", "\(Command.samples)/photo/\(photo)", "--out", folder.path("out"), "--time", "now",
      "--size", "64", "--json", "--post", store.baseURL + "/photos", "--proxy", proxy.url(),
    ])

    #expect(stamp.status == 0, "\(stamp.errors)")
    #expect(try Document(stamp)["upload"]["accepted"].bool == true)
    #expect(proxy.asked.map(\.description) == ["POST \(store.baseURL)/photos"])
    #expect(store.orders.count == 1)
  }

  @Test func `a measurement goes through the proxy`() throws {
    let shop = try Shop()
    let proxy = proxy(to: shop)
    defer { proxy.close() }

    let bench = try Command.larder([
      "bench", shop.catalog, "--parallel", "2", "--runs", "1", "--json", "--proxy", proxy.url(),
    ])

    #expect(bench.status == 0 || bench.status == 3, "\(bench.errors)")
    #expect(try Document(bench)["runs"].count ?? 0 > 0)
    let pictures = proxy.asked.filter { $0.target.contains("/pictures/") }
    #expect(!pictures.isEmpty)
    #expect(proxy.asked.count == shop.store.requests.count)
  }
}
