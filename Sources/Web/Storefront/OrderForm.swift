import Base
import Catalog
import Orders
import Pipeline

/// The two limits on an order's total: the server's limit, and the budget that the visitor typed.
struct OrderBudget: Equatable {
  /// The server's limit for every order; nil if there is none.
  let house: Price?
  /// The visitor's budget; nil if the field is empty or has no valid amount.
  let own: Price?
  /// Whether the visitor typed something that is not an amount, such as `much`.
  let isUnread: Bool

  init(house: Price?, typed: String, currency: String) {
    self.house = house?.currency == currency ? house : nil
    own =
      typed.isEmpty
      ? nil
      : (try? Price(parsing: typed, currency: currency)).flatMap { $0.minorUnits > 0 ? $0 : nil }
    isUnread = !typed.isEmpty && own == nil
  }

  /// The lower of the two limits; nil if there is no limit.
  var most: Price? {
    guard let house, let own else { return house ?? own }
    return own.minorUnits < house.minorUnits ? own : house
  }

  /// Whether a total exceeds the lower limit.
  func isExceeded(_ total: Price) -> Bool {
    most.map { total.minorUnits > $0.minorUnits } ?? false
  }

  /// The difference between a total and the lower limit; nil if there is no limit, or on overflow.
  func difference(to total: Price) -> Price? {
    guard let most else { return nil }
    let (left, overflow) = most.minorUnits.subtractingReportingOverflow(total.minorUnits)
    guard !overflow, left != .min else { return nil }
    return Price(minorUnits: abs(left), currency: total.currency)
  }
}

/// A reason why a form cannot become an order.
enum OrderFault: String, PageCase {
  case name, note, quantity, trouble, budget, budgetText, price, tooMuch, outdated, empty
  /// An error that occurred while the order was placed.
  case other
}

/// An order form that the visitor has sent.
///
/// It orders exactly the lines that it showed, even if the visitor has changed the basket in another window since.
struct OrderForm {
  let draft: StorefrontDraft
  /// The items and quantities in the form.
  let basket: StorefrontBasket
  /// Whether every quantity is a valid number.
  let isCounted: Bool
  /// The price that the visitor saw for each item, by item id, in minor units such as cents.
  let prices: [ExactText: Int]
  /// The random part of the future order's id; nil if the form has none.
  ///
  /// The page chose it, so a form that is sent twice has the same id twice, and places only one order.
  let chance: OrderID.Nonce?
  /// The total that the visitor saw, in minor units such as cents.
  let seen: Int?

  init(_ visit: StorefrontRequest) {
    draft = StorefrontDraft(visit)
    var isCounted = true
    basket = StorefrontBasket(form: visit.form, isRead: &isCounted)
    self.isCounted = isCounted
    var prices: [ExactText: Int] = [:]
    var item: String?
    for (name, value) in visit.form {
      if name == "item" { item = value }
      if name == "price", let item { prices[item.exact] = Int(value) }
    }
    self.prices = prices
    chance = visit.posted("key").flatMap(OrderID.Nonce.init)
    seen = visit.posted("total").flatMap { Int($0) }
  }

  /// The reasons why the form cannot become an order; empty if it can.
  ///
  /// If prices have changed since the form was shown, the new prices are shown before anything is ordered.
  func faults(_ bill: BasketBill, _ budget: OrderBudget) -> [OrderFault] {
    var faults: [OrderFault] = []
    if bill.lines.isEmpty { return [.empty] }
    if draft.by.isEmpty || draft.by.count > OrderRequest.longestName { faults.append(.name) }
    if draft.note.count > StorefrontDraft.longestNote { faults.append(.note) }
    if !isCounted { faults.append(.quantity) }
    if bill.lines.contains(where: { $0.trouble != nil }) { faults.append(.trouble) }
    if budget.isUnread { faults.append(.budgetText) }
    guard let total = bill.total else { return faults + [.tooMuch] }
    if budget.isExceeded(total) { faults.append(.budget) }
    return faults.isEmpty && !hasSeen(bill) ? [.price] : faults
  }

  /// Whether the prices and the total that the visitor saw are still the current ones.
  private func hasSeen(_ bill: BasketBill) -> Bool {
    seen == bill.total?.minorUnits
      && bill.lines.allSatisfy { prices[$0.id.exact] == $0.item?.price?.minorUnits }
  }

  /// The request to place the order that the form describes.
  func orderDraft(_ budget: OrderBudget, _ language: Language) -> OrderRequest {
    var order = OrderRequest(
      by: draft.by,
      items: basket.lines.map { OrderRequest.Item($0.id, quantity: $0.quantity) },
      locale: language.rawValue
    )
    order.note = draft.note.isEmpty ? nil : draft.note
    order.budget = budget.most
    return order
  }

  /// Whether an order has the name, the note, the items and the quantities of this form.
  func isSame(as order: PlacedOrder) -> Bool {
    order.by == draft.by && (order.note ?? "") == draft.note
      && order.lines.map(\.item.exact) == basket.lines.map(\.id.exact)
      && order.lines.map(\.quantity) == basket.lines.map(\.quantity)
  }
}
