import CLCMS
import Glibc

extension AVIFHeader.Colour {
  /// An ICC profile of these primaries and this curve, for formats that have no numbers for them.
  ///
  /// What is brighter than the white of a page (203 cd/m², ITU-R BT.2408) is cut off in those that go
  /// further. The same numbers always give the same bytes.
  /// Nil where they are those that viewers assume without one, or unknown.
  var profile: [UInt8]? {
    let isUsualCurve = ![4, 5, 8, 16, 18].contains(transfer)
    guard let (red, green, blue, white) = chromaticities ?? (isUsualCurve ? nil : Self.usual)
    else { return nil }
    guard let curve = Self.curve(transfer) else { return nil }
    defer { cmsFreeToneCurve(curve) }
    func point(_ place: (Double, Double)) -> cmsCIExyY { cmsCIExyY(x: place.0, y: place.1, Y: 1) }
    var whitePoint = point(white)
    var primaries = cmsCIExyYTRIPLE(Red: point(red), Green: point(green), Blue: point(blue))
    var curves: [OpaquePointer?] = [curve, curve, curve]
    guard let made = cmsCreateRGBProfile(&whitePoint, &primaries, &curves) else { return nil }
    defer { cmsCloseProfile(made) }
    var count: cmsUInt32Number = 0
    guard cmsSaveProfileToMem(made, nil, &count) != 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    guard cmsSaveProfileToMem(made, &bytes, &count) != 0, count >= 128 else { return nil }
    // The day that it was made, which would be another in each run. (ICC.1:2022, 7.2.8)
    bytes.replaceSubrange(24..<36, with: [7, 0xE4, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
    return bytes
  }

  private typealias Primaries = (
    red: (Double, Double), green: (Double, Double), blue: (Double, Double), white: (Double, Double)
  )

  private static let daylight = (0.3127, 0.3290)
  private static let usual: Primaries = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), daylight)

  /// Where the primaries lie, other than sRGB's; nil for those and for unknown ones. (ITU-T H.273,
  /// table 2)
  private var chromaticities: Primaries? {
    let day = Self.daylight
    return switch primaries {
    case 4: ((0.67, 0.33), (0.21, 0.71), (0.14, 0.08), (0.310, 0.316))
    case 5: ((0.64, 0.33), (0.29, 0.60), (0.15, 0.06), day)
    case 6, 7: ((0.630, 0.340), (0.310, 0.595), (0.155, 0.070), day)
    case 8: ((0.681, 0.319), (0.243, 0.692), (0.145, 0.049), (0.310, 0.316))
    case 9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), day)
    case 11: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351))
    case 12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), day)
    case 22: ((0.630, 0.340), (0.295, 0.605), (0.155, 0.077), day)
    default: nil
    }
  }

  /// From samples to light. (ITU-T H.273, table 3)
  private static func curve(_ transfer: Int32) -> OpaquePointer? {
    switch transfer {
    case 1, 6, 14, 15:
      let alpha = 1.099296826809442
      return parametric(4, [1 / 0.45, 1 / alpha, 1 - 1 / alpha, 1 / 4.5, 0.081242858298635])
    case 4: return parametric(1, [2.2])
    case 5: return parametric(1, [2.8])
    case 8: return parametric(1, [1])
    case 16: return tabulated { perceptual($0) * 10_000 / 203 }
    case 18: return tabulated { hybrid($0) / hybrid(0.75) }
    default: return parametric(4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    }
  }

  private static func parametric(_ type: Int32, _ numbers: [Double]) -> OpaquePointer? {
    cmsBuildParametricToneCurve(nil, type, numbers)
  }

  private static func tabulated(_ light: (Double) -> Double) -> OpaquePointer? {
    let values = (0..<4096).map { UInt16((min(light(Double($0) / 4095), 1) * 65_535).rounded()) }
    return cmsBuildTabulatedToneCurve16(nil, 4096, values)
  }

  /// Light of 10,000 cd/m². (SMPTE ST 2084)
  private static func perceptual(_ sample: Double) -> Double {
    let power = pow(sample, 32 / 2523.0)
    return pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 16384 / 2610.0)
  }

  /// Light of a scene. (ITU-R BT.2100, table 5)
  private static func hybrid(_ sample: Double) -> Double {
    sample <= 0.5
      ? sample * sample / 3 : (exp((sample - 0.55991073) / 0.17883277) + 0.28466892) / 12
  }
}
