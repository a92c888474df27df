import Base
import Pipeline
import Testing
import Transport

@testable import Bench

@Suite struct HistogramTests {
  @Test(arguments: [1, 9_999, 10_001, 16_383])
  func `a known delay is exact at every percentile`(_ microseconds: Int64) {
    var histogram = LatencyHistogram()
    for _ in 0..<1000 { histogram.record(Double(microseconds) / 1e6) }

    let delay = Double(microseconds) / 1000
    #expect(
      histogram.quantiles
        == Quantiles(count: 1000, p50: delay, p90: delay, p99: delay, p999: delay, max: delay)
    )
  }

  @Test func `percentiles match those of the sorted values`() {
    var histogram = LatencyHistogram()
    for microseconds in (1...1000).reversed() {
      histogram.record(Double(microseconds) / 1e6)
    }

    #expect(
      histogram.quantiles
        == Quantiles(count: 1000, p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999, max: 1)
    )
  }

  @Test func `long durations keep four significant digits`() throws {
    var histogram = LatencyHistogram()
    histogram.record(123.456789)
    histogram.record(200)

    let value = try #require(histogram.milliseconds(at: 50))
    #expect(abs(value / 123_456.789 - 1) < 1e-4)
  }

  @Test func `an empty histogram has no percentiles, and null in JSON`() throws {
    #expect(LatencyHistogram().quantiles == .none)
    let json = String(decoding: try BenchReport().jsonLine(), as: UTF8.self)
    #expect(json.contains(#""best":null"#))
  }

  @Test func `negative and huge durations are clamped`() {
    var histogram = LatencyHistogram()
    histogram.record(-5e-9)
    histogram.record(-1)
    histogram.record(1e30)

    #expect(histogram.quantiles.count == 3)
    #expect(histogram.milliseconds(at: 0) == 0)
    #expect((histogram.milliseconds(at: 100) ?? 0) > 86_000_000)
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
