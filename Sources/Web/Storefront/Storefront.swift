import Base
import Catalog

/// The web store: pages that show a catalog, and forms that place orders.
///
/// The store itself sends nothing to the shop. It writes an order to the order database, and `larder order send` or
/// `larder warm` sends the order.
struct Storefront: Sendable {
  let content: ServerContent
  /// The square versions of pictures that the server offers.
  let squares: StorefrontSquares
  let sections = StorefrontSectionCache()
  /// The threads that make pages.
  ///
  /// The queue has no limit, because a connection waits for only one page at a time.
  private let reading = WorkPool(most: .max)
  /// The thread for the requests that can write orders.
  ///
  /// These requests wait for the disk and for other processes. On a thread of their own, they do not delay the others.
  private let ordering = WorkPool(threads: 1, most: .max)

  /// Creates the store of a server.
  init(_ content: ServerContent) {
    self.content = content
    squares = StorefrontSquares(content.squares)
  }

  /// The shop's name.
  var shop: String { PlainText.line(content.catalog.name) }

  /// Begins to answer a request for a page, a form or a style sheet.
  func outcome(of request: ServerRequest) -> Site.Outcome {
    guard !request.isForeign else {
      let words = "another site's page sent this; open the form here and send it again"
      return .now(.problem(403, words), .refused)
    }
    var form: [(name: String, value: String)] = []
    if request.method == .post {
      let type = request.headers.first(name: "Content-Type")?.split(separator: ";").first ?? ""
      guard type.lowercased() == "application/x-www-form-urlencoded" else {
        let words = "forms must be sent as application/x-www-form-urlencoded"
        return .now(.problem(415, words), .page)
      }
      guard let pairs = RequestTarget.pairs(request.body) else {
        return .now(.problem(400, "the form is malformed"), .page)
      }
      form = pairs
    }
    let path = request.target.path
    if request.method != .post, let asset = StorefrontAssets.answer(path) {
      return .now(asset, .page)
    }
    guard let route = StorefrontRoute(path) else { return .now(.problem(404, "not found"), .page) }
    return .later(.page) { [form, now = content.clock()] done in
      (route.methods.hasSuffix("POST") ? ordering : reading).make(
        { answer(StorefrontRequest(request, form: form, at: now), route) },
        done
      )
    }
  }

  private func answer(_ visit: StorefrontRequest, _ route: StorefrontRoute) -> Answer {
    guard route.methods.contains(visit.request.method.rawValue) else {
      return notice(
        visit,
        405,
        visit.say("Method not allowed.", "이렇게 요청할 수 없는 주소입니다."),
        visit.say("Nothing was done.", "아무것도 바뀌지 않았습니다."),
        [("allow", route.methods)]
      )
    }
    do {
      return try OpenStorefront(self, visit, route).answer()
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
      return notice(
        visit,
        500,
        visit.say("Something went wrong.", "문제가 생겼습니다."),
        visit.say(
          "The store's data could not be read or written. Nothing was ordered; try again later.",
          "저장된 자료를 읽거나 쓰지 못했습니다. 주문되지 않았으니 잠시 뒤 다시 시도해 주세요."
        )
      ).caused(by: error)
    }
  }

  /// The template data of a page with a single message.
  struct Notice: PageView {
    static let template = "storefront-notice"

    let status: Int
    let heading, message: String
  }

  /// A page with a message, which is shown instead of the requested page.
  func notice(
    _ visit: StorefrontRequest,
    _ status: Int,
    _ heading: String,
    _ message: String,
    _ fields: [(name: String, value: String)] = []
  ) -> Answer {
    StorefrontPage(title: heading, status: status, fields: fields)
      .answer(visit, shop: shop, Notice(status: status, heading: heading, message: message))
  }
}
