import Base
import Cache
import Catalog
import Foundation
import Support
import Testing

@testable import Pipeline
@testable import Web

/// The price line in the report and in the store.
@Suite struct PriceLineTests {
  // 14 November 2023.
  private static let now = ReportFixture.now
  private static let clock = ReportFixture.clock

  /// A line with price steps some days ago; nil for a time without a price.
  private static func line(_ steps: [(daysAgo: Int64, units: Int?)]) -> PriceLine {
    PriceLine(
      steps.map { step in
        PriceLine.Step(
          time: now + -step.daysAgo * 86_400,
          price: step.units.map { Price(minorUnits: $0, currency: "USD") }
        )
      }
    )
  }

  private static func item(
    _ steps: [(daysAgo: Int64, units: Int?)],
    lowest: (units: Int, daysAgo: Int64)? = nil
  ) -> ShownItem {
    var item = ReportFixture.item("1", sale: steps.last?.units)
    item.priceLine = line(steps)
    item.lowest30Days = lowest.map {
      LowestPrice(
        price: Price(minorUnits: $0.units, currency: "USD"),
        time: now + -$0.daysAgo * 86_400
      )
    }
    return item
  }

  private static func view(
    _ item: ShownItem,
    _ language: PageLanguage = .english
  ) throws -> PriceLineView {
    try #require(PriceLineView(item, clock, language))
  }

  @Test func `a line is level until the price changes, and its lowest point is marked`() throws {
    let falling = try Self.view(Self.item([(40, 700), (20, 500), (10, 600)], lowest: (500, 20)))
    let rising = try Self.view(Self.item([(40, 500), (20, 600)], lowest: (500, 40)))

    #expect(falling.path == "M4 4H64V36H94V20H124")
    #expect(falling.x == 64 && falling.y == 36)
    #expect(rising.path == "M4 36H64V4H124" && rising.x == 4 && rising.y == 36)
  }

  @Test func `the caption gives the lowest price of 30 days in both languages`() throws {
    let item = Self.item([(40, 700), (20, 500), (10, 600)], lowest: (500, 20))
    let english = try Self.view(item)
    let korean = try Self.view(item, .korean)

    #expect(english.words == "$5.00 – lowest in 30 days (25 Oct)")
    #expect(korean.words == "$5.00 – 30일 최저가 (10월 25일)")
    #expect(english.lowest == nil)
  }

  @Test func `a lower price before the 30 days is shown with its own day`() throws {
    let view = try Self.view(
      Self.item([(400, 700), (200, 300), (100, 600)], lowest: (600, 100))
    )

    #expect(view.words == "$6.00 – lowest in 30 days (6 Aug)")
    #expect(view.lowest?.name == "Lowest since 14 Nov 2022")
    #expect(view.lowest?.value == "$3.00 (28 Apr)")
  }

  @Test func `a price that vanished ends the line, and one that returns leaves a gap`() throws {
    let gone = try Self.view(Self.item([(40, 700), (20, nil)]))
    let back = try Self.view(Self.item([(40, 700), (30, nil), (20, 500)], lowest: (500, 20)))

    #expect(gone.path == "M4 20H64")
    #expect(gone.words == "$7.00 until 25 Oct")
    #expect(gone.lowest == nil)
    #expect(back.path == "M4 4H34M64 36H124")
    #expect(try Self.view(Self.item([(40, 700), (20, nil)]), .korean).words == "10월 25일까지 $7.00")
  }

  @Test func `a price in another currency is a gap`() throws {
    var item = Self.item([(40, 700), (20, 500)], lowest: (500, 20))
    let euros = PriceLine.Step(
      time: Self.now + -5_184_000,
      price: Price(minorUnits: 100, currency: "EUR")
    )
    item.priceLine = PriceLine([euros] + (item.priceLine?.steps ?? []))

    #expect(try Self.view(item).path == "M4 4H64V36H124")
  }

  @Test func `a price that changes every hour gives a line of few points, including its lowest`()
    throws
  {
    let steps = (0..<8760).map { hour in
      PriceLine.Step(
        time: Self.now + -Int64(8760 - hour) * 3600,
        price: Price(
          minorUnits: hour == 5000 ? 1 : 500 + hour * 7919 % 400,
          currency: "USD"
        )
      )
    }
    var item = Self.item([(1, 500)])
    item.priceLine = PriceLine(steps)
    let view = try Self.view(item)

    #expect(view.path.utf8.count < 700)
    #expect(view.path.contains("V36") && view.y == 36 && view.x == 72)
  }

  @Test func `only a card whose price changed has a line`() throws {
    let moved = Self.item([(40, 700), (20, 500)], lowest: (500, 20))
    let page = try ReportFixture.page(
      ReportFixture.data([moved, ReportFixture.item("2", title: "반찬")])
    )

    #expect(page.split(separator: "<p class=l").count == 2)
    // The words beside it say what it shows.
    #expect(page.contains("<p class=l><svg viewBox=\"0 0 128 40\" aria-hidden=true>"))
    #expect(page.contains("<span>$5.00 – lowest in 30 days (25 Oct)</span></p>"))
  }

  @Test func `the caption in a shop of another language has its own lang attribute`() throws {
    var item = Self.item([(40, 700), (20, 500)], lowest: (500, 20))
    item.item.title = "반찬"
    let page = try ReportFixture.page(ReportFixture.data([item]))

    #expect(page.contains("<p class=l lang=en>"))
  }

  @Test func `an item's page of the store has the line once its price changed`() async throws {
    let visitor = try StoreFixture(items: 2)
    #expect(await !visitor.get("/items/A1").html.contains("<p class=l"))

    visitor.shop.clock.advance(3 * 86_400)
    visitor.shop.items["A"]?[0].price = "5,900원"
    try visitor.shop.publish()
    _ = try visitor.shop.sync(visitor.folder)
    visitor.clock.advance(visitor.shop.clock.now - visitor.clock.now + 3600)
    let english = await visitor.get("/items/A1").html
    let korean = await visitor.get("/items/A1", languages: "ko").html

    #expect(english.contains("5,900원 – lowest in 30 days ("))
    #expect(korean.contains("5,900원 – 30일 최저가 ("))
    #expect(await !visitor.get("/items/A2").html.contains("<p class=l"))
  }
}
