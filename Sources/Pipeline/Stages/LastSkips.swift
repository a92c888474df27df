import Catalog
import Synchronization

/// What the last run could not read, section by section, out of its report, which is read when it is
/// first asked for: most runs skip nothing.
final class LastSkips: Sendable {
  /// What one section had.
  struct Section: Sendable, Equatable {
    /// How many items that cannot be read had no id either.
    var unnamed = 0
    /// The items that were shown from before because theirs could not be read.
    var unread: Set<String> = []
  }

  private let report: [UInt8]?
  private let sections = Mutex<[String: Section]?>(nil)

  /// The skips of the run that wrote this report; none without one.
  init(_ report: [UInt8]?) {
    self.report = report
  }

  /// What the section of that key had.
  subscript(_ key: String) -> Section {
    sections.withLock { sections in
      let read = sections ?? Self.read(report)
      sections = read
      return read[key] ?? Section()
    }
  }

  private static func read(_ bytes: [UInt8]?) -> [String: Section] {
    guard let report = bytes.flatMap({ try? SyncReport(json: $0) }) else { return [:] }
    var sections: [String: Section] = [:]
    for section in report.sections {
      // What has no row is counted without its id.
      sections[section.key] = Section(unnamed: section.skipped, unread: Set(section.unread))
    }
    for row in report.skipped where row.lost == .item && row.id != nil {
      sections[row.section, default: Section()].unnamed -= 1
    }
    return sections
  }
}
