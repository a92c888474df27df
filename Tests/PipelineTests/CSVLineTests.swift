import Testing

@testable import Pipeline

/// Lines for spreadsheets.
@Suite struct CSVLineTests {
  @Test(arguments: [
    ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""),
    ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"),
    ("\t=1", "'=1"), ("\r=1", "'=1"), ("\n=1", "'=1"), (" =1", "'=1"), ("\u{A0}=1", "'=1"),
    ("\"=1", "\"'\"\"=1\""), ("'=1", "''=1"), ("＝1", "'＝1"), ("＋1", "'＋1"), ("－1", "'－1"),
    ("＠a", "'＠a"), ("\u{200B}=1", "'=1"), ("=1,2", "\"'=1,2\""), ("a=1", "a=1"),
    ("5-1", "5-1"), ("two\nlines", "two lines"), ("a\u{1B}[31mb", "a[31mb"),
    ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
  ])
  func `no text becomes a formula`(_ text: String, _ cell: String) {
    #expect(CSVLine([.text(text)]).text == cell)
  }

  @Test func `a note keeps its lines, and is no formula either`() {
    #expect(CSVLine([.note("a\u{1B}\r\nb")]).text == "\"a\nb\"")
    #expect(CSVLine([.note("\n=1\n=2")]).text == "\"'=1\n=2\"")
  }

  @Test func `numbers stay numbers, and nothing is an empty cell`() {
    #expect(
      CSVLine([.number("-12.5"), .number(nil), .text(nil), .number("7")]).text == "-12.5,,,7"
    )
  }
}
