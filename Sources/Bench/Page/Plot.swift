import Glibc
import Web

/// The template data of a line chart over the numbers of simultaneous transfers, with logarithmic axes.
///
/// The drawing is 420 units wide and 270 high. The lines are drawn from 62 to 408 across, and from 14 to 226 down.
struct Plot {
  /// The values of a line.
  struct Series {
    var name: String
    /// The CSS class that decides the line's colour.
    var style: String
    var points: [Point]
    var isDashed = false
  }

  /// A value, with its confidence interval if that is known.
  struct Point {
    let x, y: Double
    let band: BenchReport.Confidence?
  }

  /// A mark on an axis, with its value.
  struct Tick {
    let at, text: String
  }

  /// A point, with its values in words.
  struct Dot {
    let x, y, text: String
  }

  /// A line, with the area of its confidence intervals behind it; the area is empty if they are not known.
  struct Line {
    let name, style: String
    let isDashed: Bool
    let area, points: String
    let dots: [Dot]
  }

  let title, yLabel: String
  let xTicks, yTicks: [Tick]
  let lines: [Line]

  /// Calculates the positions; lines without points are left out.
  init(_ title: String, _ yLabel: String, _ series: [Series]) {
    (self.title, self.yLabel) = (title, yLabel)
    let series = series.filter { !$0.points.isEmpty }
    let points = series.flatMap(\.points)
    let x = Scale(.doubling, showing: points.map(\.x))
    let bands = points.flatMap { [$0.band?.low, $0.band?.high].compactMap { $0 } }
    let y = Scale(.decades, showing: points.map(\.y) + bands)
    func across(_ value: Double) -> String { (62 + x.place(value) * 346).coordinate }
    func up(_ value: Double) -> String { (226 - y.place(value) * 212).coordinate }
    xTicks = x.ticks.map { Tick(at: across($0), text: Markup.number($0)) }
    yTicks = y.ticks.map { Tick(at: up($0), text: Markup.number($0)) }
    lines = series.map { line in
      let known = line.points.filter { $0.band?.halfWidth != nil }
      let there = known.map { "\(across($0.x)),\(up($0.band?.high ?? $0.y))" }
      let back = known.reversed().map { "\(across($0.x)),\(up($0.band?.low ?? $0.y))" }
      return Line(
        name: line.name,
        style: line.style,
        isDashed: line.isDashed,
        area: known.count > 1 ? (there + back).joined(separator: " ") : "",
        points: line.points.map { "\(across($0.x)),\(up($0.y))" }.joined(separator: " "),
        dots: line.points.map { point in
          let words = "\(line.name), \(Markup.number(point.x)): \(Markup.number(point.y))"
          return Dot(x: across(point.x), y: up(point.y), text: words)
        }
      )
    }
  }
}

/// A logarithmic axis: maps values to positions, and chooses the ticks.
struct Scale: Sendable, Equatable {
  enum Kind: Sendable {
    /// A scale with ticks at powers of two, for values from 1 to 1024.
    case doubling
    /// A scale with ticks at 1, 2 and 5 times each power of ten.
    case decades
  }

  /// The values at both ends of the axis.
  let bounds: ClosedRange<Double>
  /// The values with a tick and a label.
  let ticks: [Double]

  /// Creates a scale on which all values have a place.
  init(_ kind: Kind, showing values: [Double]) {
    let (low, high) = (max(values.min() ?? 1, 0.001), max(values.max() ?? 1, 0.001))
    switch kind {
    case .doubling:
      bounds = low...max(high, low * 2)
      ticks = (0...11).map { Double(1 << $0) }.filter(bounds.contains)
    case .decades:
      let first = floor(log10(low) + 1e-9)
      let last = max(ceil(log10(high) - 1e-9), first + 1)
      // With few decades, there is room for ticks between the powers of ten.
      let factors = last - first > 3.5 ? [1.0] : [1, 2, 5]
      bounds = pow(10, first)...pow(10, last)
      ticks =
        stride(from: first, to: last, by: 1).flatMap { power in
          factors.map { $0 * pow(10, power) }
        } + [pow(10, last)]
    }
  }

  /// The position of a value on the axis, from 0 at the start to 1 at the end.
  func place(_ value: Double) -> Double {
    let (low, high) = (log(bounds.lowerBound), log(bounds.upperBound))
    return min(max(0, (log(max(value, 1e-9)) - low) / (high - low)), 1)
  }
}

extension Double {
  /// This coordinate of a drawing with at most one decimal, such as `12` or `12.5`.
  fileprivate var coordinate: String {
    let tenths = Int((self * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
  }
}
