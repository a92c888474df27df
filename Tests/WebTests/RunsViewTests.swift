import Base
import Cache
import Testing

@testable import Web

/// The calendar and the charts of runs in the report.
@Suite struct RunsViewTests {
  @Test func `a day shows its best run, and the calendar ends today`() throws {
    let times = [
      ReportFixture.run(5, daysAgo: 0, "partial"), ReportFixture.run(4, daysAgo: 0, "complete"),
      ReportFixture.run(3, daysAgo: 1, "failed"), ReportFixture.run(2, daysAgo: 2, "withheld"),
      ReportFixture.run(1, daysAgo: 3, nil),
    ]
    let calendar = CalendarView(times, ReportFixture.clock, .english)

    #expect(calendar.days.suffix(4).map(\.tone) == ["no", "warn", "bad", "good"])
    #expect(calendar.days.last?.label == "2023-11-14: a complete run")
    // Today is a Tuesday, so the last week has two days.
    #expect(calendar.days.count == 25 * 7 + 2)
    #expect(calendar.days.first?.label.hasPrefix("2023-05-22") == true)
    #expect(calendar.summary.hasPrefix("177 days: 1 with a complete run, 1 with partial runs"))
    #expect(calendar.days.allSatisfy { $0.x + 12 <= 392 })
    #expect(calendar.days.allSatisfy { $0.y + $0.height <= 123 })
  }

  @Test func `days are counted in the local zone, not in UTC`() {
    let seoul = PageClock(now: ReportFixture.now, zone: "KST") { _ in 9 * 3600 }

    #expect(ReportFixture.clock.text(ReportFixture.now) == "2023-11-14 22:13")
    #expect(seoul.text(ReportFixture.now) == "2023-11-15 07:13")
    #expect(seoul.day(ReportFixture.now) == ReportFixture.clock.day(ReportFixture.now) + 1)
    #expect(PageClock(now: -1).day(-1) == -1)
  }

  @Test func `columns fit the chart, the highest at full height`() {
    let points = [0, 1, 4].map { PlotView.Point(value: $0, tone: "good", when: "") }
    let plot = PlotView("Time", points, { "\($0)" }, .english)

    #expect(plot.bars.map(\.height) == ["1.5", "20.5", "82"])
    #expect(plot.bars.map(\.y) == ["98.5", "79.5", "18"])
    #expect(plot.top == "4.0")
  }

  @Test func `words follow the language, and unknown locales are English`() {
    #expect(PageLanguage(locale: "ko_KR.UTF-8") == .korean)
    #expect(PageLanguage(locale: "C") == .english)
    #expect(PageLanguage.english.count(1, "item", "items", "상품") == "1 item")
    #expect(PageLanguage.korean.count(1200, "item", "items", "상품") == "상품 1,200개")
    #expect(PageLanguage.korean.duration(65) == "1분 5초")
    #expect(PageLanguage.english.duration(3700) == "1 h 1 min")
    #expect(PageLanguage.korean.duration(2 * 86_400 + 3600) == "2일 1시간")
  }

  @Test(arguments: [
    (0.04, "0.0 s"), (59.94, "59.9 s"), (59.96, "1 min 0 s"), (3599.4, "59 min 59 s"),
    (3599.6, "1 h 0 min"), (86_399.6, "1 d 0 h"), (108_000, "1 d 6 h"),
  ])
  func `the unit of a duration is chosen after rounding`(_ seconds: Double, _ text: String) {
    #expect(PageLanguage.english.duration(seconds) == text)
  }
}
