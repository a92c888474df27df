import Testing

@testable import Bench

@Suite struct StatisticsTests {
  /// Two-sided 5 % quantiles of Student's t. (Abramowitz and Stegun, table 26.10)
  @Test(arguments: [
    (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (9, 2.262),
    (30, 2.042), (120, 1.980), (999_999, 1.960),
  ])
  func `Student's quantiles match the table`(_ degrees: Int, _ t: Double) {
    #expect(abs(Estimate.t(degrees) - t) < 0.0006)
  }

  @Test(arguments: [
    ([3.0], 3.0), ([1.0, 100], 50.5), ([5.0, 1, 3], 3.0), ([4.0, 0, 2], 3.0),
    ([2.0, Double.infinity], 2.0),
  ])
  func `the median ignores values that are not positive and finite`(
    _ values: [Double],
    _ median: Double
  ) {
    #expect(Estimate(values)?.median == median)
  }

  @Test func `no positive value gives no estimate, and a single one no interval`() {
    #expect(Estimate([]) == nil)
    #expect(Estimate([0, 0]) == nil)
    #expect(Estimate([7])?.interval == nil)
    #expect(Estimate([7])?.halfWidth == nil)
  }

  @Test func `equal values have an interval of width 0`() {
    #expect(Estimate([7, 7, 7])?.halfWidth == 0)
  }

  @Test func `the confidence interval is computed on logarithms`() throws {
    // The logarithms are 0, 1 and 2: mean 1, deviation 1. The half width is t = 4.303 (2 degrees
    // of freedom) divided by √3.
    let e = 2.718281828459045
    let estimate = try #require(Estimate([1, e, e * e]))
    let interval = try #require(estimate.interval)

    #expect(abs(interval.lowerBound - 0.2267) < 0.001)
    #expect(abs(interval.upperBound - 32.59) < 0.1)
    #expect(abs((estimate.halfWidth ?? 0) - 10.99) < 0.02)
  }
}
