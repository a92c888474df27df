import Foundation

@testable import Imaging

/// A grey picture of waves whose exact values are known at any size, and its Lanczos scaling in double precision.
enum SmoothPicture {
  /// The exact values at the centres of `side` × `side` pixels.
  static func values(of side: Int) -> [Double] {
    let places = (0..<side).map { (Double($0) + 0.5) / Double(side) * 24 }
    return places.flatMap { y in places.map { x in 127 + 100 * sin(x + 1) * cos(y / 1.4) } }
  }

  /// The picture as an 8-bit bitmap.
  static func bitmap(of side: Int) -> Bitmap {
    let samples = values(of: side).map { UInt8($0.rounded()) }
    return Bitmap(width: side, height: side, layout: .grey, samples: samples)
  }

  /// A square picture scaled along its rows, rounded to 8 bits, then scaled along its columns and
  /// rounded again, as Pillow does.
  ///
  /// Samples beyond the border are ignored.
  static func scaled(_ source: Bitmap, to side: Int) -> [Double] {
    let weights = weights(from: source.width, to: side)
    func along(_ samples: [Double], rows: Int) -> [Double] {
      // Each row becomes a column, so that the second pass is upright again.
      weights.flatMap { first, weights in
        (0..<rows).map { row in
          let start = row * source.width + first
          var sum = 0.0
          for index in 0..<weights.count { sum += samples[start + index] * weights[index] }
          return min(max(sum.rounded(), 0), 255)
        }
      }
    }
    return along(along(source.samples.map(Double.init), rows: source.width), rows: side)
  }

  /// The mean squared error.
  static func error(_ made: [Double], _ expected: [Double]) -> Double {
    zip(made, expected).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } / Double(expected.count)
  }

  /// For each output sample: the first input sample that it depends on, and the weights from that sample on.
  private static func weights(from: Int, to: Int) -> [(first: Int, weights: [Double])] {
    let ratio = Double(from) / Double(to)
    return (0..<to).map { place in
      let middle = (Double(place) + 0.5) * ratio
      let first = max(Int((middle - 3 * ratio).rounded()), 0)
      let end = min(Int((middle + 3 * ratio).rounded()), from)
      let weights = (first..<end).map { lanczos((Double($0) + 0.5 - middle) / ratio) }
      let sum = weights.reduce(0, +)
      return (first, weights.map { $0 / sum })
    }
  }

  private static func lanczos(_ x: Double) -> Double {
    func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
    return abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0
  }
}
