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
    /// The percentage by which a price changed; empty for other changes.
    let share: String
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
    since = data.since.map(clock.text) ?? ""
    (old, new) = (data.previous.map { "\($0)" } ?? "", "\(data.last)")
    isFirst = data.since == nil && data.previous == nil
    let found = Rows(cards: cards, language: language).all(of: data.changes)
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
}

/// Makes the rows of changes, kind by kind.
private struct Rows {
  let cards: ReportCards
  let language: PageLanguage

  private func row(
    _ net: NetChange,
    share: String = "",
    from: String = "",
    to: String = ""
  ) -> ChangesView.Row {
    let card = cards[net.id.exact]
    return ChangesView.Row(
      name: card?.title ?? PlainText.line(net.item?.title ?? net.id),
      number: card?.number,
      share: share,
      hasValues: !from.isEmpty || !to.isEmpty,
      from: from,
      to: to
    )
  }

  /// The changes in groups, the largest changes of prices first.
  func all(of items: [NetChange]) -> [(title: String, rows: [ChangesView.Row])] {
    let say = language.of
    let stayed = items.filter { $0.presence == .stayed }
    func named(_ isMeant: (NetChange) -> Bool) -> [ChangesView.Row] {
      items.filter(isMeant).map { row($0) }
    }
    /// The change of the price; 0 if the prices cannot be compared.
    func change(_ net: NetChange) -> Double {
      net.price.flatMap { old in net.newPrice.flatMap(old.change) } ?? 0
    }
    // Swift's sort is stable.
    let priced = stayed.filter { $0.price != $0.newPrice }
      .sorted { abs(change($0)) > abs(change($1)) }
    func prices(_ isMeant: (Double) -> Bool) -> [ChangesView.Row] {
      priced.filter { isMeant(change($0)) }.map { net in
        row(
          net,
          share: Self.percent(net),
          from: net.price?.formatted() ?? "–",
          to: net.newPrice?.formatted() ?? "–"
        )
      }
    }
    let badges = stayed.filter { $0.badges != $0.newBadges }.map { net in
      let text = { (badges: String) in badges.isEmpty ? "–" : PlainText.line(badges) }
      return row(net, from: text(net.badges), to: text(net.newBadges))
    }
    return [
      (say("Cheaper", "내린 가격"), prices { $0 < 0 }), (say("Dearer", "오른 가격"), prices { $0 > 0 }),
      (say("Other prices", "그 밖의 가격"), prices { $0 == 0 }),
      (say("New", "새 상품"), named { $0.presence == .added }),
      (say("Back", "돌아온 상품"), named { $0.presence == .back }),
      (say("Gone", "사라진 상품"), named { $0.presence == .removed }), (say("Badges", "배지"), badges),
      (say("Pictures", "사진"), named { $0.presence == .stayed && $0.hasNewPictures }),
    ]
  }

  /// The change of a price in percent, such as `−16%`; empty if there is none to speak of.
  private static func percent(_ net: NetChange) -> String {
    guard let percent = net.price.flatMap({ old in net.newPrice.flatMap(old.percent) }),
      percent != 0
    else { return "" }
    return "\(percent < 0 ? "−" : "+")\(abs(percent).grouped)%"
  }
}
