/// A report for mails and monitors, where a shop that is down would list each of its items.
extension SyncReport {
  /// How many of a kind ``brief`` lists.
  package static let mostBrief = 100

  /// The same report with the first hundred failures of each stage and reason, the first hundred rows of each section
  /// and reason, and the first hundred entries of every other list.
  ///
  /// Further failures and rows are in the counts that the report has for them; ``briefOmits`` counts the rest.
  package var brief: SyncReport {
    var brief = self
    brief.failures = []
    var failures: [String: Int] = [:]
    for failure in self.failures {
      let kind = "\(failure.stage) \(failure.reason) \(failure.isKnown)"
      failures[kind, default: 0] += 1
      if failures[kind] ?? 0 <= Self.mostBrief {
        brief.failures.append(failure)
      } else {
        brief.failuresOmitted[failure.stage, default: [:]][failure.reason, default: 0] += 1
      }
    }
    brief.skipped = []
    var rows: [String: Int] = [:]
    for row in skipped {
      let kind = "\(row.section) \(row.reason)"
      rows[kind, default: 0] += 1
      let place = brief.sections.firstIndex { $0.key == row.section }
      if let place, rows[kind] ?? 0 > Self.mostBrief {
        brief.sections[place].skippedReasons[row.reason, default: 0] += 1
      } else {
        brief.skipped.append(row)
      }
    }
    brief.items.added = Array(items.added.prefix(Self.mostBrief))
    brief.items.removed = Array(items.removed.prefix(Self.mostBrief))
    brief.items.withheld = Array(items.withheld.prefix(Self.mostBrief))
    brief.items.changed = Array(items.changed.prefix(Self.mostBrief))
    brief.details.withheld = Array(details.withheld.prefix(Self.mostBrief))
    brief.unfinished = Array(unfinished.prefix(Self.mostBrief))
    return brief
  }

  /// How many entries of its lists ``brief`` leaves out without another count, by the list's path in the document.
  package var briefOmits: [String: Int] {
    let counts = [
      "items.added": items.added.count, "items.removed": items.removed.count,
      "items.withheld": items.withheld.count, "items.changed": items.changed.count,
      "details.withheld": details.withheld.count, "unfinished": unfinished.count,
    ]
    return counts.mapValues { $0 - Self.mostBrief }.filter { $0.value > 0 }
  }
}
