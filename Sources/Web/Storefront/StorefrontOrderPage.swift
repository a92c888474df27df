import Base
import Catalog
import Orders

extension OrderState: PageCase {}
extension Delivery.State: PageCase {}

/// The template data of an order: its progress, and the delivery of the message about it.
struct OrderTicket {
  /// A step of the progress: ordered, preparing, ready or collected.
  struct Step {
    let state: OrderState
    let tone: String
    let isCurrent: Bool
    let time: MomentView?
  }

  let id, address, summary, by, total, ago, speech: String
  let placed: MomentView
  let state: OrderState
  /// The delivery of the message that tells the shop about the order.
  let delivery: Delivery.State
  /// Whether an attempt to deliver this message was made.
  let wasTried: Bool
  let steps: [Step]
  /// The time when the order was cancelled; nil if it was not, or if the page shows several orders.
  let ended: MomentView?
  /// Whether the page shows only this order, with times and with a sentence about the delivery.
  let isAlone: Bool

  init(_ entry: Order, _ visit: StorefrontRequest, isAlone: Bool) {
    let order = entry.order
    func moment(_ state: OrderState) -> MomentView? {
      guard isAlone, let change = entry.history.last(where: { $0.state == state }) else {
        return nil
      }
      // There is no room for the year below a step.
      return MomentView(UnixTime(change.time.seconds), visit.clock, isShort: true)
    }
    let states: [OrderState] = [.ordered, .preparing, .ready, .collected]
    let now = states.firstIndex(of: entry.state) ?? 0
    steps = states.enumerated().map { place, state in
      let isDone = place < now || state == .collected && place == now
      return Step(
        state: state,
        tone: isDone ? "done" : place == now ? "now" : "",
        isCurrent: place == now,
        time: moment(state)
      )
    }
    ended = moment(.cancelled)
    (state, delivery) = (entry.state, entry.delivery.state)
    wasTried = entry.delivery.attempts > 0
    self.isAlone = isAlone
    id = order.id.rawValue
    address = StorefrontAddress.order(id)
    summary = PlainText.line(visit.language.summary(of: order.lines))
    by = PlainText.line(order.by)
    total = order.total.formatted()
    placed = MomentView(UnixTime(order.placed.seconds), visit.clock)
    ago = visit.language.ago(seconds: visit.clock.now.seconds - order.placed.seconds)
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

  init(_ visit: StorefrontRequest, _ entries: [Order], all: Int, page: Int) {
    count = all > 0 ? visit.language.count(all, "order", "orders", "주문") : ""
    orders = entries.map { OrderTicket($0, visit, isAlone: false) }
    isLive = entries.contains(where: \.isMoving)
    pages = PageLink.all(page, of: (all + Self.pageSize - 1) / Self.pageSize, visit.language) {
      $0 == 1 ? "/orders" : "/orders?page=\($0)"
    }
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

  let order: OrderTicket
  let lines: [Line]
  let note, zone: String
  let isOpen, isPlaced, isAgain, isLate, isLive: Bool

  init(_ visit: StorefrontRequest, _ entry: Order) {
    order = OrderTicket(entry, visit, isAlone: true)
    note = entry.note.map(PlainText.block) ?? ""
    zone = visit.clock.zone
    lines = entry.lines.map {
      Line(
        title: PlainText.line($0.title),
        address: StorefrontAddress.item($0.item),
        price: $0.price.formatted(),
        sum: $0.price.times($0.quantity)?.formatted() ?? "–",
        quantity: $0.quantity
      )
    }
    isOpen = entry.state.refusal(of: .cancelled) == nil
    isLive = entry.isMoving
    let told = visit.asked("told")
    (isPlaced, isAgain, isLate) = (told == "placed", told == "again", told == "late")
  }
}

extension Order {
  /// Whether the order's state or its delivery can still change, so that the page reloads itself.
  fileprivate var isMoving: Bool {
    let isSent = [.delivered, .dead, .ambiguous].contains(delivery.state)
    return !(isSent && (state == .collected || state == .cancelled))
  }
}
