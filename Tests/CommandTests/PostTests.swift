import Foundation
import Imaging
import SampleStore
import Support
import Testing

import class Support.ClosedPort

/// `larder stamp --post`, which uploads stamped photos to a server.
@Suite struct PostTests {
  private static let token = "tok/EN+42=~s3cret"

  @Test func `a stamped photo is posted as a form, with a token from a file`() throws {
    let diary = try Diary()
    let file = try diary.folder.write("\(Self.token)\n", to: "token")

    let command = try diary.stamp(
      "--json",
      "--text",
      "일찍 일어났다",
      "--token-file",
      file,
      "--token-header",
      "X-Diary"
    )

    #expect(command.status == 0)
    let result = try Document(command)
    #expect(result["error"].isNull)
    #expect(result["upload"]["accepted"].bool == true)
    #expect(result["upload"]["status"].int == 200)
    #expect(result["upload"]["message"].string == "thanks")
    #expect(result["upload"]["attempts"].int == 1)
    #expect(result["upload"].keys == ["accepted", "status", "message", "attempts"])
    let order = try #require(diary.store.orders.first)
    #expect(diary.store.orders.count == 1)
    #expect(order.headers.contains { $0.name == "X-Diary" && $0.value == Self.token })
    #expect(!order.headers.contains { $0.name == "token" })
    #expect(order.headers.contains { $0.name == "Idempotency-Key" && $0.value.count == 36 })
    let text = String(decoding: order.body, as: UTF8.self)
    #expect(text.contains("name=\"dateTime\"\r\n\r\n2021-01-13 06:30:00\r\n"))
    #expect(text.contains("name=\"timeStampContents\"\r\n\r\n일찍 일어났다\r\n"))
    #expect(
      text.contains("name=\"image\"; filename=\"morning.jpg\"\r\nContent-Type: image/jpeg\r\n")
    )
    // The file is a PNG like the photo, but a JPEG was sent.
    #expect(result["output"].string?.hasSuffix("out/morning.png") == true)
    #expect(order.body.firstRange(of: [0xFF, 0xD8, 0xFF]) != nil)
    #expect(order.body.firstRange(of: Array("\u{89}PNG".utf8)) == nil)
  }

  @Test func `a token is never shown, whatever the server does`() throws {
    for answer in [
      #"path=/photos status=401 body="{\"message\":\"bad \#(Self.token)\"}""#,
      "path=/photos close", "path=/photos status=302", "path=/photos status=500",
      #"path=/photos body="{\"success\":false,\"message\":\"bad \#(Self.token)\"}""#,
      #"path=/photos body="{\"success\":true,\"message\":\"hello \#(Self.token)\"}""#,
    ] {
      let diary = try Diary(faults: answer)
      for flags in [["-vv"], ["-vv", "--json"], ["-vv", "--log-format", "json"]] {
        let command = try diary.stamp(
          flags + ["--force"],
          environment: ["LARDER_UPLOAD_TOKEN": Self.token]
        )

        #expect(diary.store.orders.last?.headers.contains { $0.value == Self.token } == true)
        #expect(!(command.output + command.errors).contains("s3cret"), "\(answer)")
      }
      for (name, bytes) in try diary.folder.contents(below: "out") {
        #expect(bytes.range(of: Data("s3cret".utf8)) == nil, "\(name)")
      }
    }
  }

  @Test(
    arguments: [
      (#"body="{\"status\":400,\"message\":\"no such day\"}""#, 1, "no such day"),
      (#"body="{\"status\":200,\"success\":false}""#, 1, "refused"),
      ("status=404", 1, "http-404"),
      ("close", 1, "it may have arrived"),
      ("status=401", 1, "check the token"),
    ] as [(String, Int32, String)]
  )
  func `a photo that the server refuses is a failure, and its file is kept`(
    _ fault: String,
    _ status: Int32,
    _ words: String
  ) throws {
    let diary = try Diary(faults: "path=/photos \(fault)")

    let command = try diary.stamp()

    #expect(command.status == status)
    #expect(command.errors.contains(words), "\(command.errors)")
    #expect(diary.store.orders.count == 1)
    #expect(try diary.folder.contents(below: "out").keys.sorted() == ["morning.png"])
  }

  @Test func `a photo that did not arrive is posted later from the file that is there`() throws {
    let diary = try Diary(faults: "path=/photos hits=1 status=500")
    let file = diary.folder.path("out/morning.png")
    #expect(try diary.stamp("--text", "first").status == 1)
    let made = try Data(contentsOf: URL(filePath: file))

    let other = try diary.stamp("--text", "second", "--skip-existing")
    #expect(other.status == 1 && other.errors.contains("it is not the picture that this command"))
    let same = try diary.stamp("--text", "first", "--skip-existing")
    #expect(same.output.contains("posted"), "\(same.errors)")
    let third = try diary.stamp("--text", "third", "--skip-existing", "--json")

    #expect(try Document(third)["skipped"].bool == true)
    #expect(diary.store.orders.count == 2)
    #expect(try Data(contentsOf: URL(filePath: file)) == made)
  }

  @Test func `an unreachable server is status 69`() throws {
    let diary = try Diary()
    let closed = try ClosedPort()

    let command = try diary.stamp("--post", closed.baseURL, "--retries", "0", "--json")

    #expect(command.status == 69)
    #expect(try Document(command)["upload"]["accepted"].bool == false)
    #expect(try Document(command)["error"].string?.contains("connect-refused") == true)
  }

  @Test func `only the refused one of two photos fails`() throws {
    let diary = try Diary(faults: "path=/photos hits=1 status=404")
    try FileManager.default.copyItem(
      atPath: diary.photo,
      toPath: diary.folder.path("other.png")
    )

    let command = try diary.stamp(diary.folder.path("other.png"), "--json")

    #expect(command.status == 3)
    #expect(command.lines.count == 2)
    #expect(diary.store.orders.count == 2)
  }

  @Test(arguments: [
    (["--post", "http://diary.example/photos"], "https"),
    (["--post", "diary"], "URL"),
    (["--post", "https://h/", "--token-file", "no-such-file"], "no-such-file"),
    (["--post", "https://h/", "--token-header", "a b"], "header"),
    (["--token-file", "x"], "--post"),
  ])
  func `an invalid post is a usage error before anything is written`(
    _ arguments: [String],
    _ words: String
  ) throws {
    let diary = try Diary()

    let command = try Command.larder(
      ["stamp", diary.photo, "--out", diary.folder.path("out")] + arguments
    )

    #expect(command.status == 64)
    #expect(command.errors.contains(words), "\(command.errors)")
    #expect(!FileManager.default.fileExists(atPath: diary.folder.path("out")))
  }
}

/// A server that accepts photos at `/photos`, and a photo with a known time.
private final class Diary: Sendable {
  let store: SampleStore
  let folder: TemporaryFolder
  let photo: String

  init(faults: String = "") throws {
    store = try SampleStore(
      SampleContent([
        "/photos": Resource(json: #"{"status":200,"success":true,"message":"thanks","data":null}"#)
      ]),
      faults: FaultScript(text: faults),
      orders: ["/photos"]
    )
    folder = try TemporaryFolder()
    photo = folder.path("morning.png")
    let bitmap = Bitmap(
      width: 96,
      height: 64,
      layout: .rgb,
      samples: (0..<96 * 64 * 3).map { UInt8(truncatingIfNeeded: $0 * 7) }
    )
    try Data(try bitmap.png()).write(to: URL(filePath: photo))
  }

  deinit {
    store.stop()
  }

  func stamp(_ arguments: String...) throws -> Command {
    try stamp(arguments)
  }

  func stamp(_ arguments: [String], environment: [String: String] = [:]) throws -> Command {
    try Command.larder(
      ["stamp", photo, "--out", folder.path("out"), "--time", "2021-01-13T06:30:00+09:00"]
        + ["--post", "\(store.baseURL)/photos"] + arguments,
      environment: environment
    )
  }
}
