import Base
import Cache
import Catalog
import Crypto
import Dispatch
import Pipeline
import Synchronization

/// The web store: pages about a catalog in a cache, and about the orders.
///
/// One instance serves all requests. The store itself sends nothing to the shop: an order is written to the outbox, and
/// `larder order send` or `larder warm` sends it.
package struct Storefront: Sendable {
  /// The cache's path.
  let cache: String
  /// The catalog's name; nil for the only one.
  let catalog: String?
  /// The path of the order database; nil when the store does not take orders.
  let orders: String?
  /// The highest total of an order; nil for no limit.
  let budget: Price?
  /// The sizes of squares in which pictures are served.
  let squares: StorefrontSquares
  /// CSRF key for forms; regenerated at each start.
  let key: SymmetricKey
  let shelving = StorefrontSectionCache()
  let sizes: PictureSizes
  private let lanes = StorefrontQueues()

  /// Creates a store over a cache and an order database.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - catalog: The catalog's name; nil for the only one.
  ///   - orders: The path of the order database; nil for a store that does not take orders.
  ///   - budget: The highest total of an order; nil for no limit.
  ///   - squares: The available sizes of squares, in pixels a side.
  package init(
    cache: String,
    catalog: String?,
    orders: String?,
    budget: Price? = nil,
    squares: [Int] = [128, 256, 512]
  ) {
    (self.cache, self.catalog, self.orders, self.budget) = (cache, catalog, orders, budget)
    self.squares = StorefrontSquares(squares)
    key = SymmetricKey(size: .bits256)
    sizes = PictureSizes(cache: cache)
  }

  /// Answers a request.
  ///
  /// Reads files and writes orders on threads of its own, so it does not block the caller's thread.
  ///
  /// - Parameter request: The request; for POST, with its complete form.
  /// - Returns: The answer; nil when the path is not one of the store's.
  package func answer(_ request: StorefrontExchange) async -> StorefrontAnswer? {
    if request.path.hasPrefix("/assets/") {
      return request.method == .get ? StorefrontAssets.answer(request.path) : nil
    }
    guard let route = StorefrontRoute(request.path) else { return nil }
    return await lanes.run(isOrder: route.takesForms) { answer(request, route) }
  }

  private func answer(_ request: StorefrontExchange, _ route: StorefrontRoute) -> StorefrontAnswer
  {
    let visit = StorefrontRequest(request)
    switch request.method {
    case .get where !route.isPage: return refused(visit, "POST")
    case .post where !route.takesForms: return refused(visit, "GET, HEAD")
    case .get: break
    case .post:
      if let refusal = FormRefusal.of(request, visit.session, key), refusal == .foreign {
        return notice(
          visit,
          403,
          visit.say("This form came from another site.", "다른 곳에서 보낸 요청입니다."),
          visit.say(
            "The store accepts only its own forms. Nothing was changed.",
            "상점의 화면에서 보낸 요청만 처리합니다. 아무것도 바뀌지 않았습니다."
          )
        )
      }
    }
    do {
      return try StorefrontOrders(self, visit).answer(route)
    } catch let error as LarderError where error.code == .empty || error.code == .ambiguous {
      return notice(
        visit,
        503,
        visit.say("The store is not open yet.", "아직 준비 중입니다."),
        visit.say(
          "There is no catalog to show: sync one first, or name one of several.",
          "보여 드릴 카탈로그가 없습니다. 먼저 카탈로그를 가져오거나 어느 카탈로그인지 정해 주세요."
        )
      )
    } catch {
      var answer = notice(
        visit,
        500,
        visit.say("Something went wrong.", "문제가 생겼습니다."),
        visit.say(
          "The store's data could not be read or written. Nothing was ordered; try again later.",
          "저장된 자료를 읽거나 쓰지 못했습니다. 주문되지 않았으니 잠시 뒤 다시 시도해 주세요."
        )
      )
      answer.cause = "\(error)"
      return answer
    }
  }

  // MARK: - Pages without a catalog

  /// The content of a page with a single message.
  struct Notice: PageView {
    static let template = "storefront-notice"

    let eyebrow, heading, message: String
    let way = "/"
    let wayWords: String
  }

  /// A page with a message, instead of the requested page.
  func notice(_ visit: StorefrontRequest, _ status: Int, _ heading: String, _ message: String)
    -> StorefrontAnswer
  {
    var page = StorefrontPage()
    page.status = status
    page.title = heading
    page.isPrivate = true
    let notice = Notice(
      eyebrow: "\(status)",
      heading: heading,
      message: message,
      wayWords: visit.say("To the store", "처음으로")
    )
    return finished(page, visit, notice, shelves: nil)
  }

  private func refused(_ visit: StorefrontRequest, _ allowed: String) -> StorefrontAnswer {
    var answer = notice(
      visit,
      405,
      visit.say("Method not allowed.", "이렇게 요청할 수 없는 주소입니다."),
      visit.say("Nothing was done.", "아무것도 바뀌지 않았습니다.")
    )
    answer.headers.append(("allow", allowed))
    return answer
  }

  /// Renders a page's main part within the frame that all pages share.
  func finished(
    _ page: StorefrontPage,
    _ visit: StorefrontRequest,
    _ view: some PageView,
    shelves: StorefrontSections?,
    shop: String? = nil
  ) -> StorefrontAnswer {
    let templates: PageTemplates
    do {
      templates = try PageTemplates.shared(visit.language)
    } catch {
      var answer = StorefrontAnswer(
        status: 500,
        headers: [("content-type", "text/plain; charset=utf-8")]
      )
      answer.cause = "\(error)"
      return answer
    }
    var page = page
    page.main = templates.html(view)
    let shop = PlainText.line(shop ?? catalog ?? "larder")
    return page.answer(visit, page.html(visit, shop, shelves, templates))
  }
}

/// The store's dispatch queues.
///
/// Their number is fixed, so that many visitors do not create many threads.
private final class StorefrontQueues: Sendable {
  private let reading: [DispatchQueue]
  /// The queue for requests that write orders: they wait for the disk and for other processes.
  ///
  /// The queue is separate, so that requests that only read do not wait too.
  private let ordering = DispatchQueue(label: "larder.store.orders")
  private let next = Atomic(0)

  init() {
    reading = (0..<4).map { DispatchQueue(label: "larder.store.\($0)") }
  }

  func run<Value: Sendable>(isOrder: Bool, _ body: @escaping @Sendable () -> Value) async -> Value
  {
    let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
    let lane = isOrder ? ordering : reading[Int(UInt(bitPattern: number) % UInt(reading.count))]
    return await withCheckedContinuation { continuation in
      lane.async { continuation.resume(returning: body()) }
    }
  }
}
