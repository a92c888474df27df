import Base
import Testing

@testable import Bench

@Suite struct QuantileTests {
  @Test func `percentiles are those of the sorted values`() {
    let times = (1...1000).reversed().map { Double($0) / 1e6 }

    #expect(
      Quantiles(seconds: times)
        == Quantiles(count: 1000, p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999, max: 1)
    )
  }

  @Test(arguments: [
    ([7.0], 7000.0, 7000.0), ([1, 2], 1000, 2000), ([3, 1, 2], 2000, 3000),
    ([1, 2, 3, 4], 2000, 4000),
  ])
  func `of few values, a percentile is one of them`(
    _ times: [Double],
    _ median: Double,
    _ p99: Double
  ) {
    #expect(Quantiles(seconds: times).p50 == median)
    #expect(Quantiles(seconds: times).p99 == p99)
  }

  @Test func `nothing measured has no percentiles, and null in JSON`() throws {
    #expect(Quantiles(seconds: []) == .none)
    let json = String(decoding: try BenchReport().jsonLine(), as: UTF8.self)
    #expect(json.contains(#""best":null"#))
  }
}
