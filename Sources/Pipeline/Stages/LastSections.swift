import Cache
import Catalog

/// The sections that the last run left.
struct LastSections: Sendable {
  /// Their keys, in the order that they are shown in.
  let keys: [String]
  private let sections: [String: RunSection]
  private let report: LastReport

  /// The sections of a run, and its report.
  init(_ sections: [RunSection], report: LastReport) {
    keys = sections.map(\.key)
    self.sections = Dictionary(sections.map { ($0.key, $0) }) { first, _ in first }
    self.report = report
  }

  /// The section of that key; nil when there was none.
  subscript(_ key: String) -> RunSection? { sections[key] }

  /// What could not be read of the section of that key.
  func skips(of key: String) -> LastReport.Skips { report.skips(of: key) }

  /// What stands for a section that could not be had: its last good one, as stale.
  ///
  /// - Parameters:
  ///   - key: the section.
  ///   - named: what the catalog file calls it.
  ///   - words: why it could not be had.
  /// - Returns: The last good one, or a section that has failed.
  func standIn(
    for key: String,
    named: (title: String?, subtitle: String?) = (nil, nil),
    _ words: String
  ) -> SectionResult {
    let held = sections[key]
    return SectionResult(
      key: key,
      title: named.title ?? held?.title ?? key,
      subtitle: named.subtitle ?? held?.subtitle,
      source: held?.listing == nil ? .failed : .stale,
      listing: held?.listing,
      error: words
    )
  }

  /// Puts sections that the feed did not name where they stood before: behind the section that they
  /// followed.
  func arranged(_ results: [SectionResult], beside absent: [SectionResult]) -> [SectionResult] {
    let present = Set(results.map(\.key))
    var rest = Dictionary(absent.map { ($0.key, $0) }) { first, _ in first }
    // By the section that they follow; nil for those before all.
    var following: [String?: [SectionResult]] = [:]
    var anchor: String?
    for key in keys {
      if present.contains(key) {
        anchor = key
      } else if let result = rest.removeValue(forKey: key) {
        following[anchor, default: []].append(result)
      }
    }
    following[anchor, default: []] += absent.filter { rest[$0.key] != nil }
    return (following[nil] ?? []) + results.flatMap { [$0] + (following[$0.key] ?? []) }
  }
}
