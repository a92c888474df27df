import Foundation
import Larder
import SampleStore
import Support
import Synchronization
import Testing

/// Orders placed by a program that imports only Larder.
@Suite struct OrderBookTests {
  private let store: SampleShop
  private let folder: TemporaryFolder
  private let shop: Shop
  private let book: OrderBook

  init() async throws {
    store = try SampleShop()
    folder = try TemporaryFolder()
    shop = Shop(try store.catalog(), cache: folder.path("cache"), environment: [:])
    book = OrderBook(folder.path("orders.sqlite"))
    try await shop.sync()
  }

  private var request: OrderRequest {
    OrderRequest(by: "Jiyeon", items: [.init("A1", quantity: 2), .init("B1")])
  }

  @Test func `an order is on disk when it is placed, and delivered once when it is sent`()
    async throws
  {
    let placed = try await book.place(request, from: shop)
    #expect(placed.total == Price(minorUnits: 21_000, currency: "KRW"))
    #expect(placed.delivery.state == .queued && placed.state == .ordered)
    #expect(try await book.orders() == [placed])

    let webhook = try Webhook.slack("\(store.store.baseURL)/orders")
    let first = try await book.send(to: webhook)
    let second = try await book.send(to: webhook)

    #expect(first.delivered == [placed.id] && second.delivered.isEmpty)
    #expect(store.store.orders.count == 1)
    #expect(try await book.orders().map(\.delivery.state) == [.delivered])
    #expect(try await book.cancel(placed.id).state == .cancelled)
    let late = await #expect(throws: LarderError.self) { try await book.cancel(placed.id) }
    #expect(late?.code == .refused && late?.thing == placed.id.rawValue)
  }

  @Test func `an invalid order is an error with a code, and is not stored`() async throws {
    var unknown = request
    unknown.items = [.init("A9")]
    var dear = request
    dear.budget = Price(minorUnits: 20_999, currency: "KRW")
    var nobody = request
    nobody.by = ""
    let cases: [(OrderRequest, LarderError.Code)] = [
      (unknown, .notFound), (dear, .refused), (nobody, .argument),
    ]
    for (request, code) in cases {
      let error = await #expect(throws: LarderError.self) {
        try await book.place(request, from: shop)
      }
      #expect(error?.code == code)
      #expect(error.map { !$0.description.contains("--") } == true)
    }
    #expect(try await book.orders().isEmpty)
  }

  @Test func `a webhook's URL appears in no error`() {
    for url in ["http://hooks.example/secret", "secret", "https://a/secret https://b/secret"] {
      let error = #expect(throws: LarderError.self) { try Webhook.slack(url) }
      #expect(error?.code == .argument)
      #expect(error.map { !"\($0)".contains("secret") } == true)
    }
  }

  @Test func `an unreachable webhook is reported, and the order waits`() async throws {
    _ = try await book.place(request, from: shop)
    var options = OrderBook.SendOptions()
    options.patience = .zero
    let nobody = try ClosedPort()

    let sent = try await book.send(to: .slack(nobody.baseURL), options)

    #expect(sent.delivered.isEmpty && sent.queued == 1 && sent.unreachable != nil)
    #expect(try await book.orders().map(\.delivery.state) == [.queued])
  }

  @Test func `a given transport and clock deliver orders instead of the network`()
    async throws
  {
    let webhook = try Webhook.slack("https://hooks.example/services/T/B/X")
    let receiver = Receiver()
    let hours = Mutex(0.0)
    let book = OrderBook(folder.path("own.sqlite"), transport: receiver) {
      Date(timeIntervalSince1970: 1_800_000_000 + hours.withLock { $0 } * 3600)
    }
    let placed = try await book.place(request, from: shop)
    var options = OrderBook.SendOptions()
    options.patience = .zero

    receiver.answers(ShopResponse(status: 503))
    let early = try await book.send(to: webhook, options)
    receiver.answers(ShopResponse(body: Array("ok".utf8)))
    let still = try await book.send(to: webhook, options)
    hours.withLock { $0 = 24 }
    let late = try await book.send(to: webhook, options)

    #expect(early.delivered.isEmpty && early.queued == 1)
    #expect(still.delivered.isEmpty && still.queued == 1)
    #expect(late.delivered == [placed.id])
    #expect(receiver.asked.map(\.method) == [.post, .post])
    #expect(
      receiver.asked.allSatisfy { $0["content-type"]?.hasPrefix("application/json") == true }
    )
    #expect(
      receiver.asked.allSatisfy {
        String(decoding: $0.body ?? [], as: UTF8.self).contains("Jiyeon")
      }
    )
  }

  @Test func `a message is held when its transport cannot tell whether it arrived`()
    async throws
  {
    let receiver = Receiver()
    let book = OrderBook(folder.path("own.sqlite"), transport: receiver)
    let placed = try await book.place(request, from: shop)

    let sent = try await book.send(to: .slack("https://hooks.example/services/T/B/X"))

    #expect(sent.delivered.isEmpty && sent.held == [placed.id])
    #expect(receiver.asked.count == 1)
  }
}

/// A webhook whose answers a test sets.
///
/// It throws while it has no answer.
private final class Receiver: ShopTransport {
  private struct State {
    var answer: ShopResponse?
    var asked: [ShopRequest] = []
  }

  private let state = Mutex(State())

  var asked: [ShopRequest] { state.withLock { $0.asked } }

  func answers(_ response: ShopResponse) { state.withLock { $0.answer = response } }

  func respond(to request: ShopRequest) async throws -> ShopResponse {
    let answer = state.withLock { state in
      state.asked.append(request)
      return state.answer
    }
    guard let answer else { throw CancellationError() }
    return answer
  }
}
