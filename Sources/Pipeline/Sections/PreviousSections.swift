import Cache
import Catalog
import Transport

/// The sections as the last run left them.
struct PreviousSections: Sendable {
  /// The sections' keys, in the order of the catalog.
  let keys: [String]
  private let sections: [String: RunSection]

  init(_ sections: [RunSection]) {
    keys = sections.map(\.key)
    self.sections = Dictionary(sections.map { ($0.key, $0) }) { first, _ in first }
  }

  /// The section with a key; nil if there was none.
  subscript(_ key: String) -> RunSection? { sections[key] }

  /// The result for a section that could not be fetched or read.
  ///
  /// It shows the items of the last good run, and is marked as stale.
  ///
  /// - Parameters:
  ///   - key: The section's key.
  ///   - named: The title and subtitle that the catalog file gives to the section.
  ///   - words: The reason for the failure.
  /// - Returns: The result. If no earlier run had items of the section, the section is marked as failed.
  func fallback(
    for key: String,
    named: (title: String?, subtitle: String?) = (nil, nil),
    _ words: String
  ) -> SectionResult {
    let held = sections[key]
    return SectionResult(
      row: SyncReport.Section(
        key: key,
        title: named.title ?? held?.title ?? key,
        source: held?.listing == nil ? .failed : .stale,
        error: words
      ),
      subtitle: named.subtitle ?? held?.subtitle,
      listing: held?.listing
    )
  }

  /// Inserts sections that the shop does not name any more.
  ///
  /// Each follows the section that it followed in the last run.
  func arranged(_ results: [SectionResult], beside absent: [SectionResult]) -> [SectionResult] {
    let present = Set(results.map(\.key))
    var rest = Dictionary(absent.map { ($0.key, $0) }) { first, _ in first }
    // The absent sections by the key of the section that they follow. The key is nil for those at the beginning.
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

/// The failures of the previous runs.
///
/// If a failure is likely to last and the last run that settled its URL had it too, it counts as known in the current run. A
/// run settles no URL that it did not come to, because it was cut short, or that failed for another reason, such as an
/// outage.
struct LastFailures {
  private struct Failed: Hashable {
    let stage: SyncReport.Stage
    let url: String

    /// Makes the key of a failure; nil for a failure of a section.
    ///
    /// A failure of a section never counts as known, because a run without a section is never complete. A picture is
    /// recognized by the identifying part of its URL, because a signature in the URL differs in each run.
    init?(_ failure: SyncReport.Failure, _ identity: PictureIdentity) {
      guard failure.stage != .section else { return nil }
      stage = failure.stage
      url = stage == .picture ? identity.text(of: failure.url) : failure.url
    }
  }

  private let identity: PictureIdentity
  private let lasting: Set<Failed>
  private let omitted: SyncReport.FailureCounts

  /// Reads reports as the index stores them.
  ///
  /// - Parameters:
  ///   - reports: The reports of the runs before, the last one first.
  ///   - identity: The catalog file's rule for the part of a URL that identifies a picture.
  init(_ reports: [[UInt8]], _ identity: PictureIdentity) {
    self.identity = identity
    var (lasting, omitted) = (Set<Failed>(), SyncReport.FailureCounts())
    var unsettled: Set<Failed>?
    for bytes in reports {
      guard unsettled?.isEmpty != true, let report = try? SyncReport(json: bytes) else { break }
      func failed(lasting isLasting: Bool) -> Set<Failed> {
        let failures = report.failures.filter {
          FailureReason(rawValue: $0.reason).isLasting == isLasting
        }
        let keys = Set(failures.compactMap { Failed($0, identity) })
        return unsettled.map { keys.intersection($0) } ?? keys
      }
      lasting.formUnion(failed(lasting: true))
      for (stage, counts) in report.failuresOmitted where unsettled == nil {
        omitted[stage, default: [:]].merge(counts) { max($0, $1) }
      }
      if report.outcome != .interrupted, report.unfinishedCount == 0 {
        unsettled = failed(lasting: false)
      }
    }
    (self.lasting, self.omitted) = (lasting, omitted)
  }

  /// Marks those failures as known that are likely to last and that the runs before had too.
  func mark(_ failures: inout [SyncReport.Failure]) {
    for place in failures.indices {
      guard FailureReason(rawValue: failures[place].reason).isLasting,
        let failed = Failed(failures[place], identity)
      else { continue }
      failures[place].isKnown = lasting.contains(failed)
    }
  }

  /// Whether all failures that a new report only counts are known.
  ///
  /// They are known if they are likely to last, and a previous report counts at least as many of them.
  func knows(_ omitted: SyncReport.FailureCounts) -> Bool {
    omitted.allSatisfy { stage, counts in
      stage != .section
        && counts.allSatisfy { reason, count in
          FailureReason(rawValue: reason).isLasting
            && self.omitted[stage]?[reason, default: 0] ?? 0 >= count
        }
    }
  }
}
