import CLCMS

extension Bitmap {
  /// Four inks as blue, green and red, by littlecms, in the memory that the inks had.
  ///
  /// Without a usable `profile`, inks are plain filters over white. `isInverted` says that 255 is no
  /// ink, as Adobe writes it.
  consuming func lit(
    profile: [UInt8],
    isInverted: Bool,
    name: String
  ) throws(ImagingError) -> Bitmap {
    let format = isInverted ? clcms_inverted_ink : clcms_ink
    guard let transform = InkTransform(profile: profile, format: format) ?? InkTransform(format)
    else { throw .tooLarge(name, "there is not enough memory to convert its inks") }
    let (width, height, rowBytes) = (width, height, rowBytes)
    var samples = (consume self).samples
    var inks = [UInt8](repeating: 0, count: rowBytes)
    samples.withUnsafeMutableBufferPointer { samples in
      for y in 0..<height {
        let row = UnsafeMutableBufferPointer(rebasing: samples[y * rowBytes..<(y + 1) * rowBytes])
        _ = inks.withUnsafeMutableBufferPointer { $0.update(fromContentsOf: row) }
        row.update(repeating: 255)
        transform.convert(inks, into: row, pixels: width)
      }
    }
    return Bitmap(width: width, height: height, layout: .bgrx, samples: samples)
  }
}

/// A conversion that littlecms has prepared, freed exactly once.
private struct InkTransform: ~Copyable {
  private let transform: cmsHTRANSFORM

  deinit { cmsDeleteTransform(transform) }

  /// By a profile of a picture to sRGB; nil when it is none, or not one for four inks.
  init?(profile: [UInt8], format: cmsUInt32Number) {
    guard let source = cmsOpenProfileFromMem(profile, cmsUInt32Number(profile.count)) else {
      return nil
    }
    defer { cmsCloseProfile(source) }
    guard cmsGetColorSpace(source) == cmsSigCmykData, let target = cmsCreate_sRGBProfile() else {
      return nil
    }
    defer { cmsCloseProfile(target) }
    guard
      let transform = cmsCreateTransform(
        source,
        format,
        target,
        clcms_bgrx,
        cmsUInt32Number(INTENT_RELATIVE_COLORIMETRIC),
        cmsUInt32Number(cmsFLAGS_BLACKPOINTCOMPENSATION)
      )
    else { return nil }
    self.transform = transform
  }

  /// By inks that each let through the light of the others.
  init?(_ format: cmsUInt32Number) {
    guard let link = cmsCreateProfilePlaceholder(nil) else { return nil }
    defer { cmsCloseProfile(link) }
    cmsSetDeviceClass(link, cmsSigLinkClass)
    cmsSetColorSpace(link, cmsSigCmykData)
    cmsSetPCS(link, cmsSigRgbData)
    cmsSetProfileVersion(link, 4.3)
    guard let pipeline = cmsPipelineAlloc(nil, 4, 3) else { return nil }
    defer { cmsPipelineFree(pipeline) }
    guard let table = cmsStageAllocCLut16bit(nil, 17, 4, 3, nil),
      cmsStageSampleCLut16bit(table, Self.filter, nil, 0) != 0,
      cmsPipelineInsertStage(pipeline, cmsAT_BEGIN, table) != 0,
      cmsWriteTag(link, cmsSigAToB0Tag, UnsafeRawPointer(pipeline)) != 0,
      let transform = cmsCreateTransform(
        link,
        format,
        nil,
        clcms_bgrx,
        cmsUInt32Number(INTENT_PERCEPTUAL),
        0
      )
    else { return nil }
    self.transform = transform
  }

  private static let filter: cmsSAMPLER16 = { input, output, _ in
    guard let input, let output else { return 0 }
    let light = 65_535 - Int(input[3])
    for channel in 0..<3 {
      output[channel] = cmsUInt16Number((65_535 - Int(input[channel])) * light / 65_535)
    }
    return 1
  }

  func convert(
    _ samples: [UInt8],
    into target: UnsafeMutableBufferPointer<UInt8>,
    pixels: Int
  ) {
    cmsDoTransform(transform, samples, target.baseAddress, cmsUInt32Number(pixels))
  }
}

extension PictureFile {
  /// The ICC profile of a JPEG, put together from its segments; empty when there is none.
  var profile: [UInt8] {
    guard case .jpeg(let markers) = probe.structure else { return [] }
    // Behind marker, length and name: the number of the segment, and how many there are.
    let parts = markers.profile.filter { $0.count > 18 }
    return parts.sorted { bytes[$0.lowerBound + 16] < bytes[$1.lowerBound + 16] }
      .flatMap { bytes[($0.lowerBound + 18)..<$0.upperBound] }
  }
}
