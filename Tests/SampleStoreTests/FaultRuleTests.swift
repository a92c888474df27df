import Testing

@testable import SampleStore

/// The rules that decide which requests to a sample store get a fault.
struct FaultRuleTests {
  /// The requests of a sequence that a rule affects, as `x`, and the others as `.`.
  private func touched(_ rule: FaultRule, by paths: [String]) -> String {
    var ledger = FaultLedger([rule])
    return paths.map { path in
      ledger.fault(path: path, query: nil) == nil ? "." : "x"
    }.joined()
  }

  private let twelve = Array(repeating: "/a", count: 12)

  @Test(arguments: [
    (FaultRule.Hits.all, "xxxxxxxxxxxx"), (.range(2...4), ".xxx........"),
    (.every(3), "..x..x..x..x"),
  ])
  func `hits choose among the matching requests`(hits: FaultRule.Hits, touched: String) {
    #expect(self.touched(FaultRule(hits: hits, .hang), by: twelve) == touched)
  }

  @Test func `the requests for all paths of a rule are counted together`() {
    let paths = ["/a", "/b", "/a", "/b"]

    #expect(touched(FaultRule(hits: .range(1...1), .hang), by: paths) == "x...")
  }

  @Test func `rules that fire together combine, and the later one wins`() {
    var ledger = FaultLedger([
      FaultRule("*", .delay(seconds: 1), .status(500)), FaultRule("/b", .hang),
      FaultRule(query: "q=*", .hang),
      FaultRule("/*", .delay(seconds: 2), .status(503)),
    ])

    let fault = ledger.fault(path: "/a", query: "page=1")

    #expect(fault == Fault([.delay(seconds: 3), .status(503)]))
  }

  @Test(arguments: [
    ("*", "", true), ("*", "/a/b", true), ("/a", "/a", true), ("/a", "/ab", false),
    ("/p/*.jpg", "/p/x/y.jpg", true), ("/p/*.jpg", "/p/y.png", false), ("/?", "/a", true),
    ("/?", "/", false), ("*a*b*", "xxaxxbxx", true), ("*a*b", "ab-ab-", false),
    ("/국*", "/국물", true), ("", "", true), ("", "/", false), ("/a*", "/a", true),
  ])
  func `a glob matches whole paths`(pattern: String, text: String, fits: Bool) {
    #expect(glob(pattern, matches: text) == fits)
  }
}
