import Testing

@testable import SampleStore

/// The rules that decide which requests to a sample store get a fault.
struct FaultRuleTests {
  /// The requests of a sequence that a rule affects, as `x`, and the others as `.`.
  private func touched(_ rule: FaultRule, by paths: [String]) -> String {
    var ledger = FaultLedger([rule])
    return paths.map { path in
      ledger.fault(method: "GET", path: path, query: nil) == nil ? "." : "x"
    }.joined()
  }

  private let twelve = Array(repeating: "/a", count: 12)

  @Test(arguments: [
    (FaultRule.Hits.all, "xxxxxxxxxxxx"), (.range(2...4), ".xxx........"),
    (.every(3), "..x..x..x..x"), (.share(0), "............"), (.share(1), "xxxxxxxxxxxx"),
  ])
  func `hits choose among the matching requests`(hits: FaultRule.Hits, touched: String) {
    #expect(self.touched(FaultRule(hits: hits, .hang), by: twelve) == touched)
  }

  @Test func `hits are counted by rule or by path`() {
    let paths = ["/a", "/b", "/a", "/b"]

    #expect(touched(FaultRule(hits: .range(1...1), .hang), by: paths) == "x...")
    #expect(touched(FaultRule(hits: .range(1...1), per: .path, .hang), by: paths) == "xx..")
  }

  @Test func `a share is the same in every run and order, and close to its fraction`() {
    let paths = (0..<4000).map { "/\($0).jpg" }
    let rule = FaultRule(hits: .share(0.25, seed: 1), .hang)

    let forwards = touched(rule, by: paths)
    let backwards = touched(rule, by: paths.reversed())

    #expect(forwards == String(backwards.reversed()))
    #expect((900...1100).contains(forwards.count { $0 == "x" }))
    #expect(forwards != touched(FaultRule(hits: .share(0.25, seed: 2), .hang), by: paths))
  }

  @Test func `rules that fire together combine, and the later one wins`() {
    var ledger = FaultLedger([
      FaultRule("*", .delay(seconds: 1), .status(500)), FaultRule("/b", .hang),
      FaultRule(method: "POST", .hang), FaultRule(query: "q=*", .hang),
      FaultRule("/*", .delay(seconds: 2), .status(503)),
    ])

    let fault = ledger.fault(method: "GET", path: "/a", query: "page=1")

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
