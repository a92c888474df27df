import Base
import CurlTransport
import Imaging
import SampleStore
import Support
import Synchronization
import SystemPackage
import Testing
import Transport

@testable import Pipeline

/// Uploads of stamped photos to a server: the form, the replies, and the retries.
@Suite struct UploadTests {
  @Test func `a form is one body with a boundary that occurs in no part`() {
    let parts = [
      MultipartForm.Part(name: "dateTime", bytes: Array("2021-01-13 06:30:00".utf8)),
      MultipartForm.Part(
        name: "a\"\r\nb",
        fileName: "국.jpg",
        type: "image/jpeg",
        bytes: [1, 13, 10]
      ),
    ]

    let form = MultipartForm(parts)

    let boundary = String(form.contentType.dropFirst("multipart/form-data; boundary=".count))
    #expect(boundary.utf8.count <= 70)
    #expect(
      String(decoding: form.bytes, as: UTF8.self) == """
        --\(boundary)\r
        Content-Disposition: form-data; name="dateTime"\r
        \r
        2021-01-13 06:30:00\r
        --\(boundary)\r
        Content-Disposition: form-data; name="a%22%0D%0Ab"; filename="국.jpg"\r
        Content-Type: image/jpeg\r
        \r
        \u{1}\r
        \r
        --\(boundary)--\r

        """
    )
    #expect(MultipartForm(parts).bytes == form.bytes)
    #expect(MultipartForm([parts[0]]).digest != form.digest)
  }

  @Test(
    arguments: [
      (#"{"status": 200, "success": true, "message": "ok", "data": {"id": 7}}"#, true, "ok"),
      (#"{"status": 400, "success": false, "message": "no"}"#, false, "no"),
      (#"{"status": 400}"#, false, nil),
      (#"{"status": "500"}"#, false, nil),
      (#"{"success": false}"#, false, nil),
      (#"{"success": "false", "message": ["a", "b"]}"#, false, "a, b"),
      (#"{"message": "the token s3cret is\u001b[2J old"}"#, true, "the token *** is [2J old"),
      (#"{"message": 5}"#, true, nil),
      ("[1]", true, nil),
      ("ok", true, nil),
      ("", true, nil),
    ] as [(String, Bool, String?)]
  )
  func `a failure in a reply's JSON overrides its status 200`(
    _ body: String,
    _ isAccepted: Bool,
    _ message: String?
  ) {
    let reply = UploadReply(Array(body.utf8), hiding: "s3cret")

    #expect(reply.isAccepted == isAccepted)
    #expect(reply.message == message)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var reason = FailureReason.connectRefused
    var status: Int?
    var retryAfter: Int64?
    var mayHaveBeenSent = false
    var attempts = 1
    var isRepeated: Bool
  }

  @Test(arguments: [
    Case(testDescription: "nobody listens", isRepeated: true),
    Case(testDescription: "the last try", attempts: 5, isRepeated: false),
    Case(testDescription: "a certificate of another", reason: .tlsHost, isRepeated: false),
    Case(testDescription: "cut", reason: .reset, mayHaveBeenSent: true, isRepeated: false),
    Case(testDescription: "cut before a byte left", reason: .reset, isRepeated: true),
    Case(
      testDescription: "silence",
      reason: .timeoutIdle,
      mayHaveBeenSent: true,
      isRepeated: false
    ),
    Case(testDescription: "stopped", reason: .cancelled, isRepeated: false),
    status(503, retryAfter: 2, true), status(429, retryAfter: 0, true),
    status(503, retryAfter: 3600, false), status(503, retryAfter: nil, false),
    status(500, retryAfter: 1, false), status(502, retryAfter: nil, false),
    status(302, retryAfter: nil, false), status(400, retryAfter: nil, false),
  ])
  func `only uploads that did not arrive, or are to be repeated later, are sent again`(
    _ example: Case
  ) {
    var failure = TransferFailure(
      reason: example.reason,
      url: "u",
      attempts: 1,
      status: example.status,
      mayHaveBeenSent: example.mayHaveBeenSent
    )
    failure.retryAfter = example.retryAfter

    let delay = RetryPolicy().delay(
      afterUpload: failure,
      attempts: example.attempts,
      random: 0.5
    )

    #expect((delay != nil) == example.isRepeated)
    if let wait = example.retryAfter, let delay {
      #expect(delay >= .seconds(wait))
    }
  }

  private static func status(_ status: Int, retryAfter: Int64?, _ isRepeated: Bool) -> Case {
    Case(
      testDescription: "\(status), \(retryAfter.map(String.init) ?? "no time")",
      reason: .http(status),
      status: status,
      retryAfter: retryAfter,
      mayHaveBeenSent: true,
      isRepeated: isRepeated
    )
  }

  @Test(arguments: [
    ("https://diary.example/p", true), ("http://127.0.0.1:8/p", true), ("http://[::1]/", true),
    ("http://localhost/p", true), ("http://127.9.8.7/p", true), ("http://diary.example/p", false),
    ("http://127.0.0.1.example/p", false), ("http://10.0.0.1/p", false), ("ftp://h/p", false),
    ("nowhere", false), ("http://localhost.example/", false),
  ])
  func `a destination must be https, or http to this machine`(_ url: String, _ isGood: Bool) {
    let made = try? UploadDestination(url, token: "t", parser: CurlURLParser())

    #expect((made != nil) == isGood)
  }

  @Test(arguments: [("", "token"), (" \n", "token"), ("a\nb", "token"), ("s3cret", "to ken")])
  func `a token that cannot be sent is an error that does not show the token`(
    _ token: String,
    _ header: String
  ) {
    let error = #expect(throws: LarderError.self) {
      try UploadDestination("https://h/", token: token, header: header, parser: CurlURLParser())
    }

    #expect(error?.description.contains("s3cret") == false)
  }

  @Test func `a photo that the server wants later is sent again, byte for byte`() throws {
    let store = try SampleStore(
      SampleContent(["/photos": Resource(json: #"{"success": true, "message": "thanks"}"#)]),
      faults: FaultScript(text: "path=/photos hits=1..2 status=503 retry-after=1"),
      orders: ["/photos"]
    )
    defer { store.stop() }
    let waits = Mutex<[Duration]>([])
    let transport = try CurlTransport(Self.options(store))
    let upload = PictureUpload(
      to: try UploadDestination(
        "\(store.baseURL)/photos",
        token: "s3cret\n",
        parser: CurlURLParser()
      ),
      text: "",
      transport: transport,
      random: { 0 },
      pause: { wait in waits.withLock { $0.append(wait) } }
    )

    let picture = try Self.picture()
    let result = upload.deliver(picture, Self.written(picture))

    #expect(result.error == nil)
    #expect(
      result.upload
        == PictureResult.Upload(isAccepted: true, status: 200, message: "thanks", attempts: 3)
    )
    #expect(waits.withLock { $0 } == [.seconds(1), .seconds(1)])
    #expect(store.orders.map(\.status) == [503, 503, 200])
    #expect(Set(store.orders.map(\.body)).count == 1)
    let keys = store.orders.map { $0.headers.first { $0.name == "Idempotency-Key" }?.value }
    #expect(keys[0]?.count == 36)
    #expect(Set(keys).count == 1)
    #expect(store.orders[0].headers.contains { $0.name == "token" && $0.value == "s3cret" })
  }

  @Test func `later runs send a photo again only if it did not arrive`()
    throws
  {
    let store = try SampleStore(
      SampleContent(["/photos": Resource(json: #"{"success": true}"#)]),
      faults: FaultScript(text: "path=/photos hits=1 status=500"),
      orders: ["/photos", "/others"]
    )
    defer { store.stop() }
    let folder = try TemporaryFolder()
    let picture = try Self.picture()
    func run(_ path: String = "photos", text: String = "up") throws -> PictureResult.Upload? {
      let upload = PictureUpload(
        to: try UploadDestination("\(store.baseURL)/\(path)", token: nil, parser: CurlURLParser()),
        text: text,
        transport: try CurlTransport(Self.options(store)),
        memory: try UploadMemory(in: FilePath(folder.path(""))),
        pause: { _ in }
      )
      return upload.deliver(picture, Self.written(picture)).upload
    }

    let runs = try (0..<3).map { _ in try run() }
    let renamed = try run(text: "down")

    #expect(runs.map(\.?.isAccepted) == [false, true, true])
    #expect(runs.map(\.?.attempts) == [1, 1, 0])
    #expect(renamed?.attempts == 1)
    #expect(store.orders.count == 3)
  }

  /// An uploader that never waits.
  private static func upload(to store: SampleStore) throws -> PictureUpload {
    PictureUpload(
      to: try UploadDestination("\(store.baseURL)/photos", token: nil, parser: CurlURLParser()),
      text: "",
      transport: try CurlTransport(options(store)),
      pause: { _ in }
    )
  }

  @Test func `a server that asks for an hour's rest gets no further photo in this run`() throws {
    let store = try SampleStore(
      SampleContent(["/photos": Resource(json: #"{"success": true}"#)]),
      faults: FaultScript(text: "path=/photos status=429 retry-after=3600"),
      orders: ["/photos"]
    )
    defer { store.stop() }
    let upload = try Self.upload(to: store)
    let picture = try Self.picture()

    let results = (0..<3).map { _ in upload.deliver(picture, Self.written(picture)) }

    #expect(store.requestCounts["/photos"] == 1)
    #expect(results.map(\.upload?.attempts) == [1, 0, 0])
    for result in results {
      #expect(
        result.error?.description.contains("asked-to-wait; the host asks to wait until 2") == true
      )
    }
  }

  @Test func `a file is owed to a server until this server has accepted what it holds`() throws {
    let store = try SampleStore(
      SampleContent(["/photos": Resource(json: #"{"success": true}"#)]),
      orders: ["/photos", "/others"]
    )
    defer { store.stop() }
    let folder = try TemporaryFolder()
    let picture = try Self.picture()
    let (output, copy) = (folder.path("a.png"), folder.path("b.png"))
    for name in ["a.png", "b.png"] { try folder.write(picture.contents(), to: name) }
    func upload(_ path: String = "photos") throws -> PictureUpload {
      PictureUpload(
        to: try UploadDestination("\(store.baseURL)/\(path)", token: nil, parser: CurlURLParser()),
        text: "",
        transport: try CurlTransport(Self.options(store)),
        memory: try UploadMemory(in: FilePath(folder.path("")))
      )
    }
    let result = PictureResult(input: "in.png", output: output)

    #expect(try upload().isOwed(FilePath(output)))
    _ = try upload().deliver(picture, result)
    #expect(try !upload().isOwed(FilePath(output)))
    #expect(try upload().isOwed(FilePath(copy)))
    #expect(try upload("others").isOwed(FilePath(output)))
    _ = try upload("others").deliver(picture, result)
    #expect(try !upload("others").isOwed(FilePath(output)))
    try folder.write(picture.contents() + [0], to: "a.png")
    #expect(try upload().isOwed(FilePath(output)))
  }

  @Test(arguments: ["close", "reset", "status=500", "status=503", "status=302", "truncate=5"])
  func `a photo that may have arrived is sent only once`(_ fault: String) throws {
    let store = try SampleStore(
      SampleContent(["/photos": Resource(json: #"{"success": true}"#)]),
      faults: FaultScript(text: "path=/photos \(fault)"),
      orders: ["/photos"]
    )
    defer { store.stop() }
    let upload = try Self.upload(to: store)

    let picture = try Self.picture()
    let result = upload.deliver(picture, Self.written(picture))

    #expect(store.orders.count == 1)
    #expect(result.upload?.isAccepted == false)
    #expect(result.error?.code == .undelivered)
    #expect(result.output == "out/a.png")
  }

  @Test func `an unreachable server is retried, and then reported`() throws {
    let store = try SampleStore(SampleContent())
    store.stop()
    let waits = Mutex(0)
    let upload = PictureUpload(
      to: try UploadDestination("\(store.baseURL)/photos", token: nil, parser: CurlURLParser()),
      text: "",
      transport: try CurlTransport(Self.options(store)),
      pause: { _ in waits.withLock { $0 += 1 } }
    )

    let picture = try Self.picture()
    let result = upload.deliver(picture, Self.written(picture))

    #expect(result.error?.code == .unreachable)
    #expect(result.upload?.attempts == 5)
    #expect(waits.withLock { $0 } == 4)
  }

  @Test func `a PNG is sent as a JPEG, after the fields`() throws {
    let picture = try Self.picture()
    let form = try PictureFile(picture.bytes).asJPEG()

    let filled = MultipartForm(
      time: picture.time?.civil,
      text: "",
      jpeg: form,
      fileName: "a.jpg"
    )

    let text = String(decoding: filled.bytes, as: UTF8.self)
    let time = try #require(text.range(of: "\r\n\r\n2021-01-13 06:30:00\r\n"))
    let image = try #require(text.range(of: "name=\"image\"; filename=\"a.jpg\""))
    #expect(time.lowerBound < image.lowerBound)
    #expect(PictureFormat(sniffing: form) == .jpeg)
  }

  private static func written(_ picture: EncodedPicture) -> PictureResult {
    PictureResult(input: "a.png", output: "out/a.png", summary: picture.summary)
  }

  /// A stamped PNG with a known time.
  static func picture() throws -> EncodedPicture {
    var stamp = Stamp(crop: Crop(), time: .given(instant: 1_610_519_400, offset: 0))
    stamp.zone = .utc
    let bitmap = Bitmap(
      width: 64,
      height: 64,
      layout: .rgb,
      samples: Array(repeating: 90, count: 64 * 64 * 3)
    )
    return try stamp.apply(to: PictureFile(bitmap.png()))
  }

  private static func options(_ store: SampleStore) -> TransportOptions {
    var options = TransportOptions()
    options.namedHosts = [HostPort(host: "127.0.0.1", port: store.port)]
    return options
  }
}
