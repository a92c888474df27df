import CAVIF
import Testing

@testable import Imaging

/// The estimated memory of the AVIF decoders, compared with measurements.
struct AVIFDecoderTests {
  /// The last number of each row is the number of bytes per pixel that was measured, for a grid of 4000 × 4000 pixels
  /// with film grain.
  @Test(
    arguments: [
      (AVIFDecoder.dav1d, cavif_400, 10, false, 7.08), (.dav1d, cavif_400, 10, true, 13.81),
      (.dav1d, cavif_400, 8, false, 4.03), (.dav1d, cavif_400, 8, true, 7.72),
      (.dav1d, cavif_420, 10, false, 10.31), (.dav1d, cavif_420, 10, true, 17.05),
      (.dav1d, cavif_420, 8, false, 5.59), (.dav1d, cavif_420, 8, true, 9.27),
      (.dav1d, cavif_422, 10, false, 13.48), (.dav1d, cavif_422, 10, true, 20.23),
      (.dav1d, cavif_422, 8, false, 7.13), (.dav1d, cavif_422, 8, true, 10.81),
      (.dav1d, cavif_444, 10, false, 19.59), (.dav1d, cavif_444, 10, true, 26.34),
      (.dav1d, cavif_444, 8, false, 10.46), (.dav1d, cavif_444, 8, true, 14.15),
      (.other, cavif_400, 10, false, 22.65),
      (.other, cavif_400, 10, true, 45.22),
      (.other, cavif_400, 8, false, 18.06),
      (.other, cavif_400, 8, true, 35.99),
      (.other, cavif_420, 10, false, 23.66),
      (.other, cavif_420, 10, true, 46.22),
      (.other, cavif_420, 8, false, 18.56),
      (.other, cavif_420, 8, true, 36.49),
      (.other, cavif_422, 10, false, 26.98),
      (.other, cavif_422, 10, true, 49.53),
      (.other, cavif_422, 8, false, 20.21),
      (.other, cavif_422, 8, true, 38.15),
      (.other, cavif_444, 10, false, 33.58),
      (.other, cavif_444, 10, true, 56.14),
      (.other, cavif_444, 8, false, 23.51),
      (.other, cavif_444, 8, true, 41.45),
    ] as [(AVIFDecoder, Int, Int, Bool, Double)]
  )
  func `a decoder takes at most its estimated memory, and at least four fifths of it`(
    _ decoder: AVIFDecoder,
    _ chroma: Int,
    _ depth: Int,
    _ hasAlpha: Bool,
    _ measured: Double
  ) {
    let said = decoder.memory(
      pixels: 1_000_000,
      chroma: CInt(chroma),
      depth: depth,
      hasAlpha: hasAlpha
    )
    #expect((measured * 1e6...measured * 1.25e6).contains(Double(said)))
  }
}
