import Testing

@testable import Imaging

/// Lossless and full-size JPEG crops with `--gravity attention`.
struct LookTests {
  @Test(arguments: JPEGKind.all)
  func `the subject is kept unscaled and losslessly, even in damaged files`(
    _ kind: JPEGKind
  ) throws {
    let bytes = kind.bytes(width: 400, height: 200, length: 9)
    for count in [bytes.count, bytes.count * 2 / 3] {
      let file = try PictureFile(Array(bytes.prefix(count)))
      let found = try Crop(gravity: .attention).framing(of: file).focus
      for isLossless in [false, true] {
        let made = try Crop(gravity: .attention, lossless: isLossless).apply(to: file)

        #expect(made.width == 200 || isLossless && made.width > 180)
        #expect(made.isDamaged == (count < bytes.count))
        #expect(made.gravity == EncodedPicture.Point(found))
      }
    }
  }
}
