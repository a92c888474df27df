import CAVIF
import Testing

@testable import Imaging

/// The estimated memory of dav1d, compared with measurements.
struct AVIFDecoderTests {
  /// The last number of each row is the number of bytes per pixel that was measured, for a grid of 4000 × 4000 pixels
  /// with film grain.
  @Test(
    arguments: [
      (cavif_400, 10, false, 7.08), (cavif_400, 10, true, 13.81),
      (cavif_400, 8, false, 4.03), (cavif_400, 8, true, 7.72),
      (cavif_420, 10, false, 10.31), (cavif_420, 10, true, 17.05),
      (cavif_420, 8, false, 5.59), (cavif_420, 8, true, 9.27),
      (cavif_422, 10, false, 13.48), (cavif_422, 10, true, 20.23),
      (cavif_422, 8, false, 7.13), (cavif_422, 8, true, 10.81),
      (cavif_444, 10, false, 19.59), (cavif_444, 10, true, 26.34),
      (cavif_444, 8, false, 10.46), (cavif_444, 8, true, 14.15),
    ] as [(Int, Int, Bool, Double)]
  )
  func `dav1d takes at most its estimated memory, and at least four fifths of it`(
    _ chroma: Int,
    _ depth: Int,
    _ hasAlpha: Bool,
    _ measured: Double
  ) {
    let said = AVIFHeader.decoderMemory(
      pixels: 1_000_000,
      colour: cavif_colour(chroma: CInt(chroma), primaries: 1, transfer: 13, matrix: 6),
      depth: depth,
      hasAlpha: hasAlpha
    )
    #expect((measured * 1e6...measured * 1.25e6).contains(Double(said)))
  }
}
