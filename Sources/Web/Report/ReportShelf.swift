import Cache
import Catalog
import Pipeline

/// A section of the catalog with its items, on its way to the page.
struct ReportShelf {
  let anchor: String
  let title: String
  let subtitle: String
  let items: [ShownItem]
  /// The number of its first card.
  let first: Int
  let isStale: Bool
  /// An attribute that names the language of its texts, with a blank before it; empty when unknown.
  let speech: String

  /// The attribute that names a language; empty for an unknown one.
  static func speech(_ language: String?) -> String {
    language.map { " lang=\"\($0)\"" } ?? ""
  }

  /// The sections of a report, in order, each with its items.
  static func all(_ data: ReportData) -> [ReportShelf] {
    var items: [String: [ShownItem]] = [:]
    for item in data.items { items[item.sections.first ?? "", default: []].append(item) }
    var first = 0
    return data.sections.enumerated().map { place, section in
      let own = items[section.key] ?? []
      defer { first += own.count }
      let title = PlainText.line(section.title)
      let texts = [title] + own.prefix(200).map(\.item.title)
      return ReportShelf(
        anchor: "s\(place + 1)",
        title: title.isEmpty ? PlainText.line(section.key) : title,
        subtitle: section.subtitle.map(PlainText.line) ?? "",
        items: own,
        first: first,
        isStale: section.isStale,
        speech: speech(PageLanguage.spoken(in: texts))
      )
    }
  }
}
