import Base
import Cache
import Testing

@testable import Web

/// Times, durations and counts in the report.
@Suite struct RunsViewTests {
  @Test func `days are counted in the local zone, not in UTC`() {
    let seoul = PageClock(now: ReportFixture.now, zone: "KST") { _ in 9 * 3600 }

    #expect(ReportFixture.clock.text(ReportFixture.now) == "2023-11-14 22:13")
    #expect(seoul.text(ReportFixture.now) == "2023-11-15 07:13")
    #expect(PageLanguage.english.day(ReportFixture.now, ReportFixture.clock) == "14 Nov")
    #expect(PageLanguage.korean.day(ReportFixture.now, seoul) == "11월 15일")
    #expect(PageLanguage.english.day(-1, ReportFixture.clock) == "31 Dec 1969")
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
