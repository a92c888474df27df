import Glibc
import SampleStore
import Support
import Testing

/// The answers of a sample store without faults.
struct ServingTests {
  private static let picture = Resource([0xFF, 0xD8, 1, 2, 3], type: "image/jpeg")

  @Test func `a picture in memory is served with its type, length, validator and freshness`()
    throws
  {
    let store = try SampleStore(
      SampleContent(["/a.jpg": Self.picture]),
      clock: { 784_111_777 }
    )

    let answer = try store.ask("/a.jpg")

    #expect(answer.status == 200)
    #expect(answer.body == [0xFF, 0xD8, 1, 2, 3])
    #expect(answer["Content-Type"] == "image/jpeg")
    #expect(answer["Content-Length"] == "5")
    #expect(answer["Cache-Control"] == "max-age=3600")
    #expect(answer["Accept-Ranges"] == "bytes")
    #expect(answer["ETag"] == Self.picture.etag)
    #expect(answer["Date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  @Test func `a path without extension is a json file of the folder`() throws {
    let folder = try TemporaryFolder()
    try folder.write("[1]", to: "develop/baminchan/main.json")
    let store = try SampleStore(SampleContent(folder: folder.path))

    let answer = try store.ask("/develop/baminchan/main?page=2")

    #expect(answer.text == "[1]")
    #expect(answer["Content-Type"] == "application/json")
    #expect(answer["Cache-Control"] == "max-age=0")
    #expect(answer["Last-Modified"]?.hasSuffix(" GMT") == true)
    #expect(store.requests.map(\.query) == ["page=2"])
  }

  @Test func `a file that changes on disk is served changed`() throws {
    let folder = try TemporaryFolder()
    try folder.write("one", to: "a.txt")
    let store = try SampleStore(SampleContent(folder: folder.path))
    let before = try store.ask("/a.txt")

    try folder.write("three", to: "a.txt")

    let after = try store.ask("/a.txt")
    #expect((before.text, after.text) == ("one", "three"))
    #expect(before["ETag"] != after["ETag"])
  }

  @Test func `content set at run time overrides folder and fallback`() throws {
    let store = try SampleStore(SampleContent { Resource(json: "\"\($0)\"") })
    #expect(try store.ask("/x.json").text == "\"/x.json\"")

    store.content["/x.json"] = Resource(json: "1")
    #expect(try store.ask("/x.json").text == "1")

    store.content["/x.json"] = nil
    #expect(try store.ask("/x.json").text == "\"/x.json\"")
  }

  @Test func `pictures are fresh for an hour, and a resource's own rule wins`() throws {
    var own = Self.picture
    own.cacheControl = "no-store"
    let store = try SampleStore(
      SampleContent(["/a.jpg": Self.picture, "/b.jpg": own, "/c.json": Resource(json: "1")])
    )

    #expect(try store.ask("/a.jpg")["Cache-Control"] == "max-age=3600")
    #expect(try store.ask("/b.jpg")["Cache-Control"] == "no-store")
    #expect(try store.ask("/c.json")["Cache-Control"] == "max-age=0")
  }

  @Test(arguments: [
    "/../secret.txt", "/%2e%2e/secret.txt", "/a/..%2f..%2fsecret.txt",
    "/a/%2e%2e/%2e%2e/secret.txt",
    "/out.txt", "/outside/secret.txt", "/..%5csecret.txt", "/in.txt%00.jpg", "/%zz", "/%ff",
    "http://other/../secret.txt", "*",
  ])
  func `no path leads out of the folder`(path: String) throws {
    let parent = try TemporaryFolder()
    try parent.write("secret", to: "secret.txt")
    try parent.write("fine", to: "served/in.txt")
    symlink("../secret.txt", parent.path + "/served/out.txt")
    symlink("..", parent.path + "/served/outside")
    symlink("in.txt", parent.path + "/served/link.txt")
    let store = try SampleStore(SampleContent(folder: parent.path + "/served"))

    #expect(try store.ask(path).status == 404)

    #expect(try store.ask("/link.txt").text == "fine")
    #expect(try store.ask("http://store/%69n.txt").text == "fine")
  }

  @Test func `HEAD has the head of GET and no body`() throws {
    let store = try SampleStore(SampleContent(["/a.jpg": Self.picture]))
    let client = try RawClient(store)
    client.request("HEAD", "/a.jpg")
    client.get("/a.jpg", "Connection: close")

    let head = client.answer(hasBody: false)
    let get = client.answer()

    #expect(head.status == 200)
    #expect(head["Content-Length"] == "5")
    #expect(head["ETag"] == get["ETag"])
    #expect(get.body.count == 5)
    #expect(client.rest() == ([], .closed))
  }

  @Test func `a missing path is 404 and other methods are 405`() throws {
    let store = try SampleStore(SampleContent(["/a.jpg": Self.picture]))

    let missing = try store.ask("/none")
    let delete = try store.ask("/a.jpg", method: "DELETE")
    let orders = try store.ask("/orders")

    #expect(missing.text == "{\"error\":\"not found\",\"status\":404}\n")
    #expect((delete.status, delete["Allow"]) == (405, "GET, HEAD"))
    #expect((orders.status, orders["Allow"]) == (405, "POST"))
  }

  @Test func `requests in one packet are answered in order`() throws {
    let store = try SampleStore(
      SampleContent { Resource(json: $0) },
      faults: [FaultRule("/1", .delay(seconds: 0.02))]
    )
    let client = try RawClient(store)

    client.send((1...3).map { "GET /\($0) HTTP/1.1\r\nHost: s\r\n\r\n" }.joined())
    client.finish()

    #expect((1...3).map { _ in client.answer().text } == ["/1", "/2", "/3"])
    #expect(client.rest() == ([], .closed))
  }

  @Test func `a request that is not HTTP is 400`() throws {
    let store = try SampleStore(SampleContent())
    let client = try RawClient(store)

    client.send("hello\r\n\r\n")

    let (bytes, ending) = client.rest()
    #expect((Answer(bytes).status, ending) == (400, .closed))
  }

  @Test func `the journal lists requests and answers until it is cleared`() throws {
    let store = try SampleStore(SampleContent(["/a.jpg": Self.picture]))
    _ = try store.ask("/a.jpg?w=1", "X-Token: t")
    _ = try store.ask("/none", method: "HEAD")

    #expect(store.requests.map(\.path) == ["/a.jpg", "/none"])
    #expect(store.requests.map(\.method) == ["GET", "HEAD"])
    #expect(store.requests.map(\.status) == [200, 404])
    #expect(store.requests.map(\.bytes) == [5, 0])
    #expect(store.requests[0].headers["x-token"] == "t")
    #expect(store.requestCounts == ["/a.jpg": 1, "/none": 1])

    store.clearRequests()

    #expect(store.requests.isEmpty)
  }
}
