import Testing

@testable import Bench

/// The list of URLs or catalog that is measured.
@Suite struct SourceTests {
  @Test(arguments: [
    ("http://a/1\nhttp://a/2", ["http://a/1", "http://a/2"]),
    ("# one\n\n  https://a/1  \r\nhttp://a/1\n", ["https://a/1", "http://a/1"]),
    ("HTTP://a/1\nHTTP://a/1", ["HTTP://a/1", "HTTP://a/1"]),
  ])
  func `a list has one URL per line, and repeated URLs are kept`(_ text: String, _ urls: [String])
    throws
  {
    guard case .urls(let read) = try BenchSource(list: Array(text.utf8), name: "it") else {
      Issue.record("no list")
      return
    }
    #expect(read == urls)
  }

  @Test(arguments: [
    ("http://a/1\nftp://a", "line 2"), ("", "no URL"), ("# only words\n", "no URL"),
    ("shop.yaml", "line 1"),
  ])
  func `an invalid list is refused with its line number`(_ text: String, _ words: String) {
    #expect {
      try BenchSource(list: Array(text.utf8), name: "urls.txt")
    } throws: {
      "\($0)".contains(words) && "\($0)".contains("urls.txt")
    }
  }

  @Test(arguments: [
    ("# a list\nhttp://a/1", true), ("name: banchan\nbase: http://a/", false), ("", false),
    ("{\"name\": \"x\"}", false),
  ])
  func `a list and a catalog are distinguished by their first line`(_ text: String, _ isList: Bool)
  {
    #expect(BenchSource.isList(Array(text.utf8)) == isList)
  }
}
