import Cache
import CurlTransport
import Support
import Synchronization
import Testing
import Transport

@testable import Pipeline

/// For which pictures a run has connections opened before its sections are there.
struct ExpectedPicturesTests {
  /// Passes everything on, and notes which connections are wanted.
  private final class NotingTransport: Fetching, URLParsing {
    private let transport: CurlTransport
    private let noted = Mutex<[ExpectedRequests]>([])

    init(_ transport: CurlTransport) { self.transport = transport }

    /// What was expected so far.
    var expected: [ExpectedRequests] { noted.withLock { $0 } }

    func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
      try transport.parse(text, relativeTo: base)
    }

    func fetch(
      _ request: Request,
      into sink: any BodySink,
      completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
    ) {
      transport.fetch(request, into: sink, completion: completion)
    }

    func fields(of request: Request) -> Headers { transport.fields(of: request) }

    func connect(ahead expected: [ExpectedRequests]) {
      noted.withLock { $0 += expected }
      transport.connect(ahead: expected)
    }

    func cancelAll() { transport.cancelAll() }
  }

  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: 4)
  }

  /// What a run expects, and its report.
  private func sync(warm: Bool = false) throws -> ([ExpectedRequests], SyncReport) {
    let curl = try CurlTransport(shop.transportOptions())
    defer { curl.shutdown() }
    let transport = NotingTransport(curl)
    var options = SyncOptions()
    options.onlyDue = warm
    let clock = shop.clock
    let report = try SyncRun(
      try shop.catalog(),
      folder: folder.path,
      cache: folder.path("cache"),
      options: options,
      transport: transport,
      disk: SystemDisk(durable: false),
      now: { clock.now }
    ).run(holder: "a test")
    return (transport.expected, report)
  }

  @Test func `a first run knows nothing to expect, the next one what is due of its sections`()
    throws
  {
    let (first, _) = try sync()
    let requests = shop.store.requests.count
    shop.clock.advance(4000)

    let (second, report) = try sync()

    #expect(first.isEmpty)
    #expect(second.map(\.request.url.port) == [shop.store.port])
    #expect(second.map(\.count) == [8])
    #expect(report.images.revalidated == report.images.unique)
    // Nothing was asked but what the report counts.
    #expect(shop.store.requests.count - requests == report.requests)
  }

  @Test func `an unattended run, which waits for its sections, expects nothing`() throws {
    _ = try sync()
    shop.clock.advance(4000)

    let (expected, report) = try sync(warm: true)

    #expect(expected.isEmpty)
    #expect(report.images.revalidated > 0)
  }

  @Test func `only what is due counts`() {
    let states: [PictureID: PictureState] = [
      PictureID(IdentityDigest(high: 0, low: 1)): PictureState(
        expiry: 2000,
        checked: 900,
        content: 7
      ),
      PictureID(IdentityDigest(high: 0, low: 2)): PictureState(
        expiry: 950,
        checked: 900,
        content: 7
      ),
      PictureID(IdentityDigest(high: 0, low: 3)): PictureState(
        expiry: 2000,
        checked: 900,
        content: 0
      ),
    ]

    let due = ExpectedPictures.due(
      among: [1, 2, 3, 4].map { PictureID(IdentityDigest(high: 0, low: UInt64($0))) },
      states,
      at: 1000
    )

    // The first is fresh; the fourth was never seen.
    #expect(
      due == [
        PictureID(IdentityDigest(high: 0, low: 2)), PictureID(IdentityDigest(high: 0, low: 3)),
      ]
    )
  }

  @Test func `each host is told once, with how many requests it may expect, the busiest first`()
    throws
  {
    let urls = try ["http://a.example/1", "https://b.example/1", "https://b.example/2"]
      .map { try CurlURLParser.parse($0) }

    let expected = ExpectedPictures.requests(for: urls, from: NamedOrigins())

    #expect(expected.map(\.request.url.host) == ["b.example", "a.example"])
    #expect(expected.map(\.count) == [2, 1])
    #expect(expected.map(\.connections) == [1, 1])
    #expect(expected.allSatisfy { $0.request.trust == .discovered })
  }
}
