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
