import Base
import Catalog
import Pipeline

/// A line chart of an item's price, 128 units wide and 40 high, and a sentence about the lowest price.
struct PriceLineView: Equatable {
  /// The line as the data of an SVG path, such as `M4 4H64V36H124`.
  ///
  /// The line is horizontal while the price stays the same, and vertical when it changes.
  let path: String
  /// The horizontal position at which the lowest price begins.
  let x: Int
  /// The vertical position of the lowest price.
  let y: Int
  /// The words below the chart, such as `$5.00 – lowest in 30 days (25 Oct)`.
  ///
  /// If the item has no price now, the words tell its last price and the day on which that price ended.
  let words: String
  /// The lowest price of the whole chart; nil unless it is lower than the lowest price of the last 30 days.
  let lowest: ItemFact?
  /// The `lang` attribute of the sentence, such as ` lang=en`; empty if the text around it is in the same language.
  let own: String

  /// Creates the chart of an item; nil if its price never changed.
  ///
  /// - Parameters:
  ///   - shown: The item.
  ///   - clock: The page's clock; the chart ends at its `now`.
  ///   - language: The language of the sentence.
  ///   - own: The `lang` attribute of the sentence, or an empty text.
  init?(_ shown: ShownItem, _ clock: PageClock, _ language: PageLanguage, own: String = "") {
    let all = shown.priceLine?.steps ?? []
    let currency = shown.item.price?.currency ?? all.compactMap(\.price).last?.currency
    // A price in another currency becomes a gap.
    let priced = all.map { step in
      let price = step.price?.currency == currency ? step.price : nil
      return PriceLine.Step(time: step.time, price: price)
    }
    let steps = Array(priced.drop { $0.price == nil })
    let units = steps.compactMap { $0.price?.minorUnits }
    guard let first = steps.first, let least = units.min(),
      let most = units.max(), steps.count > 1,
      let lowest = steps.last(where: { $0.price?.minorUnits == least }), let low = lowest.price
    else { return nil }
    let since = max(first.time, clock.now + -PriceLine.days * 86_400)
    let length = max(1, clock.now - since)
    func across(_ time: UnixTime) -> Int {
      4 + Int(120 * Double(min(max(0, time - since), length)) / Double(length))
    }
    func down(_ price: Price) -> Int {
      guard most > least else { return 20 }
      return 4 + Int((32 * Double(most - price.minorUnits) / Double(most - least)).rounded())
    }
    var path = ""
    var isDrawing = false
    for (place, step) in steps.enumerated() {
      let isLast = place + 1 == steps.count
      let (left, right) = (across(step.time), isLast ? 124 : across(steps[place + 1].time))
      // Of all prices at one horizontal position, the last one is drawn, and the lowest one of the chart.
      guard right > left || isLast || step.time == lowest.time else { continue }
      if let price = step.price {
        path += isDrawing ? "V\(down(price))" : "M\(left) \(down(price))"
        if right > left { path += "H\(right)" }
      }
      isDrawing = step.price != nil
    }
    self.path = path
    (x, y) = (across(lowest.time), down(low))
    self.own = own
    let say = language.of
    let day = { language.day($0, clock) }
    let (from, at) = (day(since), day(max(lowest.time, since)))
    if let lowest = shown.lowest30Days {
      let price = lowest.price.formatted()
      let at = day(lowest.time)
      words = say("\(price) – lowest in 30 days (\(at))", "\(price) – 30일 최저가 (\(at))")
    } else {
      let last = steps.lastIndex { $0.price != nil } ?? steps.startIndex
      let price = steps[last].price?.formatted() ?? ""
      let until = last + 1 < steps.endIndex ? day(steps[last + 1].time) : day(clock.now)
      words = say("\(price) until \(until)", "\(until)까지 \(price)")
    }
    let isLower = shown.lowest30Days.map { low.minorUnits < $0.price.minorUnits } ?? false
    self.lowest =
      isLower
      ? ItemFact(
        say("Lowest since \(from)", "\(from) 이후 최저가"),
        "\(low.formatted()) (\(at))"
      ) : nil
  }
}

extension PageLanguage {
  /// A day in words, such as `7 Sep` or `9월 7일`, with the year if it is not the present year.
  func day(_ moment: UnixTime, _ clock: PageClock) -> String {
    let date = clock.text(moment).prefix(10).split(separator: "-").map { Int($0) ?? 1 }
    guard date.count == 3, (1...12).contains(date[1]) else { return clock.text(moment) }
    let names = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let isNow = clock.text(clock.now).hasPrefix("\(date[0])-")
    let year = isNow ? "" : of(" \(date[0])", "\(date[0])년 ")
    return of("\(date[2]) \(names[date[1] - 1])\(year)", "\(year)\(date[1])월 \(date[2])일")
  }
}
