import Support
import Testing

@testable import Imaging

/// Lossless and full-size JPEG crops with `--gravity attention`.
struct LookTests {
  @Test(arguments: Sweep.pairs(JPEGKind.all, [false, true]))
  func `the subject is kept unscaled and losslessly, even in damaged files`(
    _ kind: JPEGKind,
    _ isDamaged: Bool
  ) throws {
    let bytes = kind.bytes(width: 400, height: 200, length: 9)
    let file = try PictureFile(isDamaged ? Array(bytes.prefix(bytes.count * 2 / 3)) : bytes)
    let found = try Crop(gravity: .attention).framing(of: file).focus

    for isLossless in [false, true] {
      let made = try Crop(gravity: .attention, lossless: isLossless).apply(to: file)

      #expect(made.width == 200 || isLossless && made.width > 180)
      #expect(made.isDamaged == isDamaged)
      #expect(made.gravity == EncodedPicture.Point(found))
    }
  }
}
