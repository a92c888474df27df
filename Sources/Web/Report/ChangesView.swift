import Base
import Catalog
import Pipeline

/// The template data of the report's part "changes": the changes of the last run or of a period, in groups.
///
/// For example, one group has the new items, and another has the items that are gone.
struct ChangesView {
  /// The changes of one kind.
  struct Group {
    let title: String
    let rows: [Row]
    let more: String
    let speech: String
  }

  /// One change.
  struct Row: Equatable {
    let name: String
    /// The number of the item's card; nil if the item is not on the page.
    let number: Int?
    let field: String
    let hasValues: Bool
    let from: String
    let to: String
  }

  /// The runs or the period to which the changes belong, such as "run 4 to run 5" or "since 2026-01-13 06:30".
  let span: String
  let quiet: String
  let groups: [Group]
  /// The number of changes.
  let count: Int
  /// The words below the number of changes, such as "changes since the run before".
  let label: String
  /// Whether the last run is the first, so that there is no earlier run to compare it with.
  let isFirst: Bool

  /// At most this many changes of each kind are listed; the others are only counted.
  private static let most = 100

  /// Creates the part.
  ///
  /// - Parameters:
  ///   - data: The report's data.
  ///   - cards: The number and the title of each item's first card, by item id.
  ///   - language: The page's language.
  ///   - clock: The page's clock.
  ///   - speech: The `lang` attribute of the shop's texts, such as ` lang="ko"`; empty if their language is unknown.
  init(
    _ data: ReportData,
    cards: [String: (number: Int, title: String)],
    _ language: PageLanguage,
    _ clock: PageClock,
    speech: String
  ) {
    let changes = data.changes
    let say = language.of
    let rows = Rows(cards: cards, language: language)
    isFirst = changes.period == nil && changes.old == nil
    let found: [(title: String, rows: [Row])]
    if let period = changes.period {
      let since = clock.text(period.since)
      span = say("since \(since)", "\(since) 이후")
      label = say("changes since \(since)", "\(since) 이후 달라진 점")
      quiet = say("Nothing changed in this time.", "이 기간에 달라진 것이 없습니다.")
      found = rows.all(of: period.items)
    } else if let old = changes.old {
      span = say("run \(old) to run \(changes.new)", "\(old)번 실행에서 \(changes.new)번 실행까지")
      label = say("changes since the run before", "지난번과 달라진 점")
      quiet = say("Nothing changed since the run before.", "지난번과 달라진 것이 없습니다.")
      found = rows.all(of: changes, data)
    } else {
      span = say("run \(changes.new), the first", "첫 실행 (\(changes.new)번)")
      label = say("first run", "첫 실행")
      quiet = say("This is the first run: everything is new.", "첫 실행이라 모두 새 상품입니다.")
      found = []
    }
    count = found.map(\.rows.count).reduce(0, +)
    groups = found.filter { !$0.rows.isEmpty }.map { title, rows in
      let rest = rows.count - Self.most
      return Group(
        title: "\(title) (\(rows.count.grouped))",
        rows: Array(rows.prefix(Self.most)),
        more: rest > 0 ? say("and \(rest.grouped) more", "외 \(rest.grouped)건") : "",
        speech: speech
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
  /// The number and the title of each item's first card, by item id.
  let cards: [String: (number: Int, title: String)]
  let language: PageLanguage

  private func row(
    _ id: String,
    title: String? = nil,
    field: String = "",
    from: String = "",
    to: String = ""
  ) -> ChangesView.Row {
    let card = cards[id]
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
  func all(
    of changes: ReportData.Changes,
    _ data: ReportData
  ) -> [(title: String, rows: [ChangesView.Row])] {
    let say = language.of
    let listing = changes.listing
    return [
      (
        say("Changed", "바뀐 상품"),
        Self.fallsFirst(listing.changed, data.items).map { change in
          let value = { ChangesView.value($0, of: change.field, data.currency) }
          return row(
            change.id,
            field: language.field(change.field),
            from: value(change.from),
            to: value(change.to)
          )
        }
      ), (say("New", "새 상품"), listing.added.map { row($0.id) }),
      (say("Gone", "사라진 상품"), listing.removed.map { row($0.id, title: changes.titles[$0.id]) }),
      (say("Pictures with new bytes", "새로 바뀐 사진"), changes.pictures.map { row($0) }),
    ]
  }

  /// The changes of a period.
  func all(of items: [NetChange]) -> [(title: String, rows: [ChangesView.Row])] {
    let say = language.of
    let stayed = items.filter { $0.presence == .stayed }
    func named(_ isMeant: (NetChange) -> Bool) -> [ChangesView.Row] {
      items.filter(isMeant).map { row($0.id, title: $0.item?.title) }
    }
    func prices(_ items: [NetChange]) -> [ChangesView.Row] {
      items.map { net in
        row(
          net.id,
          title: net.item?.title,
          field: Self.percent(Self.fall(from: net.price, to: net.newPrice)),
          from: net.price?.formatted() ?? "–",
          to: net.newPrice?.formatted() ?? "–"
        )
      }
    }
    let priced = stayed.filter { $0.price != $0.newPrice }.enumerated().map {
      (
        place: $0.offset, net: $0.element,
        fall: Self.fall(from: $0.element.price, to: $0.element.newPrice)
      )
    }
    let sorted = priced.sorted { (abs($0.fall), $1.place) > (abs($1.fall), $0.place) }
    return [
      (say("Cheaper", "내린 가격"), prices(sorted.filter { $0.fall > 0 }.map(\.net))),
      (say("Dearer", "오른 가격"), prices(sorted.filter { $0.fall < 0 }.map(\.net))),
      (say("Other prices", "그 밖의 가격"), prices(priced.filter { $0.fall == 0 }.map(\.net))),
      (say("New", "새 상품"), named { $0.presence == .added }),
      (say("Back", "돌아온 상품"), named { $0.presence == .back }),
      (say("Gone", "사라진 상품"), named { $0.presence == .removed }),
      (
        say("Badges", "배지"),
        stayed.filter { $0.badges != $0.newBadges }.map { net in
          let text = { (badges: String) in badges.isEmpty ? "–" : PlainText.line(badges) }
          return row(
            net.id,
            title: net.item?.title,
            from: text(net.badges),
            to: text(net.newBadges)
          )
        }
      ), (say("Pictures", "사진"), named { $0.presence == .stayed && $0.hasNewPictures }),
    ]
  }

  /// Moves changes that lower the customer's price to the front, the largest reduction first.
  ///
  /// All other changes keep their order.
  private static func fallsFirst(
    _ changes: [CatalogDiff.FieldChange],
    _ items: [ShownItem]
  ) -> [CatalogDiff.FieldChange] {
    func isPrice(_ change: CatalogDiff.FieldChange) -> Bool {
      change.field == "normalPrice" || change.field == "salePrice"
    }
    struct Place: Hashable { let section, id: String }
    let prices = Dictionary(grouping: changes.filter(isPrice)) {
      Place(section: $0.section, id: $0.id)
    }
    let known = Set(prices.keys.map(\.id))
    let listed = Dictionary(
      items.lazy.filter { known.contains($0.id) }.map { ($0.id, $0.item) }
    ) { first, _ in first }
    let falls = prices.mapValues { own -> Double in
      let item = listed[own[0].id]
      func price(_ value: (CatalogDiff.FieldChange) -> String?) -> Int? {
        func field(_ name: String, _ present: Price?) -> Int? {
          let change = own.first { $0.field == name }
          return change.map { value($0).flatMap { Int($0) } } ?? present?.minorUnits
        }
        return field("salePrice", item?.salePrice) ?? field("normalPrice", item?.normalPrice)
      }
      guard let before = price(\.from), let now = price(\.to), now < before else { return 0 }
      return Double(before - now) / Double(before)
    }
    let ranked = changes.enumerated().map { place, change in
      let fall = isPrice(change) ? falls[Place(section: change.section, id: change.id)] ?? 0 : 0
      return (place: place, fall: fall, change: change)
    }
    return ranked.sorted { ($0.fall, $1.place) > ($1.fall, $0.place) }.map(\.change)
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
