import Base
import CLCMS
import Glibc

extension RowSource {
  /// Converts these rows from the colours of `profile` to sRGB.
  ///
  /// Alpha stays the same. Palette indices become colours. If the profile cannot be read or is for another kind of
  /// samples, the rows are returned unchanged, because viewers ignore such a profile, too.
  ///
  /// - Parameters:
  ///   - profile: An ICC profile for RGB or grey. For CMYK, call `inksConverted` instead.
  ///   - name: The name of the picture in errors.
  /// - Returns: The converted rows.
  /// - Throws: ``LarderError`` when there is not enough memory.
  func inSRGB(from profile: [UInt8], name: String) throws(LarderError) -> any RowSource {
    switch ColourTransform.space(of: profile) {
    case cmsSigGrayData:
      let tones = try ColourTransform.tones(of: profile, depth: shape.depth, name)
      return converted { shape in tones.flatMap { Conversion.toneMapped(shape, $0) } }
    case cmsSigRgbData: return try inSRGB(fromColours: profile, name)
    default: return self
    }
  }

  private func inSRGB(
    fromColours profile: [UInt8],
    _ name: String
  ) throws(LarderError) -> any RowSource {
    let rows = converted { Conversion.expanded($0) }
    let (layout, depth, bytes) = (rows.shape.layout, rows.shape.depth, rows.shape.pixelBytes)
    guard [.rgb, .rgba, .bgrx].contains(layout) else { return self }
    let format = clcms_colours(Int32(layout.channels), depth == 16, layout == .bgrx)
    guard let transform = try ColourTransform(profile, format, name) else { return self }
    return ConvertedRows(
      rows,
      Conversion(layout: layout, depth: depth) { source, target in
        transform.convert(source.baseAddress, to: target.baseAddress, source.count / bytes)
      }
    )
  }

  /// Converts CMYK rows to sRGB, as `bgrx`.
  ///
  /// If `profile` is not a profile for CMYK, each ink acts as an ideal colour filter over white. `isInverted` means
  /// that a sample of 255 is no ink, as in Adobe's files.
  func inksConverted(
    profile: [UInt8],
    isInverted: Bool,
    name: String
  ) throws(LarderError) -> any RowSource {
    let format = isInverted ? clcms_inverted_ink : clcms_ink
    // littlecms refuses a profile whose samples are not those of `format`.
    guard let transform = try ColourTransform(profile, format, to: ColourTransform.bgrx, name)
    else {
      return ConvertedRows(self, Conversion.filtered(isInverted: isInverted))
    }
    return ConvertedRows(
      self,
      Conversion(layout: .bgrx, depth: 8) { inks, target in
        target.update(repeating: 255)
        transform.convert(inks.baseAddress, to: target.baseAddress, inks.count / 4)
      }
    )
  }
}

extension Conversion {
  /// A conversion that replaces every sample except alpha by its entry in the table `tones`; nil for palette indices.
  fileprivate static func toneMapped(_ shape: RowShape, _ tones: [UInt16]) -> Conversion? {
    if case .indexed = shape.layout { return nil }
    let (channels, isWide) = (shape.layout.channels, shape.depth == 16)
    let colours = shape.layout == .greyAlpha ? 1 : min(channels, 3)
    return Conversion(layout: shape.layout, depth: shape.depth) { source, target in
      _ = target.update(fromContentsOf: source)
      let samples = UnsafeMutableRawBufferPointer(target)
      for pixel in 0..<source.count / (channels * (isWide ? 2 : 1)) {
        for channel in pixel * channels..<pixel * channels + colours {
          if isWide {
            let value = samples.loadUnaligned(fromByteOffset: channel * 2, as: UInt16.self)
            samples.storeBytes(of: tones[Int(value)], toByteOffset: channel * 2, as: UInt16.self)
          } else {
            samples[channel] = UInt8(tones[Int(samples[channel])])
          }
        }
      }
    }
  }
}

/// A conversion to sRGB by littlecms, freed exactly once.
private final class ColourTransform {
  /// The format of `bgrx`.
  static let bgrx = clcms_colours(4, false, true)

  private let transform: cmsHTRANSFORM

  deinit { cmsDeleteTransform(transform) }

  /// Prepares a conversion from the colours of a profile; nil if the profile cannot be used.
  ///
  /// The formats are littlecms's numbers for layouts. If `other` is nil, the pixels keep their layout and their alpha.
  ///
  /// - Throws: ``LarderError`` when there is not enough memory.
  init?(
    _ profile: [UInt8],
    _ format: cmsUInt32Number,
    to other: cmsUInt32Number? = nil,
    _ name: String
  ) throws(LarderError) {
    guard let target = cmsCreate_sRGBProfile() else {
      throw .tooLarge(name, "there is not enough memory to convert its colours")
    }
    defer { cmsCloseProfile(target) }
    guard let source = cmsOpenProfileFromMem(profile, cmsUInt32Number(profile.count)) else {
      return nil
    }
    defer { cmsCloseProfile(source) }
    guard
      let transform = cmsCreateTransform(
        source,
        format,
        target,
        other ?? format,
        cmsUInt32Number(INTENT_RELATIVE_COLORIMETRIC),
        cmsUInt32Number(cmsFLAGS_BLACKPOINTCOMPENSATION | (other == nil ? cmsFLAGS_COPY_ALPHA : 0))
      )
    else { return nil }
    self.transform = transform
  }

  /// Converts pixels; both places can be the same.
  func convert(_ from: UnsafeRawPointer?, to: UnsafeMutableRawPointer?, _ count: Int) {
    cmsDoTransform(transform, from, to, cmsUInt32Number(count))
  }

  /// The colour space of the samples that `profile` converts; nil if it cannot be read or converts no samples.
  static func space(of profile: [UInt8]) -> cmsColorSpaceSignature? {
    guard let source = cmsOpenProfileFromMem(profile, cmsUInt32Number(profile.count)) else {
      return nil
    }
    defer { cmsCloseProfile(source) }
    let others = [cmsSigLinkClass, cmsSigAbstractClass, cmsSigNamedColorClass]
    return others.contains(cmsGetDeviceClass(source)) ? nil : cmsGetColorSpace(source)
  }

  /// A table with the sRGB value of every grey sample of `depth` bits; nil if the profile cannot be used.
  static func tones(
    of profile: [UInt8],
    depth: Int,
    _ name: String
  ) throws(LarderError) -> [UInt16]? {
    let wide = clcms_colours(3, true, false)
    guard depth >= 8,
      let transform = try ColourTransform(profile, clcms_wide_grey, to: wide, name)
    else { return nil }
    let most = depth == 16 ? 65_535 : 255
    let values = (0...most).map { UInt16($0 * 65_535 / most) }
    var colours = [UInt16](repeating: 0, count: values.count * 3)
    colours.withUnsafeMutableBytes { transform.convert(values, to: $0.baseAddress, most + 1) }
    return (0...most).map { UInt16((Int(colours[$0 * 3 + 1]) * most + 32_767) / 65_535) }
  }
}

extension AVIFHeader.Colour {
  /// An ICC profile with these primaries and this transfer curve; nil if no profile is needed or possible.
  ///
  /// It is for formats that cannot name colours by numbers. It is not needed if viewers assume these colours for a
  /// picture without a profile, and not possible if the numbers are unknown. With an HDR curve (PQ or HLG), colours
  /// brighter than paper white (203 cd/m², ITU-R BT.2408) are clipped. Equal numbers always give equal bytes.
  var profile: [UInt8]? {
    let isUsualCurve = ![4, 5, 8, 16, 18].contains(transfer)
    guard let places = Self.chromaticities[primaries] ?? (isUsualCurve ? nil : Self.usual),
      let curve = Self.curve(transfer)
    else { return nil }
    defer { cmsFreeToneCurve(curve) }
    let points = places.map { cmsCIExyY(x: $0, y: $1, Y: 1) }
    var primaries = cmsCIExyYTRIPLE(Red: points[0], Green: points[1], Blue: points[2])
    var white = points[3]
    var curves: [OpaquePointer?] = [curve, curve, curve]
    guard let made = cmsCreateRGBProfile(&white, &primaries, &curves) else { return nil }
    defer { cmsCloseProfile(made) }
    var count: cmsUInt32Number = 0
    guard cmsSaveProfileToMem(made, nil, &count) != 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    guard cmsSaveProfileToMem(made, &bytes, &count) != 0, count >= 128 else { return nil }
    // The creation date is fixed, so that every run makes the same bytes. (ICC.1:2022, 7.2.8)
    bytes.replaceSubrange(24..<36, with: [7, 0xE4, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
    return bytes
  }

  private static let daylight = (0.3127, 0.3290)
  private static let usual = [(0.64, 0.33), (0.30, 0.60), (0.15, 0.06), daylight]

  /// The chromaticities of red, green, blue and white, except those of sRGB. (ITU-T H.273, table 2)
  private static let chromaticities: [Int32: [(Double, Double)]] = [
    4: [(0.67, 0.33), (0.21, 0.71), (0.14, 0.08), (0.310, 0.316)],
    5: [(0.64, 0.33), (0.29, 0.60), (0.15, 0.06), daylight],
    6: [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070), daylight],
    7: [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070), daylight],
    8: [(0.681, 0.319), (0.243, 0.692), (0.145, 0.049), (0.310, 0.316)],
    9: [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046), daylight],
    11: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)],
    12: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), daylight],
    22: [(0.630, 0.340), (0.295, 0.605), (0.155, 0.077), daylight],
  ]

  /// The curve that converts samples to linear light. (ITU-T H.273, table 3)
  private static func curve(_ transfer: Int32) -> OpaquePointer? {
    func parametric(_ type: Int32, _ numbers: [Double]) -> OpaquePointer? {
      cmsBuildParametricToneCurve(nil, type, numbers)
    }
    func tabulated(_ light: (Double) -> Double) -> OpaquePointer? {
      let values = (0..<4096).map { UInt16((min(light(Double($0) / 4095), 1) * 65_535).rounded()) }
      return cmsBuildTabulatedToneCurve16(nil, 4096, values)
    }
    let alpha = 1.099296826809442
    return switch transfer {
    case 1, 6, 14, 15:
      parametric(4, [1 / 0.45, 1 / alpha, 1 - 1 / alpha, 1 / 4.5, 0.081242858298635])
    case 4: parametric(1, [2.2])
    case 5: parametric(1, [2.8])
    case 8: parametric(1, [1])
    case 16: tabulated { perceptual($0) * 10_000 / 203 }
    case 18: tabulated { hybrid($0) / hybrid(0.75) }
    default: parametric(4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    }
  }

  /// PQ: converts a sample to light, where 1 stands for 10,000 cd/m². (SMPTE ST 2084)
  private static func perceptual(_ sample: Double) -> Double {
    let power = pow(sample, 32 / 2523.0)
    return pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 16384 / 2610.0)
  }

  /// HLG: converts a sample to scene light. (ITU-R BT.2100, table 5)
  private static func hybrid(_ sample: Double) -> Double {
    sample <= 0.5
      ? sample * sample / 3 : (exp((sample - 0.55991073) / 0.17883277) + 0.28466892) / 12
  }
}
