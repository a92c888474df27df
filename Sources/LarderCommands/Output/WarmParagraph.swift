import Catalog
import Pipeline

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
    guard report.outcome != .complete else { return nil }
    var sentences = first(sections, of: "section") + first(sectionFailures, of: "fault")
    sentences += failures + first(report.guardWords.map(Self.sentence), of: "section")
    if let words = KnownFailures(report).words { sentences.append("\(words).") }
    if !report.unfinished.isEmpty {
      sentences.append(
        "\(Quantities.count(report.unfinished.count, "request")) did not fit into this run and "
          + "will be first in the next."
      )
    }
    sentences.append(
      "What was had before is still shown; larder status --cache \(ShownCommand.word(PlainText.line(cache))) says more."
    )
    let headline = "\(report.catalog): \(report.outcome.rawValue)."
    return ([headline] + sentences).joined(separator: " ")
  }

  private var sections: [String] {
    report.sections.compactMap { section in
      switch section.source {
      case .network, .unchanged:
        section.isIncomplete ? section.commandText.map(Self.sentence) : nil
      case .withheld: nil
      case .stale:
        "Section \(section.key) is the last good one: "
          + "\(section.commandText ?? "it could not be had")."
      case .failed:
        "Section \(section.key) was never had: \(section.commandText ?? "no reason known")."
      }
    }
  }

  /// Failures of a section that is shown, or of all details together: a field that is nowhere, a section without key.
  private var sectionFailures: [String] {
    let said = Set(report.sections.compactMap(\.commandText))
    return report.failures.filter(\.isOfMany).compactMap(\.commandText)
      .filter { !said.contains($0) && $0.hasPrefix("cannot ") }.map(Self.sentence)
  }

  /// The first of many sentences, and how many more there are: it is a mail, not a log.
  private func first(_ sentences: [String], of what: String) -> [String] {
    let most = 8
    guard sentences.count > most else { return sentences }
    return sentences.prefix(most) + ["And \(Quantities.count(sentences.count - most, what)) more."]
  }

  private static func sentence(_ words: String) -> String {
    words.prefix(1).uppercased() + words.dropFirst() + "."
  }

  /// One line for each item and field that could not be read, the first ten unless all are asked for.
  func skipped(all: Bool) -> [String] {
    let lines = report.skipped.map { "\(report.catalog): \($0.words)" }
    let omitted = report.omittedSkips.map { "\(report.catalog): \($0)" }
    guard !all, lines.count > 10 else { return lines + omitted }
    return lines.prefix(10) + omitted
      + ["\(report.catalog): \(lines.count - 10) more skipped; -v or --json lists them"]
  }

  /// One sentence a stage: how many of how many, and the reasons, the most frequent first.
  private var failures: [String] {
    let totals: [(stage: SyncReport.Stage, noun: String, total: Int)] = [
      (.detail, "detail", report.details.total), (.image, "picture", report.images.unique),
    ]
    return totals.compactMap { stage, noun, total in
      let failed = report.failures.filter { $0.stage == stage && !$0.isKnown && !$0.isOfMany }
      guard let first = failed.first else { return nil }
      var counts = report.failureCounts(known: false)[stage] ?? [:]
      for failure in report.failures where failure.stage == stage && failure.isOfMany {
        counts[failure.reason] = nil
      }
      let reasons = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      return
        "\(counts.values.reduce(0, +)) of \(Quantities.count(total, noun)) failed (\(reasons)), "
        + "such as \(first.url)."
    }
  }
}

extension SyncReport.Failure {
  /// Whether it says something of a whole section or of all details, rather than of one detail or picture.
  fileprivate var isOfMany: Bool { stage == .section || stage == .detail && id == nil }
}

extension SyncReport.Section {
  /// Whether the feed lists more than this run could read.
  var isIncomplete: Bool {
    (source == .network || source == .unchanged) && error != nil && withheld == 0 && kept.isEmpty
  }
}
