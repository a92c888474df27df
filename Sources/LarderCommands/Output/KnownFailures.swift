import Pipeline

/// The lasting failures of a run that an earlier run has reported, counted.
struct KnownFailures {
  private let report: SyncReport

  init(_ report: SyncReport) {
    self.report = report
  }

  /// `1 known failing detail and 2 known failing pictures`; nil when there are none.
  var words: String? {
    let counts: [(SyncReport.Stage, String)] = [
      (.detail, "known failing detail"), (.image, "known failing picture"),
    ]
    let known = report.failureCounts(known: true)
    let parts = counts.compactMap { stage, noun -> String? in
      let count = (known[stage] ?? [:]).values.reduce(0, +)
      return count == 0 ? nil : Quantities.count(count, noun)
    }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }
}
