import Pipeline
import Testing

@testable import Bench

/// The comparison of a measurement with an earlier one, its baseline.
@Suite struct BaselineTests {
  @Test(arguments: [
    // Rates before, rates now, the allowed regression, and whether it is exceeded.
    ([100.0, 101, 99], [100.0, 101, 99], 0.1, false),
    ([100, 101, 99], [80, 81, 79], 0.1, true),
    ([100, 101, 99], [95, 96, 94], 0.1, false),
    ([100, 101, 99], [95, 96, 94], 0.02, true),
    ([100, 101, 99], [130, 131, 129], 0.1, false),
    // The median drops as much, but within the spread of the runs.
    ([100, 150, 70], [80, 120, 56], 0.1, false),
    ([100], [50], 0.1, true),
    ([100], [91], 0.05, false),
    ([100], [80, 81, 79], 0.1, true),
  ])
  func `a rate regresses when it drops more than allowed and beyond the spread of the runs`(
    _ before: [Double],
    _ now: [Double],
    _ limit: Double,
    _ hasRegressed: Bool
  ) {
    let comparison = BaselineComparison(
      report(rates: now),
      with: report(rates: before),
      maxRegression: limit
    )

    #expect(comparison.findings.count == 1)
    #expect(comparison.hasRegressed == hasRegressed)
  }

  @Test func `a higher latency is a regression`() throws {
    let before = report(rates: [100, 101, 99], p99: [10, 10.1, 9.9])
    let now = report(rates: [100, 101, 99], p99: [15, 15.1, 14.9])

    let comparison = BaselineComparison(now, with: before, maxRegression: 0.1)

    let finding = try #require(comparison.findings.first { $0.metric == "p99" })
    #expect(abs(finding.worse - 0.5) < 1e-9)
    #expect(finding.regressed)
    #expect(comparison.findings.first { $0.metric == "imagesPerSecond" }?.regressed == false)
    #expect(!BaselineComparison(before, with: now, maxRegression: 0.1).hasRegressed)
  }

  @Test func `a higher median alone is a regression`() throws {
    let before = report(rates: [100, 101, 99], p99: [80, 26, 40], p50: [20.7, 20.8, 20.6])
    let now = report(rates: [100, 101, 99], p99: [85, 30, 42], p50: [31.3, 31.2, 31.4])

    let comparison = BaselineComparison(now, with: before, maxRegression: 0.1)

    #expect(comparison.findings.filter(\.regressed).map(\.metric) == ["p50"])
  }

  @Test func `a figure that was not measured again is named but is no regression`() {
    var before = report(rates: [100, 101, 99])
    before.runs.append(BenchReport.Row(parallel: 64, pass: .warm))

    let comparison = BaselineComparison(
      report(rates: [100, 101, 99]),
      with: before,
      maxRegression: 0.1
    )

    #expect(comparison.missing == ["warm 64"])
    #expect(!comparison.hasRegressed)
  }

  @Test func `a difference within the spread of the runs raises no alarm`() {
    // The medians differ by a fifth, but the intervals overlap: 88 to 115, and 70 to 99.
    let comparison = BaselineComparison(
      report(rates: [80, 96, 84, 74]),
      with: report(rates: [100, 110, 90, 104]),
      maxRegression: 0.1
    )

    #expect(comparison.findings.map { $0.worse > 0.1 } == [true])
    #expect(!comparison.hasRegressed)
  }

  @Test func `a report reads back as it was written`() throws {
    var report = report(rates: [1, 2, 3], p99: [4])
    report.best = BenchReport.Best(
      parallel: 1,
      pass: .cold,
      imagesPerSecond: 2,
      bytesPerSecond: 3
    )

    #expect(try BenchReport(json: report.jsonLine(), name: "it") == report)
  }

  @Test func `an invalid report is refused by name`() {
    #expect {
      try BenchReport(json: Array("{}".utf8), name: "before.json")
    } throws: {
      "\($0)".contains("before.json")
    }
  }

  private func report(rates: [Double], p99: [Double] = [], p50: [Double] = [])
    -> BenchReport
  {
    var row = BenchReport.Row(parallel: 1, pass: .cold)
    row.rates = rates
    row.p99OfRuns = p99
    row.p50OfRuns = p50
    var report = BenchReport()
    report.runs = [row]
    return report
  }
}
