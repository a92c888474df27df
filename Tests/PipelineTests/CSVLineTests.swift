import Support
import Testing

@testable import Pipeline

/// CSV lines for spreadsheets.
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

  @Test func `an RFC 4180 reader finds the written cells, and no formula`() {
    for text in HostileText.all + HostileText.random(2000, seed: 9) {
      let line = CSVLine([.text(text), .text(text), .number("7")]).text + "\r\n"

      var cells: [String.UnicodeScalarView] = [String.UnicodeScalarView()]
      var isQuoted = false
      var rest = line.unicodeScalars[...]
      var lines = 0
      while let scalar = rest.popFirst() {
        switch scalar {
        case "\"" where isQuoted && rest.first == "\"":
          rest = rest.dropFirst()
          cells[cells.count - 1].append(scalar)
        case "\"": isQuoted.toggle()
        case "," where !isQuoted: cells.append(String.UnicodeScalarView())
        case "\r" where !isQuoted && rest.first == "\n": lines += 1
        case "\n" where !isQuoted: break
        default: cells[cells.count - 1].append(scalar)
        }
      }

      #expect(!isQuoted && lines == 1 && cells.count == 3, "\(text.debugDescription)")
      #expect(cells.last.map(String.init) == "7")
      for cell in cells.dropLast() {
        #expect(!(cell.first.map { "=+-@\t\r＝＋－＠".unicodeScalars.contains($0) } ?? false))
      }
    }
  }

  @Test func `numbers stay numbers, and nil is an empty cell`() {
    #expect(
      CSVLine([.number("-12.5"), .number(nil), .text(nil), .number("7")]).text == "-12.5,,,7"
    )
  }
}
