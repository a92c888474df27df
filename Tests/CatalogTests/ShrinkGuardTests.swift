import Testing

@testable import Catalog

/// The shrink guard, which keeps items when too many vanish from a listing at once.
struct ShrinkGuardTests {
  private func ids(_ range: some Sequence<Int>) -> [String] { range.map { "i\($0)" } }

  private func judge(_ held: [String], _ incoming: [String]) -> ShrinkGuard.Decision {
    ShrinkGuard.judge(held: PackedIDs(held), incoming: PackedIDs(incoming))
  }

  /// The ids that a section shows after the guard.
  private func shown(_ held: [String], _ incoming: [String]) -> [String] {
    switch judge(held, incoming) {
    case .take: incoming
    case .withhold: held
    case .keep(let union):
      union.order.map { source in
        switch source {
        case .incoming(let place): incoming[place]
        case .held(let place): held[place]
        }
      }
    }
  }

  @Test(
    arguments: [
      // The number of held items, of those still in the feed, and of new ones.
      (0, 0, 0), (0, 0, 5), (10, 1, 0), (10, 1, 9), (11, 10, 0), (20, 18, 2), (100, 90, 10),
      (12, 12, 8), (1, 1, 3),
    ])
  func `a section of up to 10 items may change freely, and a longer one may lose a tenth`(
    held: Int,
    kept: Int,
    others: Int
  ) {
    let verdict = judge(ids(0..<held), ids(0..<kept) + ids(1000..<1000 + others))

    #expect(verdict == .take)
  }

  @Test(arguments: [
    (11, 9, 0), (11, 9, 2), (20, 17, 3), (100, 89, 0), (100, 89, 900), (40, 1, 39),
  ])
  func `items are kept when more than a tenth vanished, whatever replaced them`(
    held: Int,
    kept: Int,
    others: Int
  ) throws {
    let verdict = judge(ids(0..<held), ids(0..<kept) + ids(1000..<1000 + others))

    guard case .keep(let union) = verdict else { throw Unexpected(verdict: verdict) }
    #expect(union.withheld == Array(kept..<held))
    #expect(union.order.count == held + others)
  }

  private struct Unexpected: Error { let verdict: ShrinkGuard.Decision }

  @Test(arguments: [(1, 0), (1, 1), (10, 0), (10, 10), (40, 40), (100, 1), (100, 0)])
  func `a section of any size whose items all vanish is withheld, whatever replaced them`(
    held: Int,
    others: Int
  ) {
    #expect(judge(ids(0..<held), ids(1000..<1000 + others)) == .withhold)
  }

  @Test func `an item that is listed but unreadable has not vanished`() {
    let held = PackedIDs(ids(0..<2))

    #expect(ShrinkGuard.judge(held: held, incoming: PackedIDs(["x"])) { _ in true } == .take)
    #expect(ShrinkGuard.judge(held: held, incoming: PackedIDs(["x"])) { $0 == 0 } == .take)
  }

  @Test(arguments: [
    (29, 29, false), (30, 3, false), (30, 4, true), (690, 69, false), (690, 70, true),
  ])
  func `a catalog of 30 items or more may lose a tenth`(
    held: Int,
    vanished: Int,
    isSuspicious: Bool
  ) {
    #expect(ShrinkGuard.isSuspicious(catalog: held, vanished: vanished) == isSuspicious)
  }

  @Test(arguments: [
    (12, 2, false), (20, 3, true), (30, 3, false), (3, 3, true), (1000, 101, true),
  ])
  func `a tenth of the details, or two, may be missing`(
    held: Int,
    missing: Int,
    isSuspicious: Bool
  ) {
    #expect(ShrinkGuard.isSuspicious(details: held, missing: missing) == isSuspicious)
  }

  @Test func `a kept item is shown after its predecessor`() {
    let held = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]

    #expect(shown(held, ["l", "n", "d", "c"]).joined() == "ablndefghijkc")
  }

  @Test func `the guard keeps items in every run, until the feed recovers`() {
    let whole = ids(0..<20)
    var held = whole
    for _ in 0..<5 {
      held = shown(held, ids(0..<5))
      #expect(held == whole)
    }

    #expect(judge(held, whole) == .take)
  }
}
