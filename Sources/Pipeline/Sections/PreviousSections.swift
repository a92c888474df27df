import Cache
import Catalog
import Synchronization
import Transport

/// The sections that the last run left.
struct PreviousSections: Sendable {
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

  /// The unreadable items of the section with that key.
  func skips(of key: String) -> LastReport.Skips { report.skips(of: key) }

  /// The replacement of a section that could not be fetched: its last good version, as stale.
  ///
  /// - Parameters:
  ///   - key: the section.
  ///   - named: its name in the catalog file.
  ///   - words: the reason for the failure.
  /// - Returns: The last good one, or a section that has failed.
  func fallback(
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

  /// Puts sections that the feed did not name where they stood before: after the section that they
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

/// The report of the run before, decoded when it is first asked for: most runs skip nothing and fail at nothing.
final class LastReport: Sendable {
  /// The items of one section that could not be read.
  struct Skips: Sendable, Equatable {
    /// How many of them had no id either.
    var unnamed = 0
    /// The items that were shown from before because theirs could not be read.
    var unread: Set<String> = []
  }

  private struct Content: Sendable {
    var skips: [String: Skips] = [:]
    var lasting: Set<Failed> = []
    var omitted: SyncReport.FailureCounts = [:]
  }

  private struct Failed: Hashable {
    let stage: SyncReport.Stage
    let url: String

    /// A failure that lasts; nil for one that may pass, or of a section.
    ///
    /// A run without one of its sections is never complete. A picture is told by its identity: a signed URL is another one
    /// in each run.
    init?(_ failure: SyncReport.Failure, _ identity: PictureIdentity) {
      guard failure.stage != .section, FailureReason(rawValue: failure.reason).isLasting else {
        return nil
      }
      stage = failure.stage
      url = stage == .picture ? identity.text(of: failure.url) : failure.url
    }
  }

  private let report: [UInt8]?
  private let content = Mutex<Content?>(nil)

  private let identity: PictureIdentity

  /// A report as its run wrote it.
  ///
  /// - Parameters:
  ///   - report: The report; nil for a first run.
  ///   - identity: The rule for pictures' identities.
  init(_ report: [UInt8]?, _ identity: PictureIdentity) {
    (self.report, self.identity) = (report, identity)
  }

  /// The items that could not be read of the section with that key.
  func skips(of key: String) -> Skips { read().skips[key] ?? Skips() }

  /// Marks the failures as known that are expected to last and that this report has too.
  func mark(_ failures: inout [SyncReport.Failure]) {
    for place in failures.indices {
      guard let failed = Failed(failures[place], identity) else { continue }
      failures[place].isKnown = read().lasting.contains(failed)
    }
  }

  /// Whether failures that a report only counts are known: they are expected to last, and this report has no fewer.
  func knows(_ omitted: SyncReport.FailureCounts) -> Bool {
    omitted.allSatisfy { stage, counts in
      stage != .section
        && counts.allSatisfy { reason, count in
          FailureReason(rawValue: reason).isLasting
            && read().omitted[stage]?[reason, default: 0] ?? 0 >= count
        }
    }
  }

  private func read() -> Content {
    content.withLock { content in
      let found = content ?? decoded()
      content = found
      return found
    }
  }

  private func decoded() -> Content {
    var content = Content()
    guard let report = report.flatMap({ try? SyncReport(json: $0) }) else { return content }
    for section in report.sections {
      // An item without a row is counted without its id.
      content.skips[section.key] = Skips(unnamed: section.skipped, unread: Set(section.unread))
    }
    for row in report.skipped where row.lost == .item && row.id != nil {
      content.skips[row.section, default: Skips()].unnamed -= 1
    }
    content.lasting = Set(report.failures.compactMap { Failed($0, identity) })
    content.omitted = report.failuresOmitted
    return content
  }
}
