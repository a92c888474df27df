import Base
import Testing

/// RFC 9110, section 5.6.7.
@Suite struct HTTPDateTests {
  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 06 08:49:37 1994", 784_111_777),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
    ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
    ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
    ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
    ("  Sun, 06 Nov 1994 08:49:37 GMT  ", 784_111_777),
    ("SUNDAY, 06-NOV-94 08:49:37 gmt", 784_111_777),
    ("Sun Nov 16 08:49:37 1994", 784_975_777),
    ("Monday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Thursday, 18-Aug-50 02:01:18 GMT", 2_544_400_878),
    ("Monday, 31-Dec-68 23:59:59 GMT", 3_124_223_999),
    ("Wednesday, 01-Jan-69 00:00:00 GMT", -31_536_000),
  ])
  func `a date is read in each of its three forms`(_ text: String, _ seconds: Int64) {
    #expect(UnixTime(httpDate: text)?.seconds == seconds)
  }

  @Test(arguments: [
    "", "0", "-1", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 2024 08:49:37 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT\0",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 PST",
    "Sun, 06 Nov 1994 08:49:37 GMT junk", "Sun, 99999999999999999999 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 99999999999999999999:49:37 GMT", "Sun Nov  6 08:49:37 94",
    // Formats that lenient readers accept, each one character off. (RFC 9111, section 5.3)
    "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
    "Sun, 06  Nov  1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
    "Sunday, 06 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
    "Someday, 06-Nov-94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
    "Sun, 06 November 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT+1",
    "Sun, 06 Nov 1994 08:49 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37GMT", "1994-11-06T08:49:37Z", "784111777",
  ])
  func `an invalid date is nil`(_ text: String) {
    #expect(UnixTime(httpDate: text) == nil)
  }

  @Test(arguments: [
    (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
  ])
  func `a moment is written as an IMF-fixdate`(_ seconds: Int64, _ text: String) {
    #expect(UnixTime(seconds).httpDate == text)
  }

  @Test func `a written date reads back as the same time`() {
    for day in stride(from: Int64(-719_162), to: 2_932_896, by: 997) {
      let time = UnixTime(day * 86_400 + 12_345)
      #expect(UnixTime(httpDate: time.httpDate) == time)
    }
  }

  @Test func `time arithmetic saturates instead of overflowing`() {
    #expect(UnixTime.distantFuture + 1 == .distantFuture)
    #expect(UnixTime.distantPast + -1 == .distantPast)
    #expect(UnixTime.distantFuture - .distantPast == .max)
    #expect(UnixTime.distantPast - .distantFuture == .min)
    #expect(MonotonicTime.distantFuture + .seconds(1) == .distantFuture)
    #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
    #expect(Duration.nanoseconds(1).wholeMilliseconds == 1)
  }

  @Test(
    arguments: [
      ("2026-11-24T12:00:00.000Z", 1_795_521_600), ("1970-01-01T00:00:00Z", 0),
      ("2024-02-29T23:59:59Z", 1_709_251_199), ("2026-11-24", nil), ("", nil),
      ("2026-13-24T12:00:00Z", nil), ("2026-02-31T12:00:00Z", nil),
      ("2026-11-24T9223372036854775807:00:00Z", nil), ("2026-11-24T12:60:00Z", nil),
    ] as [(String, Int64?)]
  )
  func `an RFC 3339 timestamp is read`(text: String, seconds: Int64?) {
    #expect(UnixTime(rfc3339: text)?.seconds == seconds)
  }
}
