import Base
import Cache
import Catalog
import Pipeline

/// All data of a report, read from a cache.
struct ReportData: Sendable {
  /// The changes of the last run.
  struct Changes: Sendable {
    /// The run to compare with; nil when the last run is the first.
    var old: RunID?
    /// The last run.
    var new: RunID
    /// The differences between the sections' lists of items.
    var listing: CatalogDiff
    /// The titles of removed items, by id.
    var titles: [String: String] = [:]
    /// The URLs of pictures with new bytes.
    var pictures: [String] = []
    /// The changes of a period (`--since`), shown instead of the changes of the last run; nil for none.
    var period: Period?
  }

  /// The changes since a moment.
  struct Period: Sendable {
    /// The start of the period.
    var since: UnixTime
    /// The items that differ from their state at that time.
    var items: [NetChange]
  }

  /// A run and its report, if it has one.
  struct Run: Sendable {
    /// The run's number, times and outcome.
    var time: RunTime
    /// The run's report; nil if the run did not end, or if the report cannot be read.
    var report: SyncReport?
  }

  /// The catalog's name.
  var catalog: String
  /// The currency of the catalog's prices.
  var currency: String
  /// The sections, in the catalog's order.
  var sections: [RunSection]
  /// The items, section by section.
  var items: [ShownItem]
  /// The changes of the last run.
  var changes: Changes
  /// The last runs, at most ``shownRuns``, the newest first.
  var runs: [Run]
  /// All runs of the last half year, the newest first, without reports.
  var times: [RunTime]

  /// The number of runs in the table and the charts.
  static let shownRuns = 40
  /// The number of days in the calendar.
  static let days = 26 * 7
}

extension ReportData {
  /// Reads a catalog's data from a cache.
  ///
  /// Takes no lock, so it works while a sync runs.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - now: The time of the report.
  ///   - since: The start of the period to report; the data then has only the items that changed in the period. Nil for
  ///     the whole catalog and the changes of the last run.
  /// - Throws: ``LarderError`` when the cache cannot be read, or no sync has ended yet.
  init(
    _ reader: CatalogReader,
    at now: UnixTime,
    since: UnixTime? = nil
  ) throws(LarderError) {
    let diff = try reader.diff(from: nil, to: nil)
    changes = Changes(
      old: diff.old,
      new: diff.new,
      listing: diff.items,
      pictures: diff.pictures
    )
    if let old = diff.old {
      changes.titles = try reader.titles(of: Set(diff.items.removed.map(\.id)), in: old)
    }
    catalog = reader.catalog.name
    currency = reader.catalog.currency
    sections = try reader.sections()
    var listed = try reader.list()
    if let since {
      let changed = try reader.netChanges(since: since)
      changes.period = Period(since: since, items: changed)
      let ids = Set(changed.map(\.id))
      listed = listed.filter { ids.contains($0.id) }
      let keys = Set(listed.flatMap(\.sections))
      sections = sections.filter { keys.contains($0.key) }
    }
    items = try reader.withPriceLines(listed)
    times = try reader.runTimes(since: now + -Int64(Self.days + 1) * 86_400)
    runs = try reader.runs(limit: Self.shownRuns).map { run in
      Run(
        time: RunTime(
          id: run.id,
          started: run.started,
          finished: run.finished,
          outcome: run.outcome
        ),
        report: run.report.flatMap { try? SyncReport(json: $0) }
      )
    }
  }

  /// The report of the newest run that ended.
  var last: SyncReport? { runs.first { $0.report != nil }?.report }
}

/// A section of the report with its items.
struct ReportShelf {
  let anchor: String
  let title: String
  let subtitle: String
  let items: [ShownItem]
  /// The section's first card has this number on the page.
  let first: Int
  let isStale: Bool
  /// The `lang` attribute of the section's texts, with a leading space: ` lang="ko"`; empty if the language is unknown.
  let speech: String

  /// The `lang` attribute for a language; empty for nil.
  static func speech(_ language: String?) -> String {
    language.map { " lang=\"\($0)\"" } ?? ""
  }

  /// The sections of a report in the catalog's order, each with its items.
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
