import Testing

@testable import Orders

/// Orders whose random bits are chosen before they are placed, for example by an order form.
@Suite struct OnceTests {
  private func order(_ chance: OrderID.Nonce, at seconds: Int64) -> PlacedOrder {
    let order = Shelf.order(at: OrderTime(seconds: seconds))
    return PlacedOrder(
      id: OrderID(at: order.placed, chance: chance),
      by: order.by,
      lines: order.lines,
      total: order.total,
      note: nil,
      language: .korean,
      placed: order.placed
    )
  }

  @Test func `an order with the same nonce is stored once, whenever it is placed again`() throws {
    let shelf = try Shelf()
    let chances = (0..<2).map { _ in OrderID.Nonce() }
    let first = order(chances[0], at: 1_700_000_000)

    let placed = try shelf.outbox().place(first)
    let again = try shelf.outbox().place(order(chances[0], at: 1_700_000_900))
    let other = try shelf.outbox().place(order(chances[1], at: 1_700_000_900))

    #expect(placed == first.id && again == first.id && other != first.id)
    #expect(try shelf.outbox().orders().map(\.order.id) == [first.id, other])
    #expect(try shelf.outbox().order(chances[0])?.order == first)
    #expect(try shelf.outbox().order(OrderID.Nonce()) == nil)
  }

  @Test(arguments: [
    ("0123456789abcdef", true), ("0123456789abcde", false), ("0123456789abcdefg", false),
    ("0123456789ABCDEF", false), ("0123456789abcdeu", false), ("0123456789abcd%_", false),
    ("", false),
  ])
  func `only the digits of an id are a nonce`(_ text: String, _ isOne: Bool) {
    #expect((OrderID.Nonce(text) != nil) == isOne)
  }

  @Test func `the latest orders are first, in pages`() throws {
    let shelf = try Shelf()
    let ids = try shelf.place(5)

    let page = try shelf.outbox().latest(2, after: 1)

    #expect(page.entries.map(\.order.id) == [ids[3], ids[2]])
    #expect(page.all == 5)
    #expect(try shelf.outbox().latest(2, after: 9).entries.isEmpty)
  }
}
