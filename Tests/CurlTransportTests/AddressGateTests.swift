import Support
import Testing
import Transport

@testable import CurlTransport

/// Private addresses are allowed only for hosts that the user named.
@Suite struct AddressGateTests {
  static let hello = ScriptedServer.Action.send(
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
  )

  @Test(arguments: [
    "127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0",
  ])
  func `a host that the user did not name may not have a private address`(_ host: String) throws {
    let server = ScriptedServer(Self.hello)
    defer { server.close() }

    let failure = try fetch(
      "http://\(host):\(server.port)/",
      testOptions {
        $0.allowPrivateAddresses = false
        $0.retry.retries = 2
      }
    ).failure

    #expect(failure?.reason == .addressRefused)
    #expect(failure?.attempts == 1)
    #expect(server.connections == 0)
  }

  @Test func `a host that the user named may have a private address`() throws {
    let server = ScriptedServer(Self.hello)
    defer { server.close() }

    let result = try fetch(server.url(), testOptions { $0.allowPrivateAddresses = false }) {
      $0.trust = .named
    }

    #expect(result.response != nil)
  }

  @Test func `the target of a connect-to counts as named by the user`() throws {
    let server = ScriptedServer(Self.hello)
    defer { server.close() }
    let options = testOptions {
      $0.allowPrivateAddresses = false
      $0.connectTo = ["store.example:80:127.0.0.1:\(server.port)"]
    }

    let result = try fetch("http://store.example/x", options)

    #expect(result.response != nil)
    #expect(server.received[0].header("Host") == "store.example")
  }

  @Test
  func
    `a connection opened for a host that the user named is not reused for another request to it`()
    throws
  {
    let server = ScriptedServer(Self.hello)
    defer { server.close() }
    let transport = try CurlTransport(testOptions { $0.allowPrivateAddresses = false })
    func get(_ trust: Request.Trust) throws -> Result<Response, TransferFailure> {
      let results = Results()
      var request = Request(try transport.parse(server.url(), relativeTo: nil))
      request.trust = trust
      transport.fetch(request, into: CollectingSink(), completion: results.completion(0))
      return results.wait(for: 1)[0]
    }

    let named = try get(.named)
    let discovered = try get(.discovered)
    let again = try get(.named)

    #expect(named.response != nil)
    #expect(discovered.failure?.reason == .addressRefused)
    #expect(again.response != nil)
    #expect(server.received.count == 2)
  }
}
