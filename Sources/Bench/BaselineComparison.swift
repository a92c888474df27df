/// The comparison of a report with an earlier one, the baseline (`bench --baseline`).
///
/// A figure has regressed if its median is worse by more than the limit, and if the 95 % confidence intervals of both
/// measurements do not overlap.
package struct BaselineComparison: Sendable, Equatable, Codable {
  /// The comparison of one figure, such as the p99 of the pass `cold` with 16 transfers.
  package struct Finding: Sendable, Equatable, Codable {
    /// The pass that was measured.
    package var pass: Pass
    /// The number of simultaneous transfers.
    package var parallel: Int
    /// The name of the figure: `imagesPerSecond`, `p50` or `p99`.
    ///
    /// `p50` and `p99` are percentiles of the total time of a request. For `imagesPerSecond` more is better; for the
    /// others, less is better.
    package var metric: String
    /// The median in the baseline.
    package var before: Double
    /// The median in the new report.
    package var now: Double
    /// The relative change for the worse, such as 0.1 for a rate that fell by a tenth, or for a time that rose by a
    /// tenth.
    package var worse: Double
    /// Whether the figure is worse by more than the limit, and the intervals do not overlap.
    package var regressed: Bool
  }

  /// The largest allowed relative change for the worse: 0.1 for a tenth.
  package var maxRegression: Double
  /// The findings, one for each figure that both reports have.
  package var findings: [Finding] = []
  /// The rows of the baseline that the new report does not have, such as `cold 16`.
  ///
  /// Each is named by its pass and its number of simultaneous transfers.
  package var missing: [String] = []

  /// Compares every row that is in both reports.
  ///
  /// - Parameters:
  ///   - report: The new report.
  ///   - baseline: The earlier report.
  ///   - maxRegression: The largest allowed relative change for the worse, such as 0.1.
  package init(_ report: BenchReport, with baseline: BenchReport, maxRegression: Double) {
    self.maxRegression = maxRegression
    for old in baseline.runs {
      guard
        let new = report.runs.first(where: { $0.pass == old.pass && $0.parallel == old.parallel })
      else {
        missing.append("\(old.pass.rawValue) \(old.parallel)")
        continue
      }
      add("imagesPerSecond", new, old.rates, new.rates, sign: 1)
      add("p50", new, old.p50OfRuns, new.p50OfRuns, sign: -1)
      add("p99", new, old.p99OfRuns, new.p99OfRuns, sign: -1)
    }
  }

  /// Whether any figure regressed.
  package var hasRegressed: Bool { findings.contains(where: \.regressed) }

  /// Adds a figure; `sign` is 1 if a smaller value is worse, and −1 if a larger value is worse.
  private mutating func add(
    _ metric: String,
    _ row: BenchReport.Row,
    _ before: [Double],
    _ now: [Double],
    sign: Double
  ) {
    guard let before = Estimate(before), let now = Estimate(now) else { return }
    let worse = sign * (1 - now.median / before.median)
    let isApart = !before.range(beside: now).overlaps(now.range(beside: before))
    findings.append(
      Finding(
        pass: row.pass,
        parallel: row.parallel,
        metric: metric,
        before: before.median,
        now: now.median,
        worse: worse,
        regressed: worse > maxRegression && isApart
      )
    )
  }
}

extension Estimate {
  /// The confidence interval.
  ///
  /// A single value has none. It is given the width of the other side's, or ±10 % if the other side is single too.
  fileprivate func range(beside other: Estimate) -> ClosedRange<Double> {
    let factor = 1 + (other.halfWidth ?? 0.1)
    return interval ?? median / factor...median * factor
  }
}
