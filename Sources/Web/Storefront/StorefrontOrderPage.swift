import Base
import Catalog
import Orders

/// The progress of an order in four steps: ordered, preparing, ready and collected.
///
/// For a cancelled order, the page shows the word for "cancelled" and the time instead.
struct OrderProgress {
  /// A step.
  struct Step {
    let title, tone: String
    let isCurrent: Bool
    let time: MomentView?
  }

  let steps: [Step]
  let isCancelled: Bool
  let stateWord: String
  /// The time when the order was cancelled; nil if it was not.
  let ended: MomentView?

  init(_ entry: Order, _ visit: StorefrontRequest, withTimes: Bool) {
    let order: [OrderState] = [.ordered, .preparing, .ready, .collected]
    let now = order.firstIndex(of: entry.state) ?? 0
    func moment(_ state: OrderState) -> MomentView? {
      guard withTimes, let change = entry.history.last(where: { $0.state == state }) else {
        return nil
      }
      // There is no room for the year below a step.
      return MomentView(UnixTime(change.time.seconds), visit.clock, isShort: true)
    }
    steps = order.enumerated().map { place, state in
      Step(
        title: visit.language.name(of: state),
        tone: place < now || state == .collected && place == now
          ? "done" : place == now ? "now" : "",
        isCurrent: place == now,
        time: moment(state)
      )
    }
    isCancelled = entry.state == .cancelled
    stateWord = visit.language.name(of: entry.state)
    ended = moment(.cancelled)
  }
}

/// The template data of an order in the list of orders.
struct OrderTicket {
  let address, summary, by, total, ago, tone, deliveryWord, state, speech: String
  let placed: MomentView
  let steps: [OrderProgress.Step]
  let isCancelled: Bool
  let stateWord: String
  let ended: MomentView?

  init(_ entry: Order, _ visit: StorefrontRequest) {
    let order = entry.order
    let progress = OrderProgress(entry, visit, withTimes: false)
    (steps, isCancelled, stateWord) = (progress.steps, progress.isCancelled, progress.stateWord)
    ended = progress.ended
    address = StorefrontAddress.order(order.id.rawValue)
    summary = PlainText.line(order.summary(in: visit.orderLanguage))
    by = PlainText.line(order.by)
    total = order.total.formatted()
    placed = MomentView(UnixTime(order.placed.seconds), visit.clock)
    ago = visit.orderLanguage.ago(seconds: visit.clock.now.seconds - order.placed.seconds)
    tone = entry.delivery.state.tone
    deliveryWord = visit.language.delivery(entry.delivery, of: entry.state).word
    state = entry.state.rawValue
    speech = ReportShelf.speech(PageLanguage.spoken(in: order.lines.map(\.title)))
  }
}

/// The template data of the list of orders.
struct StorefrontOrdersPage: PageView {
  static let template = "storefront-orders"

  /// The number of orders on a page.
  static let pageSize = 20

  /// The number of all orders in words, such as "3 orders"; empty if there are none.
  let count: String
  let orders: [OrderTicket]
  let isLive: Bool
  let pages: [PageLink]
  let message, way, wayWords: String

  init(_ visit: StorefrontRequest, _ entries: [Order], all: Int, page: Int) {
    count = all > 0 ? visit.language.count(all, "order", "orders", "주문") : ""
    orders = entries.map { OrderTicket($0, visit) }
    isLive = entries.contains(where: \.isMoving)
    pages = PageLink.all(page, of: (all + Self.pageSize - 1) / Self.pageSize, visit.language) {
      $0 == 1 ? "/orders" : "/orders?page=\($0)"
    }
    message = visit.say("Nothing has been ordered yet.", "아직 주문한 것이 없습니다.")
    (way, wayWords) = ("/", visit.say("See the store", "상품 보러 가기"))
  }
}

/// The template data of an order's page.
struct StorefrontOrderPage: PageView {
  static let template = "storefront-order"

  /// A line of the order.
  struct Line {
    let title, address, price, sum: String
    let quantity: Int
  }

  let id, summary, by, total, note, zone, tone, deliveryWord, deliveryText, cancel, token,
    speech: String
  let placed: MomentView
  let lines: [Line]
  let steps: [OrderProgress.Step]
  let isCancelled: Bool
  let stateWord: String
  let ended: MomentView?
  let isOpen, isPlaced, isAgain, isLate, isLive: Bool

  init(_ visit: StorefrontRequest, _ entry: Order, token: String) {
    let order = entry.order
    let progress = OrderProgress(entry, visit, withTimes: true)
    (steps, isCancelled, stateWord) = (progress.steps, progress.isCancelled, progress.stateWord)
    ended = progress.ended
    id = order.id.rawValue
    summary = PlainText.line(order.summary(in: visit.orderLanguage))
    by = PlainText.line(order.by)
    total = order.total.formatted()
    note = order.note.map(PlainText.block) ?? ""
    zone = visit.clock.zone
    placed = MomentView(UnixTime(order.placed.seconds), visit.clock)
    tone = entry.delivery.state.tone
    (deliveryWord, deliveryText) = visit.language.delivery(entry.delivery, of: entry.state)
    lines = order.lines.map {
      Line(
        title: PlainText.line($0.title),
        address: StorefrontAddress.item($0.item),
        price: $0.price.formatted(),
        sum: $0.price.times($0.quantity)?.formatted() ?? "–",
        quantity: $0.quantity
      )
    }
    speech = ReportShelf.speech(PageLanguage.spoken(in: order.lines.map(\.title)))
    isOpen = entry.state.refusal(of: .cancelled) == nil
    cancel = StorefrontAddress.order(id) + "/cancel"
    self.token = token
    isLive = entry.isMoving
    let told = visit.asked("told")
    (isPlaced, isAgain, isLate) = (told == "placed", told == "again", told == "late")
  }
}

extension Order {
  /// Whether the order's state or its delivery can still change, so that the page reloads itself.
  var isMoving: Bool {
    let isSent = [.delivered, .dead, .ambiguous].contains(delivery.state)
    return !(isSent && (state == .collected || state == .cancelled))
  }
}

extension Delivery.State {
  /// The CSS class that shows how good the state is: `good`, `warn` or `bad`.
  fileprivate var tone: String {
    switch self {
    case .delivered: "good"
    case .queued, .sending: "warn"
    case .ambiguous, .dead: "bad"
    }
  }
}

extension PageLanguage {
  /// The name of an order's state, such as "Preparing".
  func name(of state: OrderState) -> String {
    switch state {
    case .ordered: of("Ordered", "주문 접수")
    case .preparing: of("Preparing", "준비 중")
    case .ready: of("Ready", "준비 완료")
    case .collected: of("Collected", "수령 완료")
    case .cancelled: of("Cancelled", "취소됨")
    }
  }

  /// The state of the message that tells the shop about an order, as a word and as a sentence.
  func delivery(_ delivery: Delivery, of state: OrderState) -> (word: String, text: String) {
    switch delivery.state {
    case .queued where delivery.attempts == 0:
      return (
        of("queued", "전송 대기"),
        of("It will be sent with the next delivery run.", "다음 전송 때 상점에 보내집니다.")
      )
    case .queued:
      return (
        of("queued", "전송 대기"),
        of(
          "The shop could not be reached; the order will be sent again.",
          "상점에 연결하지 못해 다시 보냅니다."
        )
      )
    case .sending:
      return (of("sending", "전송 중"), of("It is on its way.", "지금 보내고 있습니다."))
    case .delivered:
      return (of("sent", "전송 완료"), of("It was sent to the shop.", "상점에 보냈습니다."))
    case .ambiguous:
      return (
        of("unclear", "확인 필요"),
        of(
          "It may have arrived: somebody has to decide whether to send it again.",
          "전달되었을 수도 있어, 다시 보낼지 사람이 정해야 합니다."
        )
      )
    case .dead where state == .cancelled:
      return (
        of("not sent", "보내지 않음"), of("It was cancelled before it was sent.", "보내기 전에 취소되었습니다.")
      )
    case .dead:
      return (
        of("not delivered", "전송 실패"),
        of("The shop rejected it.", "상점이 받지 않았습니다.")
      )
    }
  }
}
