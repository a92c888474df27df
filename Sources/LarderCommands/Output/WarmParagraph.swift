import Larder

/// What an unattended run says when something is wrong: one paragraph for a person's mail.
struct WarmParagraph {
  private let report: SyncReport
  private let cache: String

  init(_ report: SyncReport, cache: String) {
    self.report = report
    self.cache = cache
  }

  /// The paragraph, or nil when all is well.
  var text: String? {
    guard report.outcome != .complete else {
      return report.assumptions.map { "\(report.catalog): complete, but: \($0)." }
    }
    var sentences = sections + failures
    if !report.items.withheld.isEmpty {
      sentences.append(
        "The feed dropped \(Quantities.count(report.items.withheld.count, "item")) at once, which "
          + "looks like a fault: they are kept until the feed lists them again or a run with "
          + "--allow-removals lets them go."
      )
    }
    if !report.unfinished.isEmpty {
      sentences.append(
        "\(Quantities.count(report.unfinished.count, "request")) did not fit into this run and "
          + "will be first in the next."
      )
    }
    sentences.append(
      "What was had before is still shown; larder status --cache \(cache) says more."
    )
    let headline = "\(report.catalog): \(report.outcome.rawValue)."
    return ([headline] + sentences).joined(separator: " ")
  }

  private var sections: [String] {
    report.sections.compactMap { section in
      switch section.source {
      case .network, .unchanged: nil
      case .stale:
        "Section \(section.key) is the last good one: \(section.error ?? "it could not be had")."
      case .failed: "Section \(section.key) was never had: \(section.error ?? "no reason known")."
      }
    }
  }

  /// One sentence a stage: how many of how many, and the reasons, the most frequent first.
  private var failures: [String] {
    let totals: [(stage: SyncReport.Stage, noun: String, total: Int)] = [
      (.detail, "detail", report.details.total), (.image, "picture", report.images.unique),
    ]
    return totals.compactMap { stage, noun, total in
      let failed = report.failures.filter { $0.stage == stage }
      guard let first = failed.first else { return nil }
      let counts = Dictionary(failed.map { ($0.reason, 1) }, uniquingKeysWith: +)
      let reasons = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      return "\(failed.count) of \(Quantities.count(total, noun)) failed (\(reasons)), "
        + "such as \(first.url)."
    }
  }
}
