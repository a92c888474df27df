import Testing

@testable import Bench

/// The HTML page with the plots of a measurement.
@Suite struct PageTests {
  @Test(arguments: [
    (Scale.Kind.doubling, [1.0, 8], [1.0, 2, 4, 8]),
    (.doubling, [8], [8, 16]),
    (.decades, [3, 70], [1, 2, 5, 10, 20, 50, 100]),
    (.decades, [1, 99_999], [1, 10, 100, 1000, 10_000, 100_000]),
    (.decades, [], [1, 2, 5, 10]),
  ])
  func `an axis has ticks at round numbers`(
    _ kind: Scale.Kind,
    _ values: [Double],
    _ ticks: [Double]
  ) {
    let found = Scale(kind, showing: values).ticks

    #expect(found.count == ticks.count)
    #expect(zip(found, ticks).allSatisfy { abs($0 - $1) <= abs($1) * 1e-9 })
  }

  @Test(arguments: [
    (Scale(.doubling, showing: [1, 16]), 4.0, 0.5), (Scale(.decades, showing: [1, 100]), 10, 0.5),
    (Scale(.doubling, showing: [1, 16]), 99, 1), (Scale(.decades, showing: [1, 100]), 0, 0),
  ])
  func `a value is placed on its axis and clamped to its ends`(
    _ scale: Scale,
    _ value: Double,
    _ place: Double
  ) {
    #expect(abs(scale.place(value) - place) < 1e-9)
  }

  @Test(arguments: [
    (0.0, "0"), (0.5, "0.5"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (1234, "1234"),
    (12_340, "12.3k"), (1_234_000, "1.23M"), (-0.25, "−0.25"), (.infinity, "–"),
  ])
  func `a number is shown with three digits`(_ value: Double, _ text: String) {
    #expect(Markup.number(value) == text)
  }

  @Test func `the page is self-contained and runs no script`() throws {
    let html = try BenchPage(
      Self.report,
      title: "<script>alert('&')</script>",
      facts: Self.facts,
      command: Self.command
    )
    .html

    #expect(html.hasPrefix("<!doctype html>"))
    #expect(html.contains("&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;"))
    for foreign in ["<script", "<link", "src=", "url(", "@import", "http://", "https://"] {
      #expect(!html.contains(foreign))
    }
    #expect(html.matches(of: /href="[^#]/).isEmpty)
    #expect(html.contains("prefers-color-scheme:dark"))
    #expect(html.contains("@media print"))
    #expect(html.contains("width=device-width"))
  }

  @Test func `the page says when, where and how it was measured, and with which tools`() throws {
    let html = try BenchPage(
      BenchReport(),
      title: "shop",
      facts: Self.facts,
      command: Self.command
    ).html

    #expect(html.contains("2026-01-13 06:30 UTC · host, 2 processors · larder 9.9"))
    #expect(html.contains("<code>larder bench &#39;a &lt;b&gt;&#39; --html x</code>"))
  }

  private static let facts = ["2026-01-13 06:30 UTC", "host, 2 processors", "larder 9.9"]
  private static let command = "larder bench 'a <b>' --html x"

  @Test func `every plot is drawn with its points`() throws {
    let html = try BenchPage(Self.report, title: "shop", facts: Self.facts, command: Self.command)
      .html

    #expect(html.components(of: "<svg").count == 2)
    #expect(html.components(of: "<svg").count == html.components(of: "</svg>").count)
    for title in ["Pictures a second", "Latency of a picture"] { #expect(html.contains(title)) }
    #expect(html.contains("cold, 4: 400"))
  }

  @Test func `a report without runs makes a valid page`() throws {
    #expect(
      try BenchPage(BenchReport(), title: "nothing", facts: Self.facts, command: Self.command).html
        .contains(
          "</html>"
        )
    )
  }

  private static let report: BenchReport = {
    var report = BenchReport()
    for (parallel, rate) in [(1, 100.0), (4, 400)] {
      var row = BenchReport.Row(parallel: parallel, pass: .cold)
      row.images = 10
      row.imagesPerSecond = rate
      row.confidence = BenchReport.Confidence(low: rate * 0.9, high: rate * 1.1, halfWidth: 0.1)
      row.totalMilliseconds = Quantiles(count: 10, p50: 1, p90: 2, p99: 3, p999: 4, max: 5)
      report.runs.append(row)
    }
    report.best = BenchReport.Best(
      parallel: 4,
      pass: .cold,
      imagesPerSecond: 400,
      bytesPerSecond: 1
    )
    return report
  }()
}

extension String {
  /// The pieces after each occurrence of `separator`; the text before the first one is dropped.
  fileprivate func components(of separator: String) -> [Substring] {
    var rest = self[...]
    var found: [Substring] = []
    while let range = rest.firstRange(of: separator) {
      found.append(rest[range])
      rest = rest[range.upperBound...]
    }
    return found
  }
}
