import ArgumentParser
import Base
import Catalog
import Pipeline
import Transport

/// `larder status`: prints the state of the cache.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the cache's age, size and failures, with the time when each failure began.",
    discussion: """
      Example:  larder status
                larder status --check 6h    for monitoring
      """,
    statuses: [
      .done: "shown, and recent enough if --check is given",
      .failed: "there is no cache",
      .partial: "a catalog is older than --check allows",
      .io: "the cache cannot be read",
    ]
  )

  @Option("Fail if a catalog's last complete run is older.", value: "age")
  var check: DurationArgument?

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let summary = try CacheSummary(cache: try cache.place(reading: true, nil).path)
    let now = UnixTime.now()
    try output.show(summary, text: summary.text(Terminal(output), now: now))
    if let check, let complaint = summary.complaint(olderThan: check.seconds, now: now) {
      Log(output).warning(complaint)
      Output.end(.partial)
    }
  }
}

extension CacheSummary {
  /// The warning of `--check`.
  ///
  /// It names the catalogs that had no complete run in the last `seconds`.
  ///
  /// The value is nil if every catalog had such a run.
  func complaint(olderThan seconds: Double, now: UnixTime) -> String? {
    guard !catalogs.isEmpty else { return "no catalog was ever synced" }
    let late = catalogs.compactMap { catalog -> String? in
      guard let complete = catalog.complete else { return "\(catalog.name) never" }
      // If the clock was set back, the recorded time of a run can be in the future. Such a run does not count as
      // recent.
      let isRecent =
        Double(now - complete) <= seconds && complete <= now + FreshnessPolicy.clockTolerance
      return isRecent ? nil : "\(catalog.name) \(Quantities.age(of: complete, now: now))"
    }
    guard !late.isEmpty else { return nil }
    return
      "no complete run within \(Quantities.duration(seconds)): \(late.joined(separator: ", "))"
  }

  /// The state as text: a paragraph for each catalog, then the pictures and their failures.
  func text(_ terminal: Terminal, now: UnixTime) -> String {
    func age(_ moment: UnixTime) -> String { Quantities.age(of: moment, now: now) }
    var lines: [String] = []
    if catalogs.isEmpty {
      lines.append("no catalog: nothing was synced yet; run larder sync CATALOG")
    }
    for catalog in catalogs {
      var line = terminal.paint(PlainText.line(catalog.name), .bold)
      if let run = catalog.run, let finished = catalog.finished {
        line +=
          ": run \(run) \(catalog.outcome ?? "") \(age(finished)), \(Quantities.count(catalog.items, "item"))"
      } else {
        line += ": no run has ended yet"
      }
      lines.append(line)
      if catalog.outcome != "complete" {
        lines.append("  last complete: \(catalog.complete.map(age) ?? "never")")
      }
      lines += catalog.failing.map { section in
        "  section \(section.key): \(section.source)\(Quantities.since(section.since)): "
          + (section.commandText ?? "unknown")
      }
      lines += catalog.failures
    }
    lines.append("pictures: \(pictures) held, \(bytes.formatted())")
    if let oldestCheck { lines.append("oldest check: \(age(oldestCheck))") }
    lines.append("failing pictures: \(failing.isEmpty ? "none" : "\(failing.count)")")
    lines += failing.prefix(10).map {
      PlainText.row("  \($0.reason)\(Quantities.since($0.since))  \($0.url)")
    }
    return lines.joined(separator: "\n")
  }
}

extension CacheSummary.Catalog {
  /// Lines about the other failures of the last run: first missing fields, then the failed details.
  ///
  /// The failed details are counted by reason, such as `12 details failed (http-404 12)`.
  fileprivate var failures: [String] {
    guard let report else { return [] }
    let said = Set(failing.compactMap(\.commandText))
    var lines = report.failures.filter { $0.stage == .section }.compactMap(\.commandText)
      .filter { !said.contains($0) && $0.hasPrefix("cannot ") }.prefix(10).map { "  \($0)" }
    if let first = report.failures.first(where: { $0.stage == .detail && !$0.isKnown }) {
      let counts = report.failureCounts(known: false)[.detail] ?? [:]
      let count = counts.values.reduce(0, +)
      lines.append("  \(count) details failed (\(SyncReport.words(counts))), such as \(first.url)")
    }
    if let words = report.knownFailures { lines.append("  \(words)") }
    return lines
  }
}
