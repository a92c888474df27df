/// A shortened report for emails and monitoring. The whole report about an unreachable shop would list each of the
/// shop's items.
extension SyncReport {
  /// The maximum number of entries of each kind in ``brief``, such as failures with the same reason.
  package static let mostBrief = 100

  /// The report with at most 100 entries of each kind.
  ///
  /// It has at most 100 failures with the same stage and reason, 100 unreadable items with the same section and reason,
  /// and 100 entries in every other list.
  ///
  /// The report itself counts the failures, unreadable items and unfinished requests that are left out. ``briefOmits``
  /// has the numbers of the other entries that are left out.
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
    for request in unfinished.dropFirst(Self.mostBrief) {
      brief.unfinishedOmitted[request.stage, default: 0] += 1
    }
    return brief
  }

  /// For each list that ``brief`` shortens, the number of entries that it leaves out.
  ///
  /// Failures, unreadable items and unfinished requests are not in it, because the report itself counts those that are
  /// left out.
  ///
  /// The keys are the paths of the lists in the JSON document, for example `items.added`.
  package var briefOmits: [String: Int] {
    let counts = [
      "items.added": items.added.count, "items.removed": items.removed.count,
      "items.withheld": items.withheld.count, "items.changed": items.changed.count,
      "details.withheld": details.withheld.count,
    ]
    return counts.mapValues { $0 - Self.mostBrief }.filter { $0.value > 0 }
  }
}
