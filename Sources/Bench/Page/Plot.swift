import Glibc
import Web

/// A line chart: its values and its axes.
struct Plot: Sendable {
  /// A line of the chart.
  struct Series: Sendable {
    var name: String
    /// The CSS class that decides the line's colour.
    var style: String
    var points: [(x: Double, y: Double)]
    /// The confidence intervals of the points; empty if they are not known.
    var band: [(x: Double, low: Double, high: Double)] = []
    var isDashed = false
    /// Whether each point is drawn as a dot, which shows its value when the pointer is over it.
    var hasDots = true
  }

  var title: String
  var xLabel: String
  var yLabel: String
  var x: Scale.Kind
  var y: Scale.Kind
  var series: [Series]
  var isFilled = false
}

/// The template data of a chart: positions in a drawing that is 420 units wide and 270 high.
///
/// The lines are drawn from 62 to 408 across, and from 14 to 226 down.
struct PlotDrawing {
  /// A mark on an axis, with its value.
  struct Tick {
    let at, text: String
  }

  /// A point, with its values in words.
  struct Dot {
    let x, y, text: String
  }

  /// A line, with the areas behind it.
  struct Line {
    let name, style: String
    let isDashed: Bool
    let areas: [String]
    let points: String
    let dots: [Dot]
  }

  let title, xLabel, yLabel: String
  let xTicks, yTicks: [Tick]
  let lines: [Line]

  /// Calculates the positions.
  init(_ plot: Plot) {
    let series = plot.series
    let x = Scale(plot.x, showing: series.flatMap { $0.points.map(\.x) })
    let bands = series.flatMap { $0.band.flatMap { [$0.low, $0.high] } }
    let y = Scale(plot.y, showing: series.flatMap { $0.points.map(\.y) } + bands)
    func across(_ value: Double) -> String { (62 + x.place(value) * 346).coordinate }
    func up(_ value: Double) -> String { (226 - y.place(value) * 212).coordinate }
    (title, xLabel, yLabel) = (plot.title, plot.xLabel, plot.yLabel)
    xTicks = x.ticks.map { tick in
      Tick(
        at: across(tick),
        text: plot.x == .nines ? Markup.decimal(tick, 3) : Markup.number(tick)
      )
    }
    yTicks = y.ticks.map { Tick(at: up($0), text: Markup.number($0)) }
    lines = series.map { line in
      let points = line.points.map { "\(across($0.x)),\(up($0.y))" }
      var areas: [String] = []
      if line.band.count > 1 {
        let there = line.band.map { "\(across($0.x)),\(up($0.high))" }
        let back = line.band.reversed().map { "\(across($0.x)),\(up($0.low))" }
        areas.append((there + back).joined(separator: " "))
      }
      if plot.isFilled, let first = line.points.first, let last = line.points.last {
        let floor = up(y.bounds.lowerBound)
        let around = ["\(across(first.x)),\(floor)"] + points + ["\(across(last.x)),\(floor)"]
        areas.append(around.joined(separator: " "))
      }
      return Line(
        name: line.name,
        style: line.style,
        isDashed: line.isDashed,
        areas: areas,
        points: points.joined(separator: " "),
        dots: line.hasDots
          ? line.points.map { point in
            let words = "\(line.name), \(Markup.number(point.x)): \(Markup.number(point.y))"
            return Dot(x: across(point.x), y: up(point.y), text: words)
          } : []
      )
    }
  }
}

/// An axis: maps values to positions, and chooses the ticks.
struct Scale: Sendable, Equatable {
  enum Kind: Sendable {
    /// A linear scale.
    case linear
    /// A logarithmic scale with ticks at powers of two.
    case doubling
    /// A logarithmic scale with ticks at 1, 2 and 5 times each power of ten.
    case decades
    /// A scale for percentiles.
    ///
    /// It is logarithmic in the distance to 100 %, so 90, 99 and 99.9 % have equal distances.
    case nines
  }

  let kind: Kind
  /// The values at both ends of the axis.
  let bounds: ClosedRange<Double>

  /// Creates a scale on which all values have a place.
  ///
  /// A linear scale starts at 0 and ends at a tick.
  init(_ kind: Kind, showing values: [Double]) {
    self.kind = kind
    let values = values.filter(\.isFinite)
    let (low, high) = (values.min() ?? 0, values.max() ?? 1)
    switch kind {
    case .linear:
      let step = Self.step(high)
      bounds = 0...max(step, (high / step).rounded(.up) * step)
    case .doubling:
      bounds = max(low, 1e-9)...max(high, low * 2, 2e-9)
    case .decades:
      let first = floor(log10(max(low, 0.001)) + 1e-9)
      let last = max(ceil(log10(max(high, 0.001)) - 1e-9), first + 1)
      bounds = pow(10, first)...pow(10, last)
    case .nines:
      // On this scale, 100 % would be infinitely far away, so it is drawn at the end of the axis.
      bounds = 0...min(max(values.filter { $0 < 100 }.max() ?? 90, 90), 99.9999)
    }
  }

  /// The position of a value on the axis, from 0 at the start to 1 at the end.
  func place(_ value: Double) -> Double {
    let (low, high, value) = (warp(bounds.lowerBound), warp(bounds.upperBound), warp(value))
    guard high > low else { return 0 }
    return min(max(0, (value - low) / (high - low)), 1)
  }

  private func warp(_ value: Double) -> Double {
    switch kind {
    case .linear: value
    case .doubling, .decades: log(max(value, 1e-9))
    case .nines: -log10(max(1 - value / 100, 1e-6))
    }
  }

  /// The values with a tick and a label.
  var ticks: [Double] {
    switch kind {
    case .linear:
      let step = Self.step(bounds.upperBound)
      return Array(stride(from: 0, through: bounds.upperBound * 1.000_1, by: step))
    case .doubling:
      let first = log2(bounds.lowerBound).rounded(.up)
      let last = (log2(bounds.upperBound) + 1e-9).rounded(.down)
      return first <= last ? stride(from: first, through: last, by: 1).map { exp2($0) } : []
    case .decades:
      return decades
    case .nines:
      return [0, 50, 90, 99, 99.9, 99.99, 99.999].filter { $0 <= bounds.upperBound }
    }
  }

  private var decades: [Double] {
    let (low, high) = (log10(bounds.lowerBound), log10(bounds.upperBound))
    // With few decades, there is room for ticks between the powers of ten.
    let factors = high - low > 3.5 ? [1.0] : [1, 2, 5]
    let all = stride(from: low.rounded(), through: high.rounded(), by: 1).flatMap { power in
      factors.map { $0 * pow(10, power) }
    }
    return all.filter { $0 >= bounds.lowerBound * 0.999 && $0 <= bounds.upperBound * 1.001 }
  }

  /// The distance between ticks: 1, 2 or 5 times a power of ten, such as 0.2 or 50.
  ///
  /// It is chosen so that there are four to eight such distances from 0 to `high`.
  static func step(_ high: Double) -> Double {
    guard high > 0, high.isFinite else { return 0.2 }
    let power = pow(10, floor(log10(high / 4)))
    let factor = [1.0, 2, 5, 10].last { $0 * power * 4 <= high * 1.000_1 } ?? 1
    return factor * power
  }
}
