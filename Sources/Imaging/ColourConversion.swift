import CLCMS

extension Bitmap {
  /// The picture in sRGB, in the memory that it had; `profile` says what its samples mean.
  ///
  /// Alpha stays. So does a picture that the profile is not for, or whose profile cannot be read:
  /// nobody shows those by their profile.
  ///
  /// - Parameters:
  ///   - profile: An ICC profile of light or of grey. Inks are lit instead.
  ///   - name: What errors call the picture.
  /// - Returns: A bitmap of the same layout.
  /// - Throws: ``ImagingError`` when memory is short.
  consuming func inSRGB(
    from profile: [UInt8],
    name: String
  ) throws(ImagingError) -> Bitmap {
    guard !profile.isEmpty else { return self }
    switch SourceProfile.space(of: profile) {
    case .grey:
      guard let tones = try SourceProfile.tones(of: profile, depth: depth, name) else {
        return self
      }
      return toned(tones)
    case .colour: return try converted(from: profile, name)
    case nil: return self
    }
  }

  /// Every sample of light replaced by what stands in its place in `tones`.
  private consuming func toned(_ tones: [UInt16]) -> Bitmap {
    let (width, height, layout, depth) = (width, height, layout, depth)
    if case .indexed = layout { return self }
    let channels = layout.channels
    let colours = layout == .greyAlpha ? 1 : min(channels, 3)
    var samples = (consume self).samples
    samples.withUnsafeMutableBytes { samples in
      for pixel in 0..<width * height {
        for channel in pixel * channels..<pixel * channels + colours {
          if depth == 16 {
            let value = samples.loadUnaligned(fromByteOffset: channel * 2, as: UInt16.self)
            samples.storeBytes(of: tones[Int(value)], toByteOffset: channel * 2, as: UInt16.self)
          } else {
            samples[channel] = UInt8(tones[Int(samples[channel])])
          }
        }
      }
    }
    return Bitmap(width: width, height: height, layout: layout, depth: depth, samples: samples)
  }

  private consuming func converted(
    from profile: [UInt8],
    _ name: String
  ) throws(ImagingError) -> Bitmap {
    let (width, height, layout, depth) = (width, height, layout, depth)
    if case .indexed(var palette) = layout {
      guard let transform = try ColourTransform(profile, clcms_rgb, name) else { return self }
      let entries = palette.colours.count / 3
      palette.colours.withUnsafeMutableBytes { transform.convert($0.baseAddress, entries) }
      let samples = (consume self).samples
      return Bitmap(
        width: width,
        height: height,
        layout: .indexed(palette),
        depth: depth,
        samples: samples
      )
    }
    let format: cmsUInt32Number
    switch (layout, depth) {
    case (.rgb, 8): format = clcms_rgb
    case (.rgba, 8): format = clcms_rgba
    case (.bgrx, 8): format = clcms_bgrx
    case (.rgb, 16): format = clcms_wide_rgb
    case (.rgba, 16): format = clcms_wide_rgba
    default: return self
    }
    guard let transform = try ColourTransform(profile, format, name) else { return self }
    var samples = (consume self).samples
    samples.withUnsafeMutableBytes { transform.convert($0.baseAddress, width * height) }
    return Bitmap(width: width, height: height, layout: layout, depth: depth, samples: samples)
  }
}

/// What a picture's profile is for.
private enum SourceProfile {
  case grey
  case colour

  /// What samples a profile is for; nil when it cannot be read, or is for none of these.
  static func space(of profile: [UInt8]) -> SourceProfile? {
    guard let source = cmsOpenProfileFromMem(profile, cmsUInt32Number(profile.count)) else {
      return nil
    }
    defer { cmsCloseProfile(source) }
    let kind = cmsGetDeviceClass(source)
    guard kind != cmsSigLinkClass, kind != cmsSigAbstractClass, kind != cmsSigNamedColorClass
    else { return nil }
    return switch cmsGetColorSpace(source) {
    case cmsSigGrayData: .grey
    case cmsSigRgbData: .colour
    default: nil
    }
  }

  /// What becomes of each value of a sample of `depth` bits that a profile of grey is for; nil where
  /// it says nothing of use.
  static func tones(
    of profile: [UInt8],
    depth: Int,
    _ name: String
  ) throws(ImagingError) -> [UInt16]? {
    guard depth == 8 || depth == 16 else { return nil }
    let most = depth == 16 ? 65_535 : 255
    let values = (0...most).map { UInt16($0 * 65_535 / most) }
    guard
      let transform = try ColourTransform(profile, clcms_wide_grey, to: clcms_wide_rgb, name)
    else { return nil }
    var colours = [UInt16](repeating: 0, count: values.count * 3)
    values.withUnsafeBytes { values in
      colours.withUnsafeMutableBytes {
        transform.convert(values.baseAddress, to: $0.baseAddress, most + 1)
      }
    }
    return (0...most).map { UInt16((Int(colours[$0 * 3 + 1]) * most + 32_767) / 65_535) }
  }
}

/// A conversion to sRGB that littlecms has prepared, freed exactly once.
private struct ColourTransform: ~Copyable {
  private let transform: cmsHTRANSFORM

  deinit { cmsDeleteTransform(transform) }

  /// Prepares a conversion; nil when the profile cannot be used.
  ///
  /// - Throws: ``ImagingError`` when memory is short.
  init?(
    _ profile: [UInt8],
    _ format: cmsUInt32Number,
    to other: cmsUInt32Number? = nil,
    _ name: String
  ) throws(ImagingError) {
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
        cmsUInt32Number(cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_COPY_ALPHA)
      )
    else { return nil }
    self.transform = transform
  }

  /// Converts pixels where they are.
  func convert(_ pixels: UnsafeMutableRawPointer?, _ count: Int) {
    cmsDoTransform(transform, pixels, pixels, cmsUInt32Number(count))
  }

  func convert(_ from: UnsafeRawPointer?, to: UnsafeMutableRawPointer?, _ count: Int) {
    cmsDoTransform(transform, from, to, cmsUInt32Number(count))
  }
}
