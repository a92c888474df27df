import Base
import Pipeline
import Testing
import Transport

@testable import Bench

@Suite struct QuantileTests {
  @Test func `percentiles are those of the sorted values`() {
    let times = (1...1000).reversed().map { Double($0) / 1000 }

    #expect(
      Quantiles(of: times)
        == Quantiles(count: 1000, p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999, max: 1)
    )
  }

  @Test(arguments: [
    ([7.0], 7.0, 7.0), ([1, 2], 1, 2), ([3, 1, 2], 2, 3), ([1, 2, 3, 4], 2, 4),
  ])
  func `of few values, a percentile is one of them`(
    _ times: [Double],
    _ median: Double,
    _ p99: Double
  ) {
    #expect(Quantiles(of: times).p50 == median)
    #expect(Quantiles(of: times).p99 == p99)
  }

  @Test func `nothing measured has no percentiles, and null in JSON`() throws {
    #expect(Quantiles(of: []) == .none)
    let json = String(decoding: try BenchReport().jsonLine(), as: UTF8.self)
    #expect(json.contains(#""best":null"#))
  }

  @Test(arguments: [
    // Times until name lookup, connection, TLS, first byte and end; then the length of each phase.
    ([1.0, 3, 7, 15, 31], [1.0, 2, 4, 8, 16]),
    ([1, 3, 0, 8, 9], [1, 2, 0, 5, 1]),
    ([0, 0, 0, 5, 6], [0, 0, 0, 5, 1]),
    ([0, 0, 0, 0, 6], [0, 0, 0, 0, 6]),
  ])
  func `a timing is split into its phases`(_ moments: [Double], _ parts: [Double]) {
    let phases = Phases(timing(moments))

    #expect(
      [phases.dns, phases.connect, phases.tls, phases.wait, phases.transfer] == parts
    )
  }

  private func timing(_ moments: [Double]) -> TransferTiming {
    var timing = TransferTiming()
    timing.nameResolved = moments[0]
    timing.connected = moments[1]
    timing.secured = moments[2]
    timing.firstByte = moments[3]
    timing.total = moments[4]
    return timing
  }
}
