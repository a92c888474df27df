import Glibc
import PictureFixtures

@testable import Imaging

/// The quantized coefficients of one component of a JPEG.
struct Coefficients {
  let across: Int
  let down: Int
  let blocks: [[Int16]]

  init(_ bytes: [UInt8], _ component: Int) throws {
    var (across, down) = (Int32(0), Int32(0))
    let values = fixture_coefficients(bytes, bytes.count, Int32(component), &across, &down)
    guard let values else { throw ImagingError(.damagedPicture, "no coefficients") }
    defer { free(values) }
    let all = UnsafeBufferPointer(start: values, count: Int(across * down) * 64)
    blocks = stride(from: 0, to: all.count, by: 64).map { Array(all[$0..<$0 + 64]) }
    (self.across, self.down) = (Int(across), Int(down))
  }

  subscript(x: Int, y: Int) -> [Int16] { blocks[y * across + x] }

  /// The blocks that lie completely within the picture.
  func wholeBlocks(side: Int) -> [[Int16]] {
    (0..<down - 1).flatMap { y in (0..<across - 1).map { self[$0, y] } }
  }

  static func components(of kind: JPEGKind) -> Int {
    kind.colourSpace == 1 ? 1 : kind.colourSpace >= 4 ? 4 : 3
  }
}
