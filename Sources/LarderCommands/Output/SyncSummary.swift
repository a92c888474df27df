import Base
import Catalog
import Pipeline
import Transport

/// The summary of a sync on the terminal.
struct SyncSummary {
  let report: SyncReport
  let terminal: Terminal

  /// Prints the summary on stdout, unless `--quiet` is given, and the warnings on stderr.
  func print(_ output: OutputOptions) {
    if !output.quiet { Output.data(text) }
    for warning in warnings(all: output.verbose > 0) { Log(output).warning(warning) }
  }

  /// A headline, one line for each section, then lines for items, details and pictures.
  var text: String {
    var lines = [headline]
    let rows = report.sections.map { section in
      let result =
        [Quantities.count(section.items, "item"), section.source.rawValue]
        + Quantities.counts([
          (section.skipped, "skipped"), (section.repeats, "listed on an earlier page too"),
        ]) + (section.isIncomplete ? ["incomplete"] : [])
      return [
        PlainText.line(section.key), PlainText.line(section.title), result.joined(separator: ", "),
      ]
    }
    lines += aligned(rows).map { "  " + $0.joined(separator: "  ") }
    lines.append("  items     \(items)")
    if report.details.total > 0 { lines.append("  details   \(details)") }
    lines.append("  pictures  \(pictures)")
    if let squares = report.squares { lines.append("  squares   \(text(squares))") }
    return lines.joined(separator: "\n")
  }

  private var headline: String {
    let color: Terminal.Color =
      switch report.outcome {
      case .complete: .green
      case .partial, .withheld, .interrupted: .yellow
      case .failed: .red
      }
    let run = report.run.map { " (run \($0))" } ?? ""
    return "\(terminal.paint(PlainText.line(report.catalog), .bold)): "
      + terminal.paint(report.outcome.rawValue, color)
      + " in \(Quantities.duration(report.durationSeconds))\(run)"
  }

  private var items: String {
    let items = report.items
    let counts = Quantities.counts([
      (items.added.count, "added"), (items.removed.count, "removed"),
      (Set(items.changed.map(\.id.exact)).count, "changed"), (items.withheld.count, "withheld"),
    ])
    return (["\(items.total) shown"] + counts).joined(separator: ", ")
  }

  private var details: String {
    let details = report.details
    return Quantities.counts([
      (details.fetched, "fetched"), (details.unchanged, "unchanged"),
      (details.missing, "without detail"), (details.stale, "kept from before"),
      (details.failed, "failed"),
    ]).joined(separator: ", ")
  }

  private var pictures: String {
    let pictures = report.pictures
    let total = "\(pictures.total) (\(Quantities.count(pictures.referenced, "reference")))"
    let counts = Quantities.counts([
      (pictures.fetched, "fetched"), (pictures.revalidated, "revalidated"),
      (pictures.fresh, "fresh"), (pictures.failed, "failed"),
    ])
    let bytes = [
      "\(ByteCount(pictures.bytesFetched).formatted()) received",
      "\(ByteCount(pictures.bytesHeld).formatted()) held",
    ]
    return ([total] + counts + bytes).joined(separator: ", ")
  }

  private func text(_ squares: SyncReport.Squares) -> String {
    let counts = Quantities.counts([
      (squares.fresh, "existing"), (squares.removed, "removed"), (squares.unfit, "not possible"),
      (squares.unfinished, "unfinished"),
    ])
    return (["\(squares.made) made (\(squares.side) × \(squares.side))"] + counts)
      .joined(separator: ", ")
  }

  /// The reasons why no square could be made of some pictures.
  ///
  /// Hundreds of pictures can have the same reason, so each reason is given once, with the number of its pictures.
  private var withoutSquare: [String] {
    let failures = report.squares?.failures ?? []
    let alike = Dictionary(grouping: failures) { $0.reason.replacing($0.path, with: "") }
    return alike.values.sorted { $0[0].path < $1[0].path }.map { failures in
      let rest = failures.count - 1
      return "no square: \(failures[0].reason)" + (rest > 0 ? " (and \(rest) more like it)" : "")
    }
  }

  private static func sentence(_ failure: SyncReport.Failure) -> String {
    let what = failure.id.map { "\(failure.stage.rawValue) \($0)" } ?? failure.stage.rawValue
    return "\(what): \(failure.reason): \(failure.commandText ?? failure.url)"
      + (failure.detail == nil ? "" : " (\(failure.url))")
      + (failure.advice.map { "; \($0)" } ?? "")
  }

  /// The sentences about some failures.
  ///
  /// If `all` is false, failures of one stage that differ only in their id and URL get one sentence, about the first.
  private static func sentences(_ failures: [SyncReport.Failure], all: Bool) -> [String] {
    guard !all else { return failures.map(sentence) }
    var places: [[String]: [Int]] = [:]
    for (place, failure) in failures.enumerated() {
      let words = failure.commandText?.replacing(failure.url, with: "") ?? ""
      places[[failure.stage.rawValue, failure.reason, words], default: []].append(place)
    }
    return places.values.sorted { $0[0] < $1[0] }.map { alike in
      let rest = alike.count - 1
      return sentence(failures[alike[0]]) + (rest > 0 ? " (and \(rest) more like it)" : "")
    }
  }

  /// The problems, one sentence for each kind; with `all`, one for each problem.
  ///
  /// If `all` is false, only the first ten are listed.
  func warnings(all: Bool) -> [String] {
    // Problems of whole sections come first, because there can be very many problems with items and pictures.
    var warnings = Self.sentences(report.failures.filter { $0.stage == .section }, all: all)
    warnings += report.guardWords
    warnings += report.sections.compactMap { section in
      section.warning.map { "section \(section.key): \($0)" }
    }
    let others = report.failures.filter { $0.stage != .section && (all || !$0.isKnown) }
    warnings += Self.sentences(others, all: all)
    warnings += report.skipped.map(\.words)
    if !all, let words = report.knownFailures {
      warnings.append("\(words); -v names each")
    }
    warnings += withoutSquare
    let count = report.unfinishedCount
    if count > 0 {
      let were = count == 1 ? "was" : "were"
      let cause =
        switch report.limit {
        case .bytesLimit?: ", because --max-bytes is used up; run again, or allow more"
        case .deadline?: ", because --deadline is over; run again"
        default: "; run again"
        }
      warnings.append("\(Quantities.count(count, "request")) \(were) not finished\(cause)")
    }
    if let count = report.squares?.unfinished, count > 0 {
      warnings.append("\(Quantities.count(count, "square")) not made; run again")
    }
    return Self.first(warnings, all: all, report.omittedSkips + report.omittedFailures)
  }

  /// The lines that `warm` prints, which cron mails: the outcome and the problems; for a complete run, the left-out items.
  func mail(cache: String, all: Bool) -> [String] {
    let name = PlainText.line(report.catalog)
    guard report.outcome != .complete else {
      return Self.first(report.skipped.map(\.words), all: all, report.omittedSkips)
        .map { "\(name): \($0)" }
    }
    let status = "larder status --cache \(ShellWord.quoted(PlainText.line(cache)))"
    let headline = "\(report.outcome.rawValue); \(status) says more"
    return ([headline] + warnings(all: all)).map { "\(name): \($0)" }
  }

  /// The first ten lines and the number of the others, or all lines, and then the counts of what a report leaves out.
  private static func first(_ lines: [String], all: Bool, _ counts: [String]) -> [String] {
    let rest = all ? 0 : lines.count - 10
    guard rest > 0 else { return lines + counts }
    return lines.prefix(10) + counts + ["\(rest) more; -v or --json lists them"]
  }
}

extension SyncReport {
  /// The messages of the guards: one sentence for each section, then the sentences about details.
  ///
  /// A guard keeps the old data if the shop suddenly removes much of it at once.
  var guardWords: [String] {
    var words = sections.filter { $0.source == .withheld || $0.withheld > 0 || !$0.kept.isEmpty }
      .compactMap(\.commandText)
    if let first = details.withheld.first {
      words.append(
        "cannot drop \(details.withheld.count) of \(Quantities.count(details.total, "detail")), such as "
          + "that of \(first): the shop does not have them any more, which looks like a fault, so they "
          + "are kept; \(SyncReport.Remedy.acceptRemovals.commandText)"
      )
    }
    if let error = details.commandText { words.append(error) }
    return words
  }
}

extension SyncReport {
  /// The number of failures that the previous run already reported, in words; nil when there are none.
  ///
  /// For example, `1 known failing detail and 2 known failing pictures`.
  var knownFailures: String? {
    let counts: [(SyncReport.Stage, String)] = [
      (.detail, "known failing detail"), (.picture, "known failing picture"),
    ]
    let known = failureCounts(known: true)
    let parts = counts.compactMap { stage, noun -> String? in
      let count = (known[stage] ?? [:]).values.reduce(0, +)
      return count == 0 ? nil : Quantities.count(count, noun)
    }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  /// The reasons of failures with their counts, the most frequent first, such as `http-404 12, timeout-idle 3`.
  static func words(_ counts: [String: Int]) -> String {
    mostFrequent(counts).map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }

  /// The counts, the largest first; equal counts are sorted by their reasons.
  private static func mostFrequent(_ counts: [String: Int]) -> [(key: String, value: Int)] {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
  }

  /// One sentence for each section about the unreadable items that the report only counts.
  var omittedSkips: [String] {
    sections.filter { !$0.skippedReasons.isEmpty }.map {
      "section \($0.key): … and \(Self.omitted($0.skippedReasons))"
    }
  }

  /// One sentence for each stage, such as `image`, about the failures that the report only counts.
  var omittedFailures: [String] {
    Stage.allCases.compactMap { stage in
      failuresOmitted[stage].map { "\(stage.rawValue): … and \(Self.omitted($0))" }
    }
  }

  /// The sum of the counts, then the most frequent reasons.
  ///
  /// For example, `1,048 more: 1,000 × expected an object, 48 × the item has no id`.
  private static func omitted(_ counts: [String: Int]) -> String {
    let reasons = mostFrequent(counts).prefix(5)
      .map { "\($0.value.grouped) × \($0.key)" }.joined(separator: ", ")
    return "\(counts.values.reduce(0, +).grouped) more: \(reasons)"
      + (counts.count > 5 ? ", …" : "")
  }
}

extension SyncReport.Skipped {
  /// A sentence about an item or a field that was left out: the section, the item, the field and the reason.
  var words: String {
    let place = index.map { "item \($0)" } ?? "an item"
    let name = place + (id.map { " (\($0))" } ?? "")
    switch lost {
    case .item where reason == SkippedItem.duplicateID:
      return "section \(section): skipped \(name): an earlier item of the section has the same id"
    case .item:
      return "section \(section): skipped \(name)" + (field.map { ", \($0)" } ?? "")
        + ": \(reason)"
    case .field:
      let part = index == nil ? "the detail's field" : "field"
      return "section \(section): \(name): left out \(part)" + (field.map { " \($0)" } ?? "")
        + ": \(reason)"
    }
  }
}

extension SyncReport.Section {
  /// Whether the shop lists more items than this run could read.
  fileprivate var isIncomplete: Bool {
    (source == .network || source == .unchanged) && error != nil && withheld == 0 && kept.isEmpty
  }
}
