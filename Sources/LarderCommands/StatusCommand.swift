import ArgumentParser
import Base
import Catalog
import CurlTransport
import FoundationEssentials
import Pipeline
import Transport

/// `larder status`: prints the state of the cache.
struct StatusCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "shown, and recent enough if --check is given",
      .failed: "there is no cache",
      .partial: "a catalog is older than --check allows",
      .io: "the cache cannot be read",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the cache's age, size and failures, with the time when each failure began.",
    discussion: """
      Example:  larder status
                larder status --check 6h    for monitoring

      \(statuses.text)
      """
  )

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Fail if a catalog's last complete run is older.", valueName: "age"),
    transform: DurationArgument.read
  )
  var check: DurationArgument?

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let summary = try CacheSummary(cache: try cache.place(reading: true, nil).path)
    let document = StatusDocument(summary, now: UnixTime.now())
    if output.json {
      Output.json(try document.json())
    } else if !output.quiet {
      Output.data(document.text(Terminal(output)))
    }
    if let check, let complaint = document.complaint(olderThan: check.seconds) {
      Log(output).warning(complaint)
      Output.end(.partial)
    }
  }
}

/// The state of a cache, as JSON or text.
struct StatusDocument: Encodable {
  private let summary: CacheSummary
  private let now: UnixTime

  init(_ summary: CacheSummary, now: UnixTime) {
    self.summary = summary
    self.now = now
  }

  /// The warning of `--check`, which names the catalogs without a complete run in the last `seconds`; nil when every
  /// catalog had such a run.
  func complaint(olderThan seconds: Double) -> String? {
    guard !summary.catalogs.isEmpty else { return "no catalog was ever synced" }
    let late = summary.catalogs.compactMap { catalog -> String? in
      guard let complete = catalog.complete else { return "\(catalog.name) never" }
      // A time in the future was recorded before the clock was set back, so it does not count as recent.
      let isRecent =
        Double(now - complete) <= seconds && complete <= now + FreshnessPolicy.clockTolerance
      return isRecent ? nil : "\(catalog.name) \(age(complete))"
    }
    guard !late.isEmpty else { return nil }
    return
      "no complete run within \(Quantities.duration(seconds)): \(late.joined(separator: ", "))"
  }

  private enum Key: String, CodingKey {
    case catalogs, pictures, bytes, oldestCheck, failing
    case name, run, finished, outcome, complete, items, stale, url, reason, since
    case section, source
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode(summary.pictures, forKey: .pictures)
    try body.encode(summary.bytes, forKey: .bytes)
    try body.encode(summary.oldestCheck.map(\.rfc3339), forKey: .oldestCheck)
    var catalogs = body.nestedUnkeyedContainer(forKey: .catalogs)
    for catalog in summary.catalogs {
      var entry = catalogs.nestedContainer(keyedBy: Key.self)
      try entry.encode(catalog.name, forKey: .name)
      try entry.encode(catalog.run, forKey: .run)
      try entry.encode(catalog.finished.map(\.rfc3339), forKey: .finished)
      try entry.encode(catalog.outcome, forKey: .outcome)
      try entry.encode(catalog.complete.map(\.rfc3339), forKey: .complete)
      try entry.encode(catalog.items, forKey: .items)
      try entry.encode(catalog.stale, forKey: .stale)
      var sections = entry.nestedUnkeyedContainer(forKey: .failing)
      for section in catalog.failing {
        var row = sections.nestedContainer(keyedBy: Key.self)
        try row.encode(section.key, forKey: .section)
        try row.encode(section.source, forKey: .source)
        try row.encode(section.reason, forKey: .reason)
        try row.encode(section.since.map(\.rfc3339), forKey: .since)
      }
    }
    var failing = body.nestedUnkeyedContainer(forKey: .failing)
    for picture in summary.failing {
      var entry = failing.nestedContainer(keyedBy: Key.self)
      try entry.encode(picture.url, forKey: .url)
      try entry.encode(picture.reason, forKey: .reason)
      try entry.encode(picture.since.map(\.rfc3339), forKey: .since)
    }
  }

  /// One line of JSON.
  func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// The state as text.
  func text(_ terminal: Terminal) -> String {
    var lines: [String] = []
    if summary.catalogs.isEmpty {
      lines.append("no catalog: nothing was synced yet; run larder sync CATALOG")
    }
    for catalog in summary.catalogs {
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
      if !catalog.stale.isEmpty {
        lines.append("  not current: \(catalog.stale.map(PlainText.line).joined(separator: ", "))")
      }
      for section in catalog.failing {
        let since = section.since.map { " since \($0.rfc3339)" } ?? ""
        lines.append(
          "  section \(section.key): \(section.source)\(since): \(section.commandText ?? "unknown")"
        )
      }
      lines += failures(catalog)
    }
    lines.append("pictures: \(summary.pictures) held, \(summary.bytes.formatted())")
    if let oldest = summary.oldestCheck { lines.append("oldest check: \(age(oldest))") }
    if summary.failing.isEmpty {
      lines.append("failing pictures: none")
    } else {
      lines.append("failing pictures: \(summary.failing.count)")
      for picture in summary.failing.prefix(10) {
        let since = picture.since.map { " since \($0.rfc3339)" } ?? ""
        lines.append(PlainText.row("  \(picture.reason)\(since)  \(picture.url)"))
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The other failures of the last run: missing fields, then the number of failed details with their reasons.
  private func failures(_ catalog: CacheSummary.Catalog) -> [String] {
    let failures = catalog.report?.failures ?? []
    let said = Set(catalog.failing.compactMap(\.commandText))
    var lines = failures.filter { $0.stage == .section }.compactMap(\.commandText)
      .filter { !said.contains($0) && $0.hasPrefix("cannot ") }.prefix(10).map { "  \($0)" }
    if let first = failures.first(where: { $0.stage == .detail && !$0.isKnown }) {
      let counts = catalog.report?.failureCounts(known: false)[.detail] ?? [:]
      let reasons = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      let count = counts.values.reduce(0, +)
      lines.append("  \(count) details failed (\(reasons)), such as \(first.url)")
    }
    if let words = catalog.report.flatMap({ KnownFailures($0).words }) {
      lines.append("  \(words)")
    }
    return lines
  }

  private func age(_ moment: UnixTime) -> String {
    let seconds = now - moment
    return seconds < 0 ? "in the future" : "\(Quantities.duration(Double(seconds))) ago"
  }
}
