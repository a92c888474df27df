import Base
import Catalog
import Pipeline

/// The template data of the report's part "changes": the changes of the last run or of a period, in groups.
///
/// For example, one group has the new items, and another has the items that are gone.
struct ChangesView {
  /// The changes of one kind.
  struct Group {
    let title, more, speech: String
    let rows: [Row]
  }

  /// One change.
  struct Row: Equatable {
    let name: String
    /// The number of the item's card; nil if the item is not on the page.
    let number: Int?
    let field: String
    let hasValues: Bool
    let from, to: String
  }

  /// The start of the period, such as "2026-01-13 06:30"; empty if the changes are those of the last run.
  let since: String
  /// The number of the run with which the last run is compared, and the number of the last run.
  let old, new: String
  /// Whether the last run is the first, so that there is no earlier run to compare it with.
  let isFirst: Bool
  let groups: [Group]
  /// The number of changes, such as `1,234`.
  let count: String

  /// At most this many changes of each kind are listed; the others are only counted.
  private static let most = 100

  /// Creates the part.
  ///
  /// - Parameters:
  ///   - data: The report's data.
  ///   - cards: The page's cards.
  ///   - language: The page's language.
  ///   - clock: The page's clock.
  init(_ data: ReportData, _ cards: ReportCards, _ language: PageLanguage, _ clock: PageClock) {
    let rows = Rows(cards: cards, language: language)
    since = data.period.map { clock.text($0.since) } ?? ""
    (old, new) = (data.diff.old.map { "\($0)" } ?? "", "\(data.diff.new)")
    isFirst = data.period == nil && data.diff.old == nil
    let found = data.period.map { rows.all(of: $0.items) } ?? (isFirst ? [] : rows.all(of: data))
    count = found.map(\.rows.count).reduce(0, +).grouped
    let speech = PageLanguage.spoken(in: data.items.prefix(200).map(\.item.title))
    groups = found.filter { !$0.rows.isEmpty }.map { title, rows in
      Group(
        title: "\(title) (\(rows.count.grouped))",
        more: language.more(rows.count - Self.most),
        speech: ReportShelf.speech(speech),
        rows: Array(rows.prefix(Self.most))
      )
    }
  }

  /// The value of an item's field as the page shows it.
  ///
  /// For example, a price has its currency, and a list of URLs is an empty text.
  static func value(_ text: String?, of field: String, _ currency: String) -> String {
    guard let text else { return "–" }
    switch field {
    case "normalPrice", "salePrice":
      return Int(text).map { Price(minorUnits: $0, currency: currency).formatted() } ?? text
    case "thumbnail", "images": return ""
    default: return PlainText.line(text)
    }
  }
}

/// Makes the rows of changes, kind by kind.
private struct Rows {
  let cards: ReportCards
  let language: PageLanguage

  private func row(
    _ id: String,
    title: String? = nil,
    field: String = "",
    from: String = "",
    to: String = ""
  ) -> ChangesView.Row {
    let card = cards[id.exact]
    return ChangesView.Row(
      name: card?.title ?? PlainText.line(title ?? id),
      number: card?.number,
      field: field,
      hasValues: !from.isEmpty || !to.isEmpty,
      from: from,
      to: to
    )
  }

  /// The changes between two runs; the largest price reductions come first.
  func all(of data: ReportData) -> [(title: String, rows: [ChangesView.Row])] {
    let say = language.of
    let (listing, titles) = (data.diff.items, data.titles)
    let items = Dictionary(data.items.map { ($0.id, $0.item) }) { first, _ in first }
    let own = Dictionary(grouping: listing.changed) { [$0.section, $0.id] }
    let ranked = listing.changed.largestFirst {
      Self.fall(of: $0, own[[$0.section, $0.id]] ?? [], items[$0.id])
    }
    let changed = ranked.map { change in
      let value = { ChangesView.value($0, of: change.field, data.currency) }
      return row(
        change.id,
        field: language.field(change.field),
        from: value(change.from),
        to: value(change.to)
      )
    }
    return [
      (say("Changed", "바뀐 상품"), changed),
      (say("New", "새 상품"), listing.added.map { row($0.id) }),
      (say("Gone", "사라진 상품"), listing.removed.map { row($0.id, title: titles[$0.id.exact]) }),
      (say("Pictures with new bytes", "새로 바뀐 사진"), data.diff.pictures.map { row($0) }),
    ]
  }

  /// The changes of a period.
  func all(of items: [NetChange]) -> [(title: String, rows: [ChangesView.Row])] {
    let say = language.of
    let stayed = items.filter { $0.presence == .stayed }
    func named(_ isMeant: (NetChange) -> Bool) -> [ChangesView.Row] {
      items.filter(isMeant).map { row($0.id, title: $0.item?.title) }
    }
    func fall(_ net: NetChange) -> Double { Self.fall(from: net.price, to: net.newPrice) }
    let priced = stayed.filter { $0.price != $0.newPrice }.largestFirst { abs(fall($0)) }
    func prices(_ isMeant: (Double) -> Bool) -> [ChangesView.Row] {
      priced.filter { isMeant(fall($0)) }.map { net in
        row(
          net.id,
          title: net.item?.title,
          field: Self.percent(fall(net)),
          from: net.price?.formatted() ?? "–",
          to: net.newPrice?.formatted() ?? "–"
        )
      }
    }
    let badges = stayed.filter { $0.badges != $0.newBadges }.map { net in
      let text = { (badges: String) in badges.isEmpty ? "–" : PlainText.line(badges) }
      return row(
        net.id,
        title: net.item?.title,
        from: text(net.badges),
        to: text(net.newBadges)
      )
    }
    return [
      (say("Cheaper", "내린 가격"), prices { $0 > 0 }), (say("Dearer", "오른 가격"), prices { $0 < 0 }),
      (say("Other prices", "그 밖의 가격"), prices { $0 == 0 }),
      (say("New", "새 상품"), named { $0.presence == .added }),
      (say("Back", "돌아온 상품"), named { $0.presence == .back }),
      (say("Gone", "사라진 상품"), named { $0.presence == .removed }), (say("Badges", "배지"), badges),
      (say("Pictures", "사진"), named { $0.presence == .stayed && $0.hasNewPictures }),
    ]
  }

  /// The fraction by which a change lowers the price that a customer pays; 0 if it does not.
  ///
  /// An item without a sale price is sold for its normal price. `item` is the item after the change.
  private static func fall(
    of change: CatalogDiff.FieldChange,
    _ own: [CatalogDiff.FieldChange],
    _ item: StoreItem?
  ) -> Double {
    guard change.field == "salePrice" || change.field == "normalPrice" else { return 0 }
    /// The price to pay before or after the change, whichever `value` reads.
    func price(_ value: (CatalogDiff.FieldChange) -> String?) -> Int? {
      func field(_ name: String, _ present: Price?) -> Int? {
        guard let change = own.first(where: { $0.field == name }) else {
          return present?.minorUnits
        }
        return value(change).flatMap { Int($0) }
      }
      return field("salePrice", item?.salePrice) ?? field("normalPrice", item?.normalPrice)
    }
    guard let before = price({ $0.from }), let now = price({ $0.to }), now < before else {
      return 0
    }
    return Double(before - now) / Double(before)
  }

  /// The fraction by which a price fell: 0.16 for 16 %, negative if it rose, and 0 if the prices cannot be compared.
  private static func fall(from old: Price?, to new: Price?) -> Double {
    guard let old, let new, old.currency == new.currency, old.minorUnits > 0 else { return 0 }
    return Double(old.minorUnits - new.minorUnits) / Double(old.minorUnits)
  }

  /// A fraction as a percentage of the old price: `−16%` for 0.16, and `+3%` for −0.03.
  private static func percent(_ fall: Double) -> String {
    let percent = Int((abs(fall) * 100).rounded())
    return percent == 0 ? "" : "\(fall > 0 ? "−" : "+")\(percent.grouped)%"
  }
}

extension Array {
  /// The elements, those with the largest values first; elements with the same value keep their order.
  fileprivate func largestFirst(_ value: (Element) -> Double) -> [Element] {
    enumerated().map { (place: $0.offset, value: value($0.element), element: $0.element) }
      .sorted { ($0.value, $1.place) > ($1.value, $0.place) }.map(\.element)
  }
}
