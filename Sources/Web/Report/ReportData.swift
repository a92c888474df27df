import Base
import Cache
import Catalog
import Pipeline

/// The data that a report shows.
struct ReportData: Sendable {
  /// A run of `sync` or `warm`, and its report.
  struct Run: Sendable {
    var time: RunEntry
    /// The run's report; nil if the run has not ended, or if its report cannot be read.
    var report: SyncReport?
  }

  /// The last run that ended.
  var last: RunID
  /// The run that ended before the last one; nil if the last run is the first.
  var previous: RunID?
  /// The start of the reported period, which `larder report --since` sets; nil if the report shows the changes of the
  /// last run.
  var since: UnixTime?
  /// The items that the last run changed, or that differ from their state at the start of the period.
  var changes: [NetChange] = []
  var catalog: String
  var currency: String
  /// The sections in the order of the catalog file.
  var sections: [RunSection]
  /// The items of all sections, section by section.
  var items: [ShownItem]
  /// The last runs, the newest first; at most ``shownRuns``.
  var runs: [Run]

  /// The number of runs that the report shows.
  static let shownRuns = 40
}

extension ReportData {
  /// Reads the data of a catalog.
  ///
  /// It takes no lock, so it works while a run of `sync` changes the cache.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - since: The start of the period to report. If it is nil, the data has the whole catalog and the changes of the
  ///     last run. Otherwise it has only the items that changed in the period.
  /// - Throws: ``LarderError`` when the cache cannot be read, or when no run has ended yet.
  init(_ reader: CatalogReader, since: UnixTime? = nil) throws(LarderError) {
    let last = try reader.lastRun().id
    let runs = try reader.runs(limit: Self.shownRuns).map { run in
      Run(time: run, report: run.report.flatMap { try? SyncReport(json: $0) })
    }
    previous = runs.first { $0.time.finished != nil && $0.time.id < last }?.time.id
    (self.last, self.runs, self.since) = (last, runs, since)
    catalog = reader.catalog.name
    currency = reader.catalog.currency
    sections = try reader.sections()
    var listed = try reader.list()
    if let since {
      changes = try reader.netChanges(since: since)
      let ids = Set(changes.map(\.id.exact))
      listed = listed.filter { ids.contains($0.id.exact) }
      let keys = Set(listed.flatMap(\.sections))
      sections = sections.filter { keys.contains($0.key) }
    } else if let previous {
      changes = try reader.netChanges(after: previous)
    }
    items = try reader.withPriceLines(listed)
  }
}

/// The number and the title of each item's first card, by item id.
typealias ReportCards = [ExactText: (number: Int, title: String)]

/// The template data of a section with its cards.
struct ReportShelf {
  let anchor, title, subtitle: String
  let items: [ShownItem]
  /// The number of the section's first card; the page numbers all cards from 0.
  let first: Int
  /// The number of items, such as `3 items`.
  let count: String
  let isStale: Bool
  /// The `lang` attribute of the section's texts, with a space before it: ` lang="ko"`.
  ///
  /// It is empty if the language is unknown.
  let speech: String
  /// The HTML of the cards.
  var cards = ""

  /// The `lang` attribute for a language such as `ko`; empty if the language is nil.
  static func speech(_ language: String?) -> String {
    language.map { " lang=\"\($0)\"" } ?? ""
  }

  /// The sections of a report with their items, in the order of the catalog file, without cards.
  static func all(_ data: ReportData, _ language: PageLanguage) -> [ReportShelf] {
    let items = Dictionary(grouping: data.items) { $0.sections.first ?? "" }
    var first = 0
    return data.sections.enumerated().map { place, section in
      let own = items[section.key] ?? []
      defer { first += own.count }
      let (title, subtitle, speech) = section.heading(over: own.lazy.map(\.item.title))
      return ReportShelf(
        anchor: "s\(place + 1)",
        title: title,
        subtitle: subtitle,
        items: own,
        first: first,
        count: language.count(own.count, "item", "items", "상품"),
        isStale: section.isStale,
        speech: speech
      )
    }
  }
}

extension RunSection {
  /// The texts above a section's items, given the titles of the items: the section's title, or its key if it has no
  /// title, the line below, and the `lang` attribute of all these texts as in ``ReportShelf/speech``.
  func heading(over titles: some Sequence<String>) -> (
    title: String, subtitle: String, speech: String
  ) {
    let title = PlainText.line(title)
    let speech = ReportShelf.speech(PageLanguage.spoken(in: [title] + titles.prefix(200)))
    let shown = title.isEmpty ? PlainText.line(key) : title
    return (shown, subtitle.map(PlainText.line) ?? "", speech)
  }
}
