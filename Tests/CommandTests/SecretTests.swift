import Foundation
import SampleStore
import Support
import Testing

/// Tokens and passwords reach only the servers that they are meant for.
@Suite struct SecretTests {
  private static let token = "tok/EN+42=~s3cret value"
  private static let forms = [
    token, "tok%2FEN%2B42%3D~s3cret%20value", "tok%2fen%2b42%3d~s3cret%20value",
    "tok/EN+42=~s3cret+value", Data(token.utf8).base64EncodedString(),
    String(Data(token.utf8).base64EncodedString().prefix(24)),
    Data(token.utf8).map { String($0, radix: 16) }.joined(), "s3cret",
  ]

  @Test func `a token from the environment reaches only the origin`() throws {
    let shop = try Shop(
      faults: """
        path=/develop/soup hits=2.. status=500
        path=/pictures/A1.jpg status=404
        path=/pictures/A2.jpg close
        path=/pictures/S1.jpg status=302 header="Location: /tok%2FEN%2B42%3D~s3cret%20value.jpg"
        """,
      headers: #"headers: {token: "${STORE_TOKEN}"}"#
    )
    let environment = ["STORE_TOKEN": Self.token]

    let commands = [
      try shop.sync("-vv", environment: environment),
      try shop.sync("-vv", "--json", environment: environment),
      try shop.sync("--dry-run", "-vv", environment: environment),
      try shop.sync("--log-format", "json", "-vv", environment: environment),
      try shop.larder("list", "--json"),
      try shop.larder("show", "A1", "--json"),
      try shop.larder("diff", "--json"),
      try shop.larder("status", "--json"),
    ]

    let sent = shop.store.requests.filter { $0.path.hasPrefix("/develop/") }
    #expect(sent.count >= 5)
    #expect(
      sent.allSatisfy { $0.headers.contains { $0.name == "token" && $0.value == Self.token } }
    )
    for command in commands {
      #expect(command.status == 0 || command.status == 3)
      #expect(command.output + command.errors != "")
      for form in Self.forms {
        #expect(!command.output.contains(form))
        #expect(!command.errors.contains(form))
      }
    }
    let files = try shop.folder.contents(below: "cache")
    #expect(files["index.sqlite"]?.isEmpty == false)
    for (name, bytes) in files {
      for form in Self.forms { #expect(bytes.range(of: Data(form.utf8)) == nil, "\(name)") }
    }
  }

  @Test func `a password in a URL reaches only its host`() throws {
    let shop = try Shop(faults: "path=/pictures/A2.jpg status=404\npath=/pictures/S1.jpg close")
    let encoded = "tok%2FEN%2B42%3D~s3cret%20value"
    let host = shop.store.baseURL.dropFirst("http://".count)
    let base = "http://clerk:\(encoded)@\(host)"
    let item = Shop.item("A1").replacing("/pictures/A1.jpg", with: "\(base)/pictures/A1.jpg")
    let other = Shop.item("A2").replacing("/pictures/A2.jpg", with: "\(base)/pictures/A2.jpg")
    shop.list([item, other], in: "main")
    let catalog = try String(contentsOfFile: shop.catalog, encoding: .utf8)
      .replacing(shop.store.baseURL, with: base)
    try catalog.write(toFile: shop.catalog, atomically: true, encoding: .utf8)

    let commands = [
      try shop.sync("-vv"), try shop.sync("-vv", "--json"), try shop.sync("--dry-run", "-vv"),
      try shop.larder("list", "--json"), try shop.larder("show", "A1", "--json"),
      try shop.larder("status", "--json"), try shop.larder("diff", "--json"),
    ]

    let basic = "Basic " + Data("clerk:\(Self.token)".utf8).base64EncodedString()
    let sent = shop.store.requests.filter { $0.path == "/develop/main" }
    #expect(!sent.isEmpty)
    #expect(sent.allSatisfy { $0.headers["authorization"] == basic })
    let forms = Self.forms + [String(basic.dropFirst("Basic ".count))]
    for command in commands {
      for form in forms {
        #expect(!command.output.contains(form))
        #expect(!command.errors.contains(form))
      }
    }
    for (name, bytes) in try shop.folder.contents(below: "cache") {
      for form in forms { #expect(bytes.range(of: Data(form.utf8)) == nil, "\(name)") }
    }
  }

  @Test func `a secret in the catalog's URLs reaches only the origin`() throws {
    let secret = "tok/EN+42=~s3cret"
    let query = "tok%2FEN%2B42%3D~s3cret"
    let shop = try Shop(
      faults: """
        path=/develop/tok/EN+42=~s3cret/soup hits=2.. status=500
        path=/develop/tok/EN+42=~s3cret/A2.jpg status=404
        """,
      headers: "paging: {next: $.next}"
    )
    let catalog = try String(contentsOfFile: shop.catalog, encoding: .utf8)
      .replacing("/develop/", with: "/develop/${STORE_KEY}/")
      .replacing("url: main", with: "url: \"main?key=${STORE_KEY}\"")
      .replacing("url: soup", with: "url: soup")
      .replacing("detail/{id}", with: "detail/{id}?v=1&sig=x&k=${STORE_KEY}")
    try catalog.write(toFile: shop.catalog, atomically: true, encoding: .utf8)
    let folder = "/develop/tok/EN+42=~s3cret"
    let start = "/develop/tok/EN%2B42%3D~s3cret"
    shop.store.content["\(folder)/main"] = Resource(
      json: """
        {"body": [
          {"detail_hash": "A1", "title": "one", "image": "A1.jpg"},
          {"detail_hash": "A2", "title": "two", "image": "\(start)/A2.jpg?key=\(secret)"},
          {"detail_hash": "A3", "title": "out", "image": "http://127.0.0.1:1/?k=${STORE_KEY}"}],
         "next": "\(start)/page2?key=\(secret)&page=2"}
        """
    )
    shop.store.content["\(folder)/page2"] = Resource(
      json:
        #"{"body": [{"detail_hash": "B1", "title": "three", "image": "A1.jpg?key=\#(query)"}]}"#
    )
    shop.store.content["\(folder)/soup"] = Resource(json: #"{"body": []}"#)
    shop.store.content["\(folder)/A1.jpg"] = Shop.picture("A1")
    let environment = ["STORE_KEY": secret]

    let commands = [
      try shop.sync("--dry-run", "-vv", environment: environment),
      try shop.sync("-vv", environment: environment),
      try shop.sync("-vv", "--json", environment: environment),
      try shop.sync("--dry-run", "-vv", environment: environment),
      try shop.sync("--log-format", "json", "-vv", environment: environment),
      try shop.larder("list", "--json"), try shop.larder("show", "A2", "--json"),
      try shop.larder("diff", "--json"), try shop.larder("status", "--json"),
    ]
    let unset = try shop.sync()

    let sent = Set(shop.store.requests.map { $0.path + ($0.query.map { "?\($0)" } ?? "") })
    #expect(sent.contains("\(start)/main?key=\(query)"))
    #expect(sent.contains("\(start)/page2?key=\(query)&page=2"))
    #expect(sent.contains("\(start)/soup"))
    #expect(sent.contains("\(start)/A1.jpg"))
    #expect(sent.contains("\(start)/A2.jpg?key=\(query)"))
    #expect(sent.contains("\(start)/detail/A1?v=1&sig=x&k=\(query)"))
    #expect(try Document(shop.larder("list", "--json"))[3]["id"].string == "B1")
    let forms = [secret, query, query.lowercased(), "s3cret", "EN%2B42", "EN+42"]
    for command in commands + [unset] {
      #expect(command.output + command.errors != "")
      for form in forms {
        #expect(!command.output.contains(form), "\(form)")
        #expect(!command.errors.contains(form), "\(form)")
      }
    }
    for (name, bytes) in try shop.folder.contents(below: "cache") {
      for form in forms { #expect(bytes.range(of: Data(form.utf8)) == nil, "\(name): \(form)") }
    }
    #expect(unset.status == 78)
    #expect(unset.errors.contains("shop.yaml") && unset.errors.contains("line 3"))
    #expect(unset.errors.contains("base") && unset.errors.contains("STORE_KEY"))
  }

  @Test func `a token is not sent to a host that only the feed names`() throws {
    let stranger = try SampleStore(SampleContent(["/x.jpg": Shop.picture("x")]))
    defer { stranger.stop() }
    let shop = try Shop(headers: #"headers: {token: "${STORE_TOKEN}"}"#)
    let item = Shop.item("A1").replacing("/pictures/A1.jpg", with: "\(stranger.baseURL)/x.jpg")
    shop.list([item], in: "main")
    let environment = ["STORE_TOKEN": Self.token]

    let refused = try shop.sync("--json", environment: environment)
    #expect(stranger.requests.isEmpty)
    let allowed = try shop.sync("--allow-private-addresses", environment: environment)

    #expect(refused.status == 3)
    #expect(try Document(refused)["failures"][0]["reason"].string == "address-refused")
    #expect(allowed.status == 0)
    #expect(stranger.requests.map(\.path) == ["/x.jpg"])
    #expect(stranger.requests.allSatisfy { !$0.headers.contains { $0.value == Self.token } })
  }
}
