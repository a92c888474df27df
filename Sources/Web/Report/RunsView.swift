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

/// The template data of the report's part "runs over time": a calendar, two charts and a table.
struct RunsView {
  /// A row of the table, which shows one run of `sync` or `warm`.
  struct Row {
    let number: String
    let began: MomentView
    let outcome, tone: String
    let duration, received, requests, failures: String
  }

  let summary: String
  let calendar: CalendarView
  let plots: [PlotView]
  let rows: [Row]

  /// The number of runs in the table; the charts show more runs.
  private static let tableRows = 12

  init(_ data: ReportData, _ clock: PageClock, _ language: PageLanguage) {
    calendar = CalendarView(data.times, clock, language)
    let say = language.of
    let good = data.times.count { $0.outcome == "complete" }
    summary = say(
      "\(good.grouped) of \(language.count(data.times.count, "run", "runs", "")) "
        + "in half a year were complete",
      "반년 동안 \(data.times.count.grouped)번 실행, \(good.grouped)번 완료"
    )
    rows = data.runs.prefix(Self.tableRows).map { run in
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
    let ended = data.runs.reversed().filter { $0.report != nil }
    func plot(
      _ title: String,
      _ value: (SyncReport) -> Double,
      _ text: (Double) -> String
    ) -> PlotView {
      let points = ended.map { run in
        PlotView.Point(
          value: run.report.map(value) ?? 0,
          tone: Self.tone(run.time.outcome),
          when: clock.text(run.time.started)
        )
      }
      return PlotView(title, points, text, language)
    }
    let all = [
      plot(say("How long runs took", "걸린 시간"), \.durationSeconds, language.duration),
      plot(say("Picture bytes received", "받은 사진 크기")) {
        Double($0.pictures.bytesFetched)
      } _: {
        ByteCount(Int64($0)).formatted()
      },
    ]
    plots = ended.count > 1 ? all : []
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

/// The template data of a bar chart with one bar for each run.
struct PlotView {
  /// The value of a bar, with the run's outcome and time.
  struct Point {
    let value: Double
    let tone: String
    let when: String
  }

  /// A bar, with its place in the drawing.
  struct Bar {
    let x, y, width, height: String
    let tone, label: String
  }

  let title, summary: String
  /// The highest value, and the times of the first and the last run.
  let top, first, last: String
  let bars: [Bar]

  /// Creates a chart.
  ///
  /// - Parameters:
  ///   - title: The chart's title.
  ///   - points: The values of the bars, the oldest first.
  ///   - text: Formats a value.
  ///   - language: The page's language.
  init(
    _ title: String,
    _ points: [Point],
    _ text: (Double) -> String,
    _ language: PageLanguage
  ) {
    self.title = title
    let most = points.map(\.value).max() ?? 0
    let step = 480 / Double(max(points.count, 12))
    bars = points.enumerated().map { place, point in
      let height = most > 0 ? max(1.5, 82 * point.value / most) : 1.5
      return Bar(
        x: (Double(place) * step).coordinate,
        y: (100 - height).coordinate,
        width: max(2, min(step - 3, 28)).coordinate,
        height: height.coordinate,
        tone: point.tone,
        label: "\(point.when) · \(text(point.value))"
      )
    }
    top = text(most)
    first = points.first.map(\.when) ?? ""
    last = points.count > 6 ? points.last.map(\.when) ?? "" : ""
    summary = language.of(
      "\(title): \(points.count) runs, at most \(top), the last \(text(points.last?.value ?? 0))",
      "\(title): \(points.count)번 실행, 최대 \(top), 마지막 \(text(points.last?.value ?? 0))"
    )
  }
}

extension Double {
  /// This coordinate of a drawing with at most one decimal, such as `12` or `12.5`.
  package var coordinate: String {
    let tenths = Int((self * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
  }
}

/// The template data of a calendar of half a year, with the best outcome of each day.
///
/// Each week is a column.
struct CalendarView {
  /// A day, with its place in the drawing.
  struct Day: Equatable {
    let x, y, height, radius: Int
    let tone: String
    let label: String
  }

  /// The name of a month, with its place in the drawing.
  struct Label: Equatable {
    let x: Int
    let text: String
  }

  let summary: String
  let days: [Day]
  let labels: [Label]

  /// Creates a calendar of runs that ends with the present day.
  init(_ times: [RunTime], _ clock: PageClock, _ language: PageLanguage) {
    let ranks = ["good": 3, "warn": 2, "bad": 1]
    var best: [Int: String] = [:]
    for time in times {
      let tone = RunsView.tone(time.outcome)
      let day = clock.day(time.started)
      if (ranks[tone] ?? 0) > (best[day].flatMap { ranks[$0] } ?? 0) { best[day] = tone }
    }
    let today = clock.day(clock.now)
    // Day 0, 1970-01-01, was a Thursday. Weeks begin on Monday.
    let weekday = { (day: Int) in ((day + 3) % 7 + 7) % 7 }
    let first = today - weekday(today) - ReportData.days + 7
    let say = language.of
    let names = [
      "good": say("a complete run", "온전한 실행"), "warn": say("only partial runs", "일부만 된 실행"),
      "bad": say("failed runs only", "실패한 실행만"), "no": say("no run", "실행 없음"),
    ]
    days = (first...today).map { day in
      let tone = best[day] ?? "no"
      // A day's mark shows the outcome by its colour and by its height: full, half, or a dash.
      let height = tone == "warn" ? 7 : tone == "bad" ? 3 : 12
      return Day(
        x: 2 + (day - first) / 7 * 15,
        y: 18 + weekday(day) * 15 + (12 - height) / 2,
        height: height,
        radius: min(3, height / 2),
        tone: tone,
        label: "\(PageClock.date(day)): \(names[tone] ?? "")"
      )
    }
    labels = stride(from: first, through: today, by: 7).compactMap { monday in
      let date = PageClock.date(monday + 6)
      guard let dayOfMonth = Int(date.suffix(2)), dayOfMonth <= 7 else { return nil }
      let month = Int(date.dropLast(3).suffix(2)) ?? 1
      let x = 2 + (monday - first) / 7 * 15
      return Label(x: x, text: language.month(month))
    }
    let count = { (tone: String) in best.filter { $0.key >= first && $0.value == tone }.count }
    let idle = days.count - count("good") - count("warn") - count("bad")
    summary = say(
      """
      \(days.count) days: \(count("good")) with a complete run, \(count("warn")) with partial runs \
      only, \(count("bad")) with failed runs only, \(idle) without a run
      """,
      """
      \(days.count)일: 온전한 실행 \(count("good"))일, 일부만 된 실행 \(count("warn"))일, \
      실패한 실행만 \(count("bad"))일, 실행 없음 \(idle)일
      """
    )
  }
}

extension PageLanguage {
  /// The short name of a month, such as `Jan` for 1.
  func month(_ number: Int) -> String {
    let names = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    return of(names[min(max(number, 1), 12) - 1], "\(number)월")
  }
}
