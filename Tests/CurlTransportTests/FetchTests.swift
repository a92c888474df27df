import Support
import Testing

@testable import CurlTransport

@Suite struct FetchTests {
  @Test func `a file arrives whole`() throws {
    let server = ScriptedServer(
      .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"v1\"\r\n\r\nhello")
    )
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url("/a"), into: sink).get()

    #expect(sink.text == "hello")
    #expect(response.head.status == 200)
    #expect(response.head.headers["etag"] == "\"v1\"")
    #expect(response.bodyBytes == 5)
    #expect(response.attempts == 1)
    #expect(sink.events == ["begin 200 at 0"])
    #expect(server.received.map(\.path) == ["/a"])
  }
}
