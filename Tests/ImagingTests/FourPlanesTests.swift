import Testing

@testable import Imaging

/// Checks the operations on four planes at once against a plain computation for each plane.
struct FourPlanesTests {
  /// Repeatable noise, different in each plane.
  private static func planes(_ width: Int, _ height: Int) -> FourPlanes {
    var state = UInt32(width * 7919 + height)
    let values = (0..<width * height).map { _ in
      var value = SIMD4<Float>.zero
      for plane in 0..<4 {
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        value[plane] = Float(state % 1000) / 1000 - 0.25 * Float(plane)
      }
      return value
    }
    return FourPlanes(width: width, height: height, values: values)
  }

  private static let sizes = [(1, 1), (1, 7), (9, 1), (2, 3), (13, 8), (40, 31)]

  @Test(arguments: sizes, [1, 2, 4])
  func `each value becomes the mean of its neighbourhood, with repeated edges`(
    _ size: (Int, Int),
    _ radius: Int
  ) {
    let (width, height) = size
    let planes = Self.planes(width, height)

    let averaged = planes.averaged(radius)

    func mean(_ x: Int, _ y: Int, _ plane: Int) -> Double {
      var sum = 0.0
      for across in x - radius...x + radius {
        for down in y - radius...y + radius {
          let place = min(max(down, 0), height - 1) * width + min(max(across, 0), width - 1)
          sum += Double(planes.values[place][plane])
        }
      }
      return sum / Double((radius * 2 + 1) * (radius * 2 + 1))
    }
    for y in 0..<height {
      for x in 0..<width {
        for plane in 0..<4 {
          let here = Double(averaged.values[y * width + x][plane])
          #expect(abs(here - mean(x, y, plane)) < 1e-6, "\(x), \(y), plane \(plane)")
        }
      }
    }
    #expect(planes.averaged(radius, times: 2).values == averaged.averaged(radius).values)
  }

  @Test(arguments: sizes)
  func `nothing is left of a linear gradient when its trend is subtracted`(_ size: (Int, Int)) {
    let (width, height) = size
    let values = (0..<width * height).map { index in
      let (x, y) = (Float(index % width), Float(index / width))
      return SIMD4(0.5, 0.1 * x, 3 - 0.2 * y, 0.3 * x + 0.05 * y - 1)
    }
    var planes = FourPlanes(width: width, height: height, values: values)

    planes.combine(planes.trend) { $0 - $1 }

    for value in planes.values {
      for plane in 0..<4 { #expect(abs(value[plane]) < 1e-4) }
    }
  }

  @Test func `the nearly highest value is the 99th percentile`() {
    let planes = Self.planes(200, 100)

    let highest = planes.nearlyHighest

    for plane in 0..<4 {
      let sorted = planes.values.map { max($0[plane], 0) }.sorted()
      let most = sorted[sorted.count - 1]
      #expect(
        abs(highest[plane] - sorted[sorted.count * 99 / 100]) <= most / 500,
        "plane \(plane)"
      )
    }
    #expect(
      FourPlanes(width: 3, height: 2, values: planes.values.prefix(6).map { $0 - 9 }).nearlyHighest
        == .zero
    )
  }
}
