/// A number for each place of a small picture, row by row.
struct Plane: Equatable {
  let width: Int
  let height: Int
  private(set) var values: [Float]

  /// Takes as many values as the plane has places.
  init(width: Int, height: Int, values: [Float]) {
    (self.width, self.height, self.values) = (width, height, values)
  }

  /// A plane of the same size without anything on it.
  var zeros: Plane {
    Plane(width: width, height: height, values: [Float](repeating: 0, count: values.count))
  }

  func mapped(_ change: (Float) -> Float) -> Plane {
    Plane(width: width, height: height, values: values.map(change))
  }

  func combined(_ other: Plane, _ join: (Float, Float) -> Float) -> Plane {
    Plane(width: width, height: height, values: zip(values, other.values).map { join($0, $1) })
  }

  mutating func add(_ other: Plane) {
    for index in values.indices { values[index] += other.values[index] }
  }

  var mean: Float { values.reduce(0, +) / Float(max(values.count, 1)) }

  /// The value that one in a hundred places is above, within a thousandth of the highest.
  var nearlyHighest: Float {
    // Counted into a thousand shelves, as sorting took half of the time of a look.
    guard let most = values.max(), most > 0 else { return 0 }
    var shelves = [Int](repeating: 0, count: 1001)
    for value in values { shelves[Int(max(value, 0) / most * 1000)] += 1 }
    var above = 0
    for (shelf, count) in shelves.enumerated().reversed() {
      above += count
      if above * 100 > values.count { return Float(shelf) / 1000 * most }
    }
    return 0
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

  /// How fast the values change at each place, squared; nothing at the edges.
  var squaredGradient: Plane {
    var made = zeros
    for y in 0..<height {
      for x in 0..<width {
        let place = y * width + x
        let across = x > 0 && x < width - 1 ? values[place + 1] - values[place - 1] : 0
        let down =
          y > 0 && y < height - 1 ? values[place + width] - values[place - width] : 0
        made.values[place] = across * across + down * down
      }
    }
    return made
  }

  /// The flat plane, level or not, that lies nearest to the values: what is even about them.
  var trend: Plane {
    let (middleX, middleY) = (Float(width - 1) / 2, Float(height - 1) / 2)
    var (alongX, alongY) = (Float(0), Float(0))
    for (x, sum) in columns.enumerated() { alongX += sum * (Float(x) - middleX) }
    for (y, sum) in rows.enumerated() { alongY += sum * (Float(y) - middleY) }
    /// The sum of the squared distances of all places from the middle.
    func spread(_ count: Int, _ other: Int) -> Float {
      Float(other) * Float(count) * Float(count * count - 1) / 12
    }
    let slopeX = width > 1 ? alongX / spread(width, height) : 0
    let slopeY = height > 1 ? alongY / spread(height, width) : 0
    let mean = mean
    var made = zeros
    for y in 0..<height {
      for x in 0..<width {
        made.values[y * width + x] =
          mean + slopeX * (Float(x) - middleX) + slopeY * (Float(y) - middleY)
      }
    }
    return made
  }

  /// The mean around each place, up to `radius` away along either axis; the edges go on as they are.
  func averaged(_ radius: Int) -> Plane {
    averaged(radius, count: height, length: width, step: 1, between: width)
      .averaged(radius, count: width, length: height, step: width, between: 1)
  }

  /// The mean of means: nearly a bell.
  func blurred(_ radius: Int) -> Plane { averaged(radius).averaged(radius) }

  private func averaged(
    _ radius: Int,
    count: Int,
    length: Int,
    step: Int,
    between: Int
  ) -> Plane {
    var made = zeros
    // In double precision, so that what running sums carry along is nothing to the values; those of all
    // lines side by side, as each addition waits for the one before it.
    var sums = [Double](repeating: 0, count: count)
    let share = 1 / Double(radius * 2 + 1)
    values.withUnsafeBufferPointer { from in
      made.values.withUnsafeMutableBufferPointer { to in
        sums.withUnsafeMutableBufferPointer { sums in
          func place(_ index: Int) -> Int { min(max(index, 0), length - 1) * step }
          for index in -radius...radius {
            let place = place(index)
            for line in 0..<count { sums[line] += Double(from[place + line * between]) }
          }
          for index in 0..<length {
            let (here, next, last) = (
              place(index), place(index + radius + 1), place(index - radius)
            )
            for line in 0..<count {
              let start = line * between
              to[start + here] = Float(sums[line] * share)
              sums[line] += Double(from[start + next]) - Double(from[start + last])
            }
          }
        }
      }
    }
    return made
  }
}
