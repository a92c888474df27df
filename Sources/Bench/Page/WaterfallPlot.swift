/// Requests one below the other, each as long as it took, its parts in colours.
struct WaterfallPlot: Sendable {
  static let phases = ["dns", "connect", "tls", "wait", "transfer"]

  var title: String
  var bars: [BenchReport.Bar]

  private static let width = 840.0
  private static let inner = (left: 34.0, right: 826.0, top: 8.0)
  private static let row = 11.0

  /// The drawing in a figure with its caption and legend.
  var figure: String {
    let title = Markup.escaped(self.title)
    let bottom = Self.inner.top + Double(bars.count) * Self.row + 4
    let keys = Self.phases.map { "<li><i class=\"\($0) block\"></i>\($0)</li>" }
    return """
      <figure class="wide"><figcaption>\(title)</figcaption>
      <div class="scroll"><svg viewBox="0 0 \(Markup.place(Self.width)) \(Markup.place(bottom + 40))" \
      role="img" aria-label="\(title)">
      \(drawing(bottom))
      </svg></div>
      <ul class="legend">\(keys.joined())</ul></figure>
      """
  }

  private func drawing(_ bottom: Double) -> String {
    let start = bars.map(\.start).min() ?? 0
    let ends = bars.map { $0.start + $0.phases.reduce(0, +) - start }
    let scale = Scale(.linear, showing: ends)
    func across(_ value: Double) -> Double {
      Self.inner.left + scale.place(value) * (Self.inner.right - Self.inner.left)
    }
    var parts: [String] = []
    for tick in scale.ticks {
      let x = Markup.place(across(tick))
      parts.append(
        "<line class=\"grid\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(Markup.place(Self.inner.top))\" "
          + "y2=\"\(Markup.place(bottom))\"/>"
          + "<text class=\"middle\" x=\"\(x)\" y=\"\(Markup.place(bottom + 15))\">"
          + "\(Markup.number(tick))</text>"
      )
    }
    for (number, bar) in bars.enumerated() {
      let top = Self.inner.top + Double(number) * Self.row
      if number % 5 == 4 {
        parts.append(
          "<text class=\"end\" x=\"\(Markup.place(Self.inner.left - 6))\" "
            + "y=\"\(Markup.place(top + 9))\">\(number + 1)</text>"
        )
      }
      var moment = bar.start - start
      for (phase, length) in zip(Self.phases, bar.phases) where length > 0 {
        let (from, to) = (across(moment), across(moment + length))
        parts.append(
          "<rect class=\"\(phase)\" x=\"\(Markup.place(from))\" y=\"\(Markup.place(top + 1))\" "
            + "width=\"\(Markup.place(max(to - from, 0.5)))\" height=\"\(Markup.place(Self.row - 2))\">"
            + "<title>\(phase) \(Markup.number(length)) ms</title></rect>"
        )
        moment += length
      }
    }
    let middle = Markup.place((Self.inner.left + Self.inner.right) / 2)
    parts.append(
      "<text class=\"middle label\" x=\"\(middle)\" y=\"\(Markup.place(bottom + 33))\">"
        + "milliseconds since the first of them</text>"
    )
    return parts.joined(separator: "\n")
  }
}
