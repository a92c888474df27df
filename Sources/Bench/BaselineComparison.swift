import Glibc

/// Compares a report with an earlier one (`bench --baseline`), and decides which differences are significant.
///
/// A figure regressed if its median is worse by more than the limit, and the difference is significant. The test is a
/// one-sided Welch t-test on the logarithms of the runs. Its level is 5 % for all figures together (Holm's correction).
package struct BaselineComparison: Sendable, Equatable, Codable {
  /// The comparison of one figure of one row.
  package struct Finding: Sendable, Equatable, Codable {
    /// The pass of the row.
    package var pass: Pass
    /// The number of simultaneous transfers.
    package var parallel: Int
    /// The name of the figure: `imagesPerSecond`, for which more is better, or `p50` or `p99` of the total time, for
    /// which less is better.
    package var metric: String
    /// The median in the baseline.
    package var before: Double
    /// The median in the new report.
    package var now: Double
    /// The relative change for the worse: 0.1 for a rate that fell by a tenth, or a time that rose by a tenth.
    package var worse: Double
    /// The p-value: the probability of a difference at least as bad as this one, if nothing had changed.
    package var probability: Double
    /// Whether the figure is worse by more than the limit, and the difference is significant.
    package var regressed: Bool
  }

  /// The assumed standard deviation of the logarithms if each report has only one run: 5 %.
  static let assumedSpread = 0.05
  /// The accepted probability of a false alarm, for all findings together.
  static let level = 0.05

  /// The largest allowed relative change for the worse: 0.1 for a tenth.
  package var maxRegression: Double
  /// A finding for every figure that both reports have.
  package var findings: [Finding] = []
  /// The rows of the baseline that the new report lacks, such as `cold 16`: the pass and the number of transfers.
  package var missing: [String] = []
  /// A description of the statistical test.
  package var test =
    "one-sided Welch t-test on the logarithms of the runs, Holm's correction, 5 % in all; "
    + "a single run is given the other side's spread, or 5 % when both are single"

  /// Compares every row that is in both reports.
  package init(_ report: BenchReport, with baseline: BenchReport, maxRegression: Double) {
    self.maxRegression = maxRegression
    for old in baseline.runs {
      guard
        let new = report.runs.first(where: { $0.pass == old.pass && $0.parallel == old.parallel })
      else {
        missing.append("\(old.pass.rawValue) \(old.parallel)")
        continue
      }
      add("imagesPerSecond", new, old.rates, new.rates, moreIsBetter: true)
      add("p50", new, old.p50OfRuns ?? [], new.p50OfRuns ?? [], moreIsBetter: false)
      add("p99", new, old.p99OfRuns, new.p99OfRuns, moreIsBetter: false)
    }
    correct()
  }

  /// Whether any figure regressed.
  package var hasRegressed: Bool { findings.contains(where: \.regressed) }

  private mutating func add(
    _ metric: String,
    _ row: BenchReport.Row,
    _ before: [Double],
    _ now: [Double],
    moreIsBetter: Bool
  ) {
    guard let before = Estimate(before), let now = Estimate(now) else { return }
    let worse = moreIsBetter ? 1 - now.median / before.median : now.median / before.median - 1
    let sign = moreIsBetter ? 1.0 : -1.0
    findings.append(
      Finding(
        pass: row.pass,
        parallel: row.parallel,
        metric: metric,
        before: before.median,
        now: now.median,
        worse: worse,
        probability: Self.chance(before, now, sign: sign),
        regressed: false
      )
    )
  }

  /// The p-value: the probability of a difference `sign * (before - now)` at least as large as this one, if nothing had
  /// changed.
  static func chance(_ before: Estimate, _ now: Estimate, sign: Double) -> Double {
    let (many, counts) = (
      [before, now], [before.values.count, now.values.count].map(Double.init)
    )
    var variances = many.map(\.logVariance)
    var freedoms = counts.map { $0 - 1 }
    let known = many.indices.filter { counts[$0] > 1 }
    for side in many.indices where counts[side] < 2 {
      variances[side] = known.first.map { variances[$0] } ?? assumedSpread * assumedSpread
      freedoms[side] = known.first.map { freedoms[$0] } ?? .infinity
    }
    let difference = sign * (before.logMean - now.logMean)
    let shares = zip(variances, counts).map { $0 / $1 }
    let variance = shares[0] + shares[1]
    guard variance > 0 else { return difference > 0 ? 0 : 1 }
    let t = difference / variance.squareRoot()
    // The Welch–Satterthwaite equation gives the degrees of freedom.
    let parts = zip(shares, freedoms).map { $0 * $0 / $1 }
    let denominator = parts[0] + parts[1]
    let degrees = denominator > 0 ? min(variance * variance / denominator, 1e6) : 1e6
    return 1 - StudentT(degrees: degrees).cumulative(t)
  }

  /// Applies the Holm–Bonferroni correction: tests the findings in the order of their p-values, each at a more lenient
  /// level than the one before. (Holm, 1979)
  private mutating func correct() {
    let order = findings.indices.sorted { findings[$0].probability < findings[$1].probability }
    for (place, finding) in order.enumerated() {
      guard findings[finding].probability <= Self.level / Double(order.count - place) else {
        return
      }
      findings[finding].regressed = findings[finding].worse > maxRegression
    }
  }
}
