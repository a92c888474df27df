import Base
import Catalog
import Pipeline

/// The changes of the last run, one group for each kind.
///
/// Its members are the names in templates.
struct ChangesView {
  /// A kind of change.
  struct Group {
    let title: String
    let rows: [Row]
    let hasMore: Bool
    let more: String
    let speech: String
  }

  /// One change.
  struct Row: Equatable {
    let name: String
    /// The item's card, when it is on the page.
    let number: Int
    let isLinked: Bool
    let hasField: Bool
    let field: String
    let hasValues: Bool
    let from: String
    let to: String
    let was: String
    let now: String
    let language: String
  }

  let span: String
  let isQuiet: Bool
  let quiet: String
  let hasGroups: Bool
  let groups: [Group]
  /// How many changes there are.
  let count: Int

  /// No more of a kind are named; the rest is counted.
  private static let most = 100

  /// The changes of a report.
  ///
  /// - Parameters:
  ///   - data: the report.
  ///   - cards: the number and the title of the first card of each item, by id.
  ///   - language: that of the page.
  ///   - speech: the attribute that names the shop's language.
  init(
    _ data: ReportData,
    cards: [String: (number: Int, title: String)],
    _ language: PageLanguage,
    speech: String
  ) {
    let changes = data.changes
    let say = language.of
    guard let old = changes.old else {
      span = say("run \(changes.new), the first", "첫 실행 (\(changes.new)번)")
      (isQuiet, hasGroups, groups, count) = (true, false, [], 0)
      quiet = say("This is the first run: all of it is new.", "첫 실행이라 모두 새 상품입니다.")
      return
    }
    span = say("run \(old) to run \(changes.new)", "\(old)번 실행에서 \(changes.new)번 실행까지")
    quiet = say("Nothing changed since the run before.", "지난번과 달라진 것이 없습니다.")
    let listing = changes.listing
    func row(_ id: String, field: String = "", from: String = "", to: String = "") -> Row {
      let card = cards[id]
      return Row(
        name: card?.title ?? PlainText.line(id),
        number: card?.number ?? -1,
        isLinked: card != nil,
        hasField: !field.isEmpty,
        field: field,
        hasValues: !from.isEmpty || !to.isEmpty,
        from: from,
        to: to,
        was: say("was", "이전"),
        now: say("now", "현재"),
        language: language.rawValue
      )
    }
    func group(_ title: String, _ all: Int, _ rows: some Sequence<Row>) -> Group? {
      guard all > 0 else { return nil }
      let rest = all - Self.most
      return Group(
        title: "\(title) (\(all.grouped))",
        rows: Array(rows),
        hasMore: rest > 0,
        more: say("and \(rest.grouped) more", "외 \(rest.grouped)건"),
        speech: speech
      )
    }
    let most = Self.most
    let found = [
      group(
        say("Changed", "바뀐 상품"),
        listing.changed.count,
        listing.changed.prefix(most).map { change in
          let value = { Self.value($0, of: change.field, data.currency) }
          return row(
            change.id,
            field: language.field(change.field),
            from: value(change.from),
            to: value(change.to)
          )
        }
      ),
      group(
        say("New", "새 상품"),
        listing.added.count,
        listing.added.prefix(most).map { row($0.id) }
      ),
      group(
        say("Gone", "사라진 상품"),
        listing.removed.count,
        listing.removed.prefix(most).map { row($0.id) }
      ),
      group(
        say("Pictures with new bytes", "새로 바뀐 사진"),
        changes.pictures.count,
        changes.pictures.prefix(most).map { row($0) }
      ),
    ]
    groups = found.compactMap { $0 }
    hasGroups = !groups.isEmpty
    isQuiet = groups.isEmpty
    count =
      listing.changed.count + listing.added.count + listing.removed.count + changes.pictures.count
  }

  /// A value as people read it: a price with its unit, a list of URLs not at all.
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
