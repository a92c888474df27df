import Base
import Cache
import Pipeline

/// A time for the HTML element `time`: as text for people, and as an RFC 3339 date for programs.
struct MomentView: Equatable {
  let text, machine: String

  /// Creates the texts of a time.
  ///
  /// The short form of the text leaves out the year.
  init(_ moment: UnixTime, _ clock: PageClock, isShort: Bool = false) {
    let whole = clock.text(moment)
    (text, machine) = (isShort ? String(whole.dropFirst(5)) : whole, moment.rfc3339)
  }
}

/// The template data of the report's part "runs over time": a table of the last runs.
struct RunsView {
  /// A row of the table, which shows one run of `sync` or `warm`.
  struct Row {
    let number: String
    let began: MomentView
    let outcome, tone: String
    let duration, received, requests, failures: String
  }

  let summary: String
  let rows: [Row]

  init(_ data: ReportData, _ clock: PageClock, _ language: PageLanguage) {
    let good = data.runs.count { $0.time.outcome == "complete" }
    summary = language.of(
      "\(good) of the last \(data.runs.count) runs were complete",
      "최근 \(data.runs.count)번 실행, \(good)번 완료"
    )
    rows = data.runs.map { run in
      let report = run.report
      return Row(
        number: "\(run.time.id)",
        began: MomentView(run.time.started, clock),
        outcome: language.outcome(run.time.outcome),
        tone: Self.tone(run.time.outcome),
        duration: report.map { language.duration($0.durationSeconds) } ?? "–",
        received: report.map { ByteCount($0.pictures.bytesFetched).formatted() } ?? "–",
        requests: report.map { $0.requests.grouped } ?? "–",
        failures: report.map { $0.failureCount.grouped } ?? "–"
      )
    }
  }

  /// The CSS class for a run's outcome: `good`, `warn` or `bad`; empty if the run has not ended.
  static func tone(_ outcome: String?) -> String {
    switch outcome {
    case "complete": "good"
    case "partial", "withheld": "warn"
    case "failed", "interrupted": "bad"
    default: ""
    }
  }
}
