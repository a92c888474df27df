import CAVIF

/// Who decodes the AV1 pictures that are in an AVIF.
enum AVIFDecoder: Equatable {
  /// It is quick, and holds hardly more than the planes.
  case dav1d
  /// It holds several times as much, and reads what it wrote itself.
  case libaom
  /// Whichever else libavif was built with.
  case other

  /// Pixels of the largest picture that AV1 has a level for. (AV1, annex A.3)
  ///
  /// Of what libaom 3.6 wrote beyond that, dav1d 1.0 to 1.5 reads nothing, and libaom all.
  static let mostOfLevels = 35_651_584

  /// Who is asked for a picture of `pixels`, one after the other, until one reads it.
  ///
  /// - Parameters:
  ///   - pixels: those of the picture.
  ///   - has: whether libavif was built with a decoder.
  /// - Returns: One or two of them.
  static func order(pixels: Int, has: (AVIFDecoder) -> Bool) -> [AVIFDecoder] {
    guard has(.dav1d) else { return [.other] }
    return pixels > mostOfLevels && has(.libaom) ? [.dav1d, .libaom] : [.dav1d]
  }

  /// Bytes that it holds at most while it decodes a picture of `pixels`, beside the file.
  ///
  /// Colours and alpha are two pictures to it. Film grain is added to a copy of the planes, and the cells of a grid
  /// are copied into a picture of their own. (Measured in docs/decisions, 07)
  func memory(pixels: Int, chroma: Int32, depth: Int, hasAlpha: Bool) -> Int {
    let samplesOfChroma =
      switch Int(chroma) {
      case cavif_444: 2.0
      case cavif_422: 1.0
      case cavif_420: 0.5
      default: 0.0
      }
    func bytes(_ samplesOfChroma: Double) -> Double {
      // To libaom, grey is 4:2:0 as well.
      let chroma = self == .dav1d ? samplesOfChroma : max(samplesOfChroma, 0.5)
      let planes = (1 + chroma) * (depth > 8 ? 2 : 1)
      return switch self {
      case .dav1d: 1 + planes * 3.5
      // What dav1d does not read is one picture rather than a grid of small ones.
      case .libaom: 13.5 + planes * 2
      case .other: 13.5 + planes * 3.5
      }
    }
    return Int(Double(pixels) * (bytes(samplesOfChroma) + (hasAlpha ? bytes(0) : 0)))
  }

  /// As ``CAVIF`` names it.
  var number: CInt {
    switch self {
    case .dav1d: CInt(cavif_dav1d)
    case .libaom: CInt(cavif_aom)
    case .other: CInt(cavif_any)
    }
  }
}
