import Cache
import Catalog

/// The sections that the last run left.
struct LastSections: Sendable {
  /// Their keys, in the order that they are shown in.
  let keys: [String]
  private let sections: [String: RunSection]
  private let skips: LastSkips

  /// The sections of a run, and its report.
  init(_ sections: [RunSection], report: [UInt8]?) {
    keys = sections.map(\.key)
    self.sections = Dictionary(sections.map { ($0.key, $0) }) { first, _ in first }
    skips = LastSkips(report)
  }

  /// The section of that key; nil when there was none.
  subscript(_ key: String) -> RunSection? { sections[key] }

  /// What could not be read of the section of that key.
  func skips(of key: String) -> LastSkips.Section { skips[key] }

  /// What stands for a source that gave nothing: its last good sections, as stale.
  func standIns(at position: Int, of catalog: CatalogFile, _ words: String) -> [SectionResult] {
    catalog.sectionNames(at: position, held: sections, order: keys).map { name in
      let listing = sections[name.key]?.listing
      return SectionResult(
        key: name.key,
        title: name.title,
        subtitle: name.subtitle,
        source: listing == nil ? .failed : .stale,
        listing: listing,
        error: words
      )
    }
  }

  /// Puts sections that the feed did not name where they stood before: behind the section that they
  /// followed.
  func arranged(_ results: [SectionResult], beside absent: [SectionResult]) -> [SectionResult] {
    var results = results
    for result in absent {
      let before = keys.prefix { $0 != result.key }
      let anchor = before.reversed().lazy
        .compactMap { key in results.firstIndex { $0.key == key } }.first
      results.insert(result, at: anchor.map { $0 + 1 } ?? 0)
    }
    return results
  }
}
