import Foundation
import Glibc
import SampleStore
import Support
import Testing

/// Syncs that are interrupted by a signal or killed.
@Suite struct InterruptionTests {
  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func
    `a sync ends within 2 s of a signal, keeps complete pictures and reports the unfinished ones`(
      _ signal: Int32,
      _ status: Int32
    ) throws
  {
    let shop = try Shop(faults: "path=/pictures/S1.jpg status=404")
    #expect(try shop.sync().status == 3)
    shop.store.faults = try FaultScript(text: "path=/pictures/S1.jpg hang")
    shop.store.clearRequests()
    // Two sections, three details and the failed picture are requested again.
    let sync = try shop.startSync(requests: 6, "--json")
    let clock = ContinuousClock()

    let began = clock.now
    sync.send(signal)
    let command = try sync.wait()

    #expect(began.duration(to: clock.now) < .seconds(2))
    #expect(command.status == status)
    let report = try Document(command)
    #expect(report["outcome"].string == "interrupted")
    // Details whose answers were on their way may be unfinished too; pictures are listed last.
    let unfinished = try #require(report["unfinished"].count)
    #expect(report["unfinished"][0].keys == ["stage", "url"])
    #expect(report["unfinished"][unfinished - 1]["stage"].string == "image")
    #expect(report["images"]["fresh"].int == 4)
    #expect(try Document(try shop.larder("verify", "--json"))["checked"].int == 4)
    #expect(try shop.larder("list").lines.count == 5)
  }

  @Test func `the summary of an interrupted sync says how much is unfinished`() throws {
    let shop = try Shop(faults: "path=/pictures/* hang")
    let sync = try shop.startSync(requests: Shop.requests)

    sync.send(SIGINT)
    let command = try sync.wait()

    #expect(command.lines.first?.hasPrefix("banchan: interrupted") == true)
    #expect(command.errors.contains(#/[5-8] requests were not finished/#))
  }

  @Test func `the summary names the limit that left requests unfinished`() throws {
    let sync = try Shop().sync("--max-bytes", "1B")

    #expect(sync.status == 75)
    #expect(sync.errors.contains("because --max-bytes is used up; run again, or allow more"))
  }

  @Test func `a second signal ends a sync at once and leaves a clean cache`() throws {
    let shop = try Shop(faults: "path=/pictures/* hang")
    let sync = try shop.startSync(requests: Shop.requests)

    sync.send(SIGINT)
    sync.send(SIGTERM)
    let command = try sync.wait(seconds: 2)

    #expect([130, 143].contains(command.status))
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `a command that cannot stop at once says so before it is ended`() throws {
    let asked = DispatchSemaphore(value: 0)
    let store = ScriptedServer { _ in
      asked.signal()
      return [.hang]
    }
    defer { store.close() }
    let folder = try TemporaryFolder()
    try folder.write("name: a\ncurrency: EUR\nsections: [{key: a, url: a.json}]", to: "a.yaml")
    let arguments = ["sync", folder.path("a.yaml"), "--cache", "s3://bucket/cache", "--json"]
    let environment = [
      "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
      "AWS_ENDPOINT_URL": store.url(""),
    ]
    let command = try Running(Command.binary, arguments, environment: environment)
    #expect(asked.wait(timeout: .now() + 60) == .success)

    command.send(SIGTERM)
    let ended = try command.wait()

    #expect(ended.status == 143)
    #expect(ended.errors.contains("interrupted: the work could not stop at once"))
    let error = try Document(ended)["error"]
    #expect(error["status"].int == 143 && error["code"].string == "terminated")
    #expect(error["remedy"].string == "run the command again")
  }

  @Test func `a sync that waits for its sections can be interrupted too`() throws {
    let shop = try Shop(faults: "path=/develop/* hang")
    let sync = try shop.startSync(requests: 2)

    sync.send(SIGTERM)

    #expect(try sync.wait(seconds: 60).status == 143)
    shop.store.faults = []
    #expect(try shop.sync().status == 0)
  }

  @Test func `after a kill the next sync completes and fetches only the missing pictures`() throws
  {
    let shop = try Shop(faults: "path=/pictures/S1.jpg hang")
    let killed = try shop.startSync(requests: Shop.requests)

    killed.send(SIGKILL)
    #expect(try killed.wait().status == 128 + SIGKILL)
    shop.store.faults = []
    let held = try shop.folder.contents(below: "cache/images").filter { $0.key.hasSuffix("jpg") }
    let sync = try shop.sync("--json")

    #expect(sync.status == 0)
    #expect(try Document(sync)["images"]["fetched"].int == 5 - held.count)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test
  func `after a kill during a large picture the next sync requests only the missing bytes`()
    throws
  {
    let shop = try Shop(faults: "path=/pictures/S1.jpg hits=1 drip=2M")
    let path = "/pictures/S1.jpg"
    var random = SplitMix64(1)
    let bytes = [0xFF, 0xD8, 0xFF, 0xE0] + random.bytes(8_000_000, mask: 0x7F) + [0xFF, 0xD9]
    shop.store.content[path] = Resource(bytes, type: "image/jpeg")
    let killed = try Running(
      Command.binary,
      ["sync", shop.catalog, "--cache", shop.cache, "--retries", "0"]
    )
    func held() throws -> Int {
      try shop.folder.contents(below: "cache").filter { $0.key.hasPrefix("partial/") }
        .map(\.value.count).max() ?? 0
    }
    let deadline = ContinuousClock.now + .seconds(30)
    while ((try? held()) ?? 0) < 1_000_000, ContinuousClock.now < deadline { poll(nil, 0, 5) }

    killed.send(SIGKILL)
    #expect(try killed.wait().status == 128 + SIGKILL)
    let left = try held()
    let sync = try shop.sync("--json")

    #expect(left >= 1_000_000 && left < bytes.count)
    #expect(sync.status == 0)
    let asked = shop.store.requests.filter { $0.path == path }
    #expect(asked.count == 2)
    let resumed = try #require(asked.last)
    #expect(resumed.headers["range"] == "bytes=\(left)-")
    #expect(resumed.headers["if-range"] == Resource(bytes, type: "").etag)
    #expect(resumed.status == 206)
    #expect(resumed.bytes == bytes.count - left)
    let files = try shop.folder.contents(below: "cache/images").values
    #expect(files.contains(Data(bytes)))
    #expect(try shop.larder("verify").status == 0)
    #expect(try shop.folder.contents(below: "cache").keys.allSatisfy { !$0.hasPrefix("partial/") })
  }
}
