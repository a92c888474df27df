import Base
import Testing

@testable import Bench

/// Sweeps, which measure several levels of parallel requests, and their passes.
@Suite struct SweepTests {
  @Test(arguments: [
    ("auto", SweepPlan.auto), ("8", .levels([8])), ("1,2,64", .levels([1, 2, 64])),
    ("1024,1", .levels([1024, 1])),
  ])
  func `a sweep is parsed`(_ text: String, _ plan: SweepPlan) {
    #expect(SweepPlan(text) == plan)
  }

  @Test(arguments: ["", "0", "1025", "1,,2", "1,1", "one", "1 2", "-1", "auto,1"])
  func `an invalid sweep is refused`(_ text: String) {
    #expect(SweepPlan(text) == nil)
  }

  @Test(arguments: [
    ([], 1), ([10], 2), ([10, 20], 4), ([10, 20, 40, 41], 16), ([10, 20, 40, 41, 50], 32),
    ([1, 2, 4, 8, 16, 32, 64], 128),
  ])
  func `an automatic sweep doubles while the rate rises`(_ rates: [Double], _ next: Int) {
    #expect(SweepPlan.auto.next(after: rates) == next)
  }

  @Test(arguments: [
    [10, 20, 40, 41, 41], [10, 20, 40, 30, 20], [1, 2, 4, 8, 16, 32, 64, 128],
  ])
  func `an automatic sweep ends after two doublings without gain, or at its limit`(
    _ rates: [Double]
  ) {
    #expect(SweepPlan.auto.next(after: rates) == nil)
  }

  @Test func `given levels are measured in order, and no others`() {
    let plan = SweepPlan.levels([8, 1])

    #expect(plan.next(after: []) == 8)
    #expect(plan.next(after: [9]) == 1)
    #expect(plan.next(after: [9, 9]) == nil)
  }

  @Test(arguments: [
    ([Pass.cold], [Pass.cold]), ([.warm], [.cold, .warm]), ([.revalidate], [.cold, .revalidate]),
    (Pass.allCases, Pass.allCases),
  ])
  func `a pass runs after the passes that it needs`(_ wanted: [Pass], _ order: [Pass]) {
    var plan = BenchPlan()
    plan.passes = wanted

    #expect(plan.order == order)
  }
}
