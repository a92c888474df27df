/// A number for each place of a small picture, row by row.
struct Plane: Equatable {
  let width: Int
  let height: Int
  private(set) var values: [Float]

  /// Takes as many values as the plane has places.
  init(width: Int, height: Int, values: [Float]) {
    (self.width, self.height, self.values) = (width, height, values)
  }

  func combined(_ other: Plane, _ join: (Float, Float) -> Float) -> Plane {
    Plane(width: width, height: height, values: zip(values, other.values).map { join($0, $1) })
  }

  mutating func add(_ other: Plane) {
    for index in values.indices { values[index] += other.values[index] }
  }

  /// The sum of each column.
  var columns: [Float] {
    var sums = [Float](repeating: 0, count: width)
    for y in 0..<height { for x in 0..<width { sums[x] += values[y * width + x] } }
    return sums
  }

  /// The sum of each row.
  var rows: [Float] {
    (0..<height).map { values[($0 * width)..<($0 + 1) * width].reduce(0, +) }
  }

  /// The share of what is above `least` that an edge runs through before each column, or each row, and behind the last.
  ///
  /// An edge runs through a thing that is there on both sides of it; nothing goes on beyond the plane's own.
  func cuts(isAcross: Bool, above least: Float) -> [Float] {
    let (length, step) = isAcross ? (width, 1) : (height, width)
    var cuts = [Float](repeating: 0, count: length + 1)
    var all: Float = 0
    for y in 0..<height {
      for x in 0..<width {
        let (index, place) = (y * width + x, isAcross ? x : y)
        let here = max(values[index] - least, 0)
        all += here
        if place > 0 { cuts[place] += min(here, max(values[index - step] - least, 0)) }
      }
    }
    return all > 0 ? cuts.map { $0 / all } : cuts
  }

  /// The middle of what is to be seen in a part, all of them in shares of the sides.
  func centre(columns: ClosedRange<Double>, rows: ClosedRange<Double>) -> (x: Double, y: Double) {
    var (sum, across, down) = (0.0, 0.0, 0.0)
    for y in 0..<height {
      let yPlace = (Double(y) + 0.5) / Double(height)
      guard rows.contains(yPlace) else { continue }
      for x in 0..<width {
        let xPlace = (Double(x) + 0.5) / Double(width)
        guard columns.contains(xPlace) else { continue }
        let value = Double(values[y * width + x])
        (sum, across, down) = (sum + value, across + value * xPlace, down + value * yPlace)
      }
    }
    guard sum > 0 else { return (0.5, 0.5) }
    return (across / sum, down / sum)
  }
}
