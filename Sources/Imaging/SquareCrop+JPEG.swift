extension SquareCrop {
  /// A decoded square, upright, and what its input was like.
  struct Square {
    let bitmap: Bitmap
    let isDamaged: Bool
  }

  func cropJPEG(
    _ file: PictureFile,
    _ markers: JPEGMarkers
  ) throws(ImagingError) -> EncodedPicture {
    let keepsCoefficients = lossless && size == nil
    if keepsCoefficients, let picture = transformed(file, markers) { return picture }
    if keepsCoefficients, isStrict {
      throw ImagingError(
        .unsupported,
        "cannot crop \(file.name) without loss: its blocks or its tables do not allow it",
        remedy: .encodeAnew
      )
    }
    let header = try JPEGCodec.header(of: file)
    let orientation = file.probe.orientation
    let region = square(in: file.probe)
    let bytes: [UInt8]
    let isDamaged: Bool
    if orientation == .upright, size ?? region.width == region.width {
      let made = try JPEGCodec.recode(file, region, quality: quality, limits)
      (bytes, isDamaged) = (made.value, made.isDamaged)
    } else {
      let made = try decodedJPEG(file, layout: header.layout)
      bytes = try JPEGCodec.encode(
        made.bitmap,
        quality: quality,
        like: file,
        transposed: orientation.swapsAxes,
        // A smaller picture has more detail in each block than the source's tables were made for.
        hasNewDetail: size ?? region.width != region.width,
        name: file.name
      )
      isDamaged = made.isDamaged
    }
    let side = size ?? region.width
    var picture = EncodedPicture(
      bytes: JPEGSegments.add(to: bytes, from: file, side: side, metadata: keepsMetadata),
      format: .jpeg,
      width: side,
      height: side,
      method: .reencoded,
      shift: EncodedPicture.Shift(),
      isDamaged: isDamaged
    )
    if keepsCoefficients { picture.remarks.insert(.notLossless) }
    return picture
  }

  /// The square as pixels, upright and of the size asked for.
  func decodedJPEG(
    _ file: PictureFile,
    layout: Bitmap.Layout
  ) throws(ImagingError) -> Square {
    let orientation = file.probe.orientation
    let stored = file.probe.stored
    let exact = orientation.stored(square(in: file.probe), in: stored)
    let eighths = eighths(for: exact.width)
    // The square's edges need not fall on whole pixels of the smaller picture.
    let ratio = Double(eighths) / 8
    let (left, top) = (exact.x * eighths / 8, exact.y * eighths / 8)
    let right = min((stored.width * eighths + 7) / 8, ((exact.x + exact.width) * eighths + 7) / 8)
    let bottom = min(
      (stored.height * eighths + 7) / 8,
      ((exact.y + exact.height) * eighths + 7) / 8
    )
    let region = PixelRegion(x: left, y: top, width: right - left, height: bottom - top)
    let made = try JPEGCodec.decode(file, region, eighths: eighths, layout: layout, limits)
    let isDamaged = made.isDamaged
    // Held once, so that it can be turned in place.
    var bitmap = (consume made).value
    if let size, size != exact.width {
      let part = Bitmap.Part(
        x: Double(exact.x) * ratio - Double(left),
        y: Double(exact.y) * ratio - Double(top),
        width: Double(exact.width) * ratio,
        height: Double(exact.height) * ratio
      )
      bitmap = try bitmap.scaled(
        part,
        width: size,
        height: size,
        limits: limits,
        name: file.name
      )
    }
    bitmap.turnUpright(from: orientation)
    return Square(bitmap: bitmap, isDamaged: isDamaged)
  }

  /// How many eighths of its size the picture is best decoded at.
  private func eighths(for side: Int) -> Int {
    guard let size else { return 8 }
    // An eighth is the mean of a block and no more; it leaves the filter something to do.
    if side >= size * 16 { return 1 }
    return [2, 4].first { side * $0 >= size * 8 } ?? 8
  }

  /// The square in the picture's own coefficients; nil where that cannot be.
  private func transformed(_ file: PictureFile, _ markers: JPEGMarkers) -> EncodedPicture? {
    let orientation = file.probe.orientation
    let block: PixelSize
    if markers.sampling.count == 1 {
      block = PixelSize(width: 8, height: 8)
    } else {
      block = PixelSize(
        width: 8 * (markers.sampling.map(\.width).max() ?? 1),
        height: 8 * (markers.sampling.map(\.height).max() ?? 1)
      )
    }
    // Coefficients of the input and of the result, which TurboJPEG holds without a limit of its own.
    let coefficients = markers.size.width * markers.size.height * markers.sampling.count * 2
    guard coefficients * 2 <= limits.memory, block.width > 0, block.height > 0,
      // What is made here keeps to the standard.
      !markers.hasZeroInTable,
      // TurboJPEG would write Adobe's segment and with it turn the meaning of ink around.
      markers.sampling.count != 4 || markers.hasAdobe,
      let grid = LosslessGrid(
        stored: markers.size,
        block: block,
        orientation: orientation,
        gravity: gravity
      ),
      let made = orientation == .upright
        ? JPEGCodec.cut(file, grid.region, limits)
        : JPEGCodec.transform(
          file,
          orientation,
          grid.region,
          progressive: markers.isProgressive
        )
    else { return nil }
    let side = grid.region.width
    guard let result = try? JPEGMarkers(made.value, name: file.name, limits: limits),
      result.size == PixelSize(width: side, height: side)
    else { return nil }
    return EncodedPicture(
      bytes: JPEGSegments.add(to: made.value, from: file, side: side, metadata: keepsMetadata),
      format: .jpeg,
      width: side,
      height: side,
      method: .lossless,
      shift: EncodedPicture.Shift(x: grid.shift.x, y: grid.shift.y),
      isDamaged: made.isDamaged
    )
  }
}
