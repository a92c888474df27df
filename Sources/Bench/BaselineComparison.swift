import Glibc

/// The comparison of a report with an earlier one, the baseline (`bench --baseline`).
///
/// A figure has regressed if its median is worse by more than the limit, and if the difference is significant. The test
/// of significance is a one-sided Welch t-test on the logarithms of the runs. Its level is 5 % for all figures together
/// (Holm's correction).
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
    /// The p-value: the probability of a difference that is at least as bad as this one, if nothing had changed.
    package var probability: Double
    /// Whether the figure is worse by more than the limit, and the difference is significant.
    package var regressed: Bool
  }

  /// The standard deviation of the logarithms that is assumed if each report has only one run.
  static let assumedSpread = 0.05
  /// The accepted probability of a false alarm among all findings together.
  static let level = 0.05

  /// The largest allowed relative change for the worse: 0.1 for a tenth.
  package var maxRegression: Double
  /// The findings, one for each figure that both reports have.
  package var findings: [Finding] = []
  /// The rows of the baseline that the new report does not have, such as `cold 16`.
  ///
  /// Each is named by its pass and its number of simultaneous transfers.
  package var missing: [String] = []
  /// A description of the statistical test.
  package var test =
    "one-sided Welch t-test on the logarithms of the runs, Holm's correction, 5 % in all; "
    + "a single run is given the other side's spread, or 5 % when both are single"

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
    correct()
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
    findings.append(
      Finding(
        pass: row.pass,
        parallel: row.parallel,
        metric: metric,
        before: before.median,
        now: now.median,
        worse: sign * (1 - now.median / before.median),
        probability: Self.chance(before, now, sign: sign),
        regressed: false
      )
    )
  }

  /// The p-value of a change: the probability of one that is at least as bad, if nothing had changed.
  ///
  /// `sign` is 1 if a smaller value is worse, and −1 if a larger value is worse.
  static func chance(_ before: Estimate, _ now: Estimate, sign: Double) -> Double {
    // A single value has no spread, so it is given the other side's.
    func spread(_ own: Estimate, _ other: Estimate) -> (share: Double, freedom: Double) {
      let known = own.values.count > 1 ? own : other
      let freedom = Double(known.values.count - 1)
      let variance = freedom > 0 ? known.logVariance : assumedSpread * assumedSpread
      return (variance / Double(own.values.count), freedom > 0 ? freedom : .infinity)
    }
    let (old, new) = (spread(before, now), spread(now, before))
    let difference = sign * (before.logMean - now.logMean)
    let variance = old.share + new.share
    guard variance > 0 else { return difference > 0 ? 0 : 1 }
    // These are the degrees of freedom by the Welch–Satterthwaite equation.
    let denominator = old.share * old.share / old.freedom + new.share * new.share / new.freedom
    let degrees = denominator > 0 ? min(variance * variance / denominator, 1e6) : 1e6
    return 1 - StudentT(degrees: degrees).cumulative(difference / variance.squareRoot())
  }

  /// Decides which findings are significant, by the Holm–Bonferroni correction. (Holm, 1979)
  ///
  /// The findings are tested in the order of their p-values. The smallest must be at most 5 % divided by the number of
  /// findings, and each of the others can be a little larger.
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
