import Testing

@testable import Catalog

struct ShrinkGuardTests {
  private func ids(_ range: some Sequence<Int>) -> [String] { range.map { "i\($0)" } }

  @Test(
    arguments: [
      (10, 0, true), (1, 0, true), (0, 0, false), (10, 1, false), (11, 10, false), (11, 9, true),
      (20, 18, false), (20, 17, true),
      (100, 90, false), (100, 89, true), (100, 0, true), (12, 20, false),
    ])
  func `more than 10 % of more than 10 items are withheld, and all of any number`(
    old: Int,
    new: Int,
    isWithheld: Bool
  ) {
    let verdict = ShrinkGuard.judge(
      previous: items(ids(0..<old)),
      incoming: items(ids(0..<new)),
      allowRemovals: false
    )

    #expect(verdict.withheld == (isWithheld ? ids(new..<old) : []))
    #expect(verdict.items.count == (isWithheld ? old : new))
  }

  @Test(arguments: [
    (29, 0, false), (30, 27, false), (30, 26, true), (690, 621, false), (690, 620, true),
  ])
  func `a catalog of 30 items or more may lose a tenth`(old: Int, new: Int, isSuspicious: Bool) {
    #expect(ShrinkGuard.isSuspicious(catalog: old, incoming: new) == isSuspicious)
  }

  @Test(arguments: [
    (12, 2, false), (20, 3, true), (30, 3, false), (3, 3, true), (1000, 101, true),
  ])
  func `of the details a tenth may go missing, and two in any case`(
    held: Int,
    missing: Int,
    isSuspicious: Bool
  ) {
    #expect(ShrinkGuard.isSuspicious(details: held, missing: missing) == isSuspicious)
  }

  @Test func `the user may believe the feed`() {
    let verdict = ShrinkGuard.judge(
      previous: items(ids(0..<20)),
      incoming: [],
      allowRemovals: true
    )

    #expect(verdict == ShrinkGuard.judge(previous: [], incoming: [], allowRemovals: false))
    #expect(verdict.items.isEmpty)
  }

  @Test func `what is new or changed applies, what is withheld follows its predecessor`() {
    let previous = items(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"])
    var incoming = items(["l", "n", "d", "c"])
    incoming[3].title = "changed"

    let verdict = ShrinkGuard.judge(previous: previous, incoming: incoming, allowRemovals: false)

    #expect(verdict.items.map(\.id).joined() == "ablndefghijkc")
    #expect(verdict.items.last?.title == "changed")
    #expect(verdict.withheld.joined() == "abefghijk")
  }

  @Test func `the guard holds run after run, until the feed recovers`() {
    let whole = items(ids(0..<20))
    let short = items(ids(0..<5))
    var held = whole
    for _ in 0..<5 {
      let verdict = ShrinkGuard.judge(previous: held, incoming: short, allowRemovals: false)
      #expect(verdict.withheld == ids(5..<20))
      held = verdict.items
    }
    #expect(held == whole)

    let recovered = ShrinkGuard.judge(previous: held, incoming: whole, allowRemovals: false)

    #expect(recovered == ShrinkGuard.judge(previous: [], incoming: whole, allowRemovals: false))
  }

  @Test func `a second listing of an item is withheld by itself`() {
    let previous = items(["x"] + ids(0..<12) + ["x"])

    let verdict = ShrinkGuard.judge(
      previous: previous,
      incoming: items(["x"]),
      allowRemovals: false
    )

    #expect(verdict.withheld == ids(0..<12) + ["x"])
    #expect(verdict.items == previous)
  }
}
