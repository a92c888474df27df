import Catalog
import CurlTransport
import Foundation
import Pipeline
import SampleStore
import Support
import Testing

/// Shops that are requested by POST, such as GraphQL.
struct PostedSyncTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  private static func answer(_ body: String) -> ScriptedServer.Action {
    .send(
      "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nETag: \"1\"\r\n"
        + "Cache-Control: max-age=600\r\n\r\n\(body)"
    )
  }

  private func catalog(_ server: ScriptedServer, _ lines: String) throws -> CatalogFile {
    try CatalogFile(
      parsing: Array(
        """
        name: shop
        currency: KRW
        base: \(server.url())
        items: $.items
        item: {id: $.id, title: $.id}
        \(lines)
        """.utf8
      ),
      file: "shop.yaml"
    )
  }

  private func sync(_ catalog: CatalogFile) throws -> SyncReport {
    var options = shop.transportOptions()
    options.allowPrivateAddresses = true
    return try shop.sync(folder, catalog, transport: options)
  }

  private func shown() throws -> [String] {
    try CatalogReader(cache: folder.path("cache"), catalog: nil).list().map(\.item.id)
  }

  private func bodies(_ server: ScriptedServer) -> [String] {
    server.received.map { request in
      let end = request.text.firstRange(of: "\r\n\r\n")?.upperBound ?? request.text.endIndex
      return String(request.text[end...])
    }
  }

  private func pages() -> ScriptedServer {
    ScriptedServer { request in
      request.text.contains(#""after": "b\"""#)
        ? [Self.answer(#"{"items": [{"id": "2"}], "end": null}"#)]
        : [Self.answer(#"{"items": [{"id": "1"}], "end": "b\""}"#)]
    }
  }

  private let cursor = """
    sections: [{key: main, url: graphql}]
    paging: {from: $.end}
    request: {body: '{"after": {cursor}}'}
    """

  @Test func `the cursor is sent in the body, and POSTs are never conditional or skipped`()
    throws
  {
    let server = pages()
    defer { server.close() }
    let catalog = try catalog(server, cursor)

    let first = try sync(catalog)
    let second = try sync(catalog)

    #expect(first.outcome == .complete)
    #expect(try shown() == ["1", "2"])
    #expect(second.sections.map(\.source) == [.unchanged])
    let bodies = [#"{"after": null}"#, #"{"after": "b\""}"#]
    #expect(self.bodies(server) == bodies + bodies)
    #expect(server.received.allSatisfy { $0.text.hasPrefix("POST /graphql ") })
    #expect(server.received.allSatisfy { $0.header("If-None-Match") == nil })
    #expect(server.received.allSatisfy { $0.header("Content-Type") == "application/json" })
  }

  @Test func `another body is another document, even at the same URL`() throws {
    let server = ScriptedServer { request in
      // One item is in both bodies, because a section whose items are all replaced is withheld.
      let id = request.text.hasSuffix("a") ? "A" : "B"
      return [Self.answer(#"{"items": [{"id": "\#(id)"}, {"id": "0"}]}"#)]
    }
    defer { server.close() }
    func ask(_ first: String, _ second: String) throws {
      _ = try sync(
        try catalog(
          server,
          """
          sections:
            - {key: one, url: q, request: {type: text/plain, body: \(first)}}
            - {key: two, url: q, request: {type: text/plain, body: \(second)}}
          """
        )
      )
    }

    try ask("a", "b")
    #expect(try shown() == ["A", "0", "B", "0"])

    try ask("b", "a")
    #expect(try shown() == ["B", "0", "A", "0"])
  }

  @Test func `an item's id is put into the body that requests its detail`() throws {
    let server = ScriptedServer { request in
      request.path == "/list"
        ? [Self.answer(#"{"items": [{"id": "a\"b"}, {"id": "c"}]}"#)]
        : [
          Self.answer(
            #"{"hash": "\#(request.text.contains("a\\\"b") ? "a\\\"b" : "c")", "text": "T"}"#
          )
        ]
    }
    defer { server.close() }
    let catalog = try catalog(
      server,
      """
      sections: [{key: main, url: list}]
      detail: {url: q, request: {body: '{"id": "{id}"}'}, id: $.hash, description: $.text}
      """
    )

    let report = try sync(catalog)

    #expect(report.details.fetched == 2)
    #expect(Set(bodies(server).dropFirst()) == [#"{"id": "a\"b"}"#, #"{"id": "c"}"#])
  }

  @Test func `placeholders in a URL are filled and escaped`() throws {
    let server = ScriptedServer { request in
      request.path == "/after//list"
        ? [Self.answer(#"{"items": [{"id": "1"}], "end": "a/b"}"#)]
        : [Self.answer(#"{"items": [{"id": "2"}]}"#)]
    }
    defer { server.close() }
    let catalog = try catalog(
      server,
      "sections: [{key: main, url: 'after/{cursor}/list'}]\npaging: {from: $.end}"
    )

    let report = try sync(catalog)

    #expect(report.outcome == .complete)
    #expect(server.received.map(\.path) == ["/after//list", "/after/a%2Fb/list"])
    #expect(try shown() == ["1", "2"])
  }
}
