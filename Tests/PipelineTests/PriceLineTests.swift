import Base
import Support
import Testing

@testable import Cache
@testable import Catalog
@testable import Pipeline

/// An item's price line: the price that a customer pays, over a year.
@Suite struct PriceLineTests {
  private static let day: Int64 = 86_400

  /// The line of an item from day 70 on, as `day:price`, or `day:-` for no price.
  private func line(_ sale: Int?, normal: Int? = nil, _ steps: [PriceStep]) -> String? {
    func price(_ units: Int?) -> Price? { units.map { Price(minorUnits: $0, currency: "KRW") } }
    let item = StoreItem(
      id: "A1",
      title: "A1",
      normalPrice: price(normal),
      salePrice: price(sale)
    )
    let course = PriceCourse(of: item, steps, since: UnixTime(Self.day))
    return PriceLine(course, from: UnixTime(70 * Self.day))?.steps.map { step in
      "\(step.time.seconds / Self.day):\(step.price.map { "\($0.minorUnits)" } ?? "-")"
    }.joined(separator: " ")
  }

  private func step(_ day: Int64, _ field: HistoryField, _ value: HistoryValue?) -> PriceStep {
    PriceStep(run: day, time: UnixTime(day * Self.day), field: field, value: value)
  }

  private func sale(_ day: Int64, _ units: Int64?) -> PriceStep {
    step(day, .salePrice, units.map { .price($0, currency: "KRW") })
  }

  @Test func `a price line begins with the price in force, and has each later change`() {
    #expect(line(7000, [sale(1, 9000), sale(60, 5000), sale(80, 7000)]) == "60:5000 80:7000")
    #expect(line(7000, [sale(75, 9000), sale(80, 7000)]) == "75:9000 80:7000")
  }

  @Test func `without a later change there is no line`() {
    #expect(line(7000, []) == nil)
    #expect(line(7000, [sale(1, 9000), sale(70, 7000)]) == nil)
    #expect(line(7000, [step(80, .listed, .listed)]) == nil)
  }

  @Test func `an item that is absent for a time, or loses its price, leaves a gap`() {
    let gone = [step(1, .listed, .listed), step(75, .listed, nil), step(80, .listed, .listed)]
    #expect(line(7000, gone) == nil)
    #expect(line(7000, gone + [sale(1, 5000), sale(80, 7000)]) == "1:5000 75:- 80:7000")
    #expect(line(nil, [sale(1, 5000), sale(80, nil)]) == "1:5000 80:-")
    #expect(line(nil, normal: 8000, [sale(1, 5000), sale(80, nil)]) == "1:5000 80:8000")
  }

  @Test func `only items whose prices changed have lines`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 3)
    _ = try shop.sync(folder)
    let began = shop.clock.now
    shop.clock.advance(10 * Self.day)
    shop.items["B"]?[1].price = "5,900원"
    try shop.publish()
    _ = try shop.sync(folder)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)

    let lines = try reader.withPriceLines(reader.list()).map(\.priceLine)

    let expected = PriceLine([
      PriceLine.Step(time: began, price: Price(minorUnits: 7000, currency: "KRW")),
      PriceLine.Step(time: shop.clock.now, price: Price(minorUnits: 5900, currency: "KRW")),
    ])
    #expect(lines == [nil, nil, nil, nil, expected, nil])
  }
}
