import Base

extension Crop {
  func cropJPEG(
    _ file: PictureFile,
    _ markers: JPEGMarkers
  ) throws(LarderError) -> EncodedPicture {
    let keepsCoefficients = lossless && frame == nil && fit == .cover
    if keepsCoefficients, let picture = try transformed(file, markers) { return picture }
    if keepsCoefficients, isStrict {
      throw LarderError(
        .unsupported,
        "cannot crop \(file.name) without loss: its blocks, its tables or its size do not allow it",
        remedy: .encodeAnew
      )
    }
    let plain = framing(file.probe)
    let made: JPEGCodec.Outcome<[UInt8]>
    let framing: Framing
    var hasProfile = true
    let header = try JPEGCodec.header(of: file)
    // Chroma is a matter of how light is written, which red, green and blue do without.
    let hasOtherColours = converts(file) || chroma != nil && header.isRGB
    if file.probe.orientation == .upright, !plain.isScaled, !plain.isPadded, !hasOtherColours {
      (made, framing) = try recoded(file, markers)
    } else {
      let decoded =
        convertsToSRGB
        ? try self.decoded(file, coloured: false) : try decodedJPEG(file, layout: header.layout)
      framing = decoded.framing
      let isDamaged = decoded.isDamaged
      // Held once, so that it can give its memory back.
      let bitmap = (consume decoded).bitmap
      // Grey that has got a coloured background has no use for its tables and its profile.
      hasProfile = bitmap.layout == header.layout
      let isLike = hasProfile && !(chroma != nil && header.isRGB)
      made = JPEGCodec.Outcome(
        value: try encoded(consume bitmap, like: isLike, file, framing),
        isDamaged: isDamaged
      )
    }
    var picture = EncodedPicture(
      file: .held(
        JPEGSegments.add(
          to: made.value,
          from: file,
          size: framing.canvas,
          profile: hasProfile && !convertsToSRGB,
          metadata: keepsMetadata
        )
      ),
      format: .jpeg,
      width: framing.canvas.width,
      height: framing.canvas.height,
      method: .reencoded,
      shift: EncodedPicture.Shift(),
      isDamaged: made.isDamaged,
      gravity: EncodedPicture.Point(framing.focus)
    )
    if keepsCoefficients { picture.remarks.insert(.notLossless) }
    return picture
  }

  /// The part of an upright picture that is kept, encoded again, and where it lies.
  private func recoded(
    _ file: PictureFile,
    _ markers: JPEGMarkers
  ) throws(LarderError) -> (JPEGCodec.Outcome<[UInt8]>, Framing) {
    guard needsLook(at: file.probe), JPEGCodec.canLook(at: markers) else {
      let framing = try framing(of: file)
      return (try JPEGCodec.recode(file, .region(framing.window), form, limits), framing)
    }
    var framing = framing(file.probe)
    let part = JPEGCodec.Part.found { (glance) throws(LarderError) in
      framing = try self.framing(file, whole: glance)
      return framing.window
    }
    let made = try JPEGCodec.recode(file, part, form, limits)
    return (made, framing)
  }

  /// How JPEGs are written.
  var form: JPEGCodec.Form {
    JPEGCodec.Form(quality: quality, isProgressive: isProgressive, chroma: chroma)
  }

  private func encoded(
    _ bitmap: consuming Bitmap,
    like isLike: Bool,
    _ file: PictureFile,
    _ framing: Framing
  ) throws(LarderError) -> [UInt8] {
    var form = form
    if !isLike, form.quality == nil {
      form.quality = max(file.probe.quality ?? 90, JPEGCodec.leastFine)
    }
    return try JPEGCodec.encode(
      consume bitmap,
      form,
      like: isLike ? file : nil,
      transposed: file.probe.orientation.swapsAxes,
      // A smaller picture has more detail in each block than the source's tables were made for.
      hasNewDetail: framing.isScaled,
      name: file.name
    )
  }

  /// The result as pixels, upright and of the size asked for.
  func decodedJPEG(
    _ file: PictureFile,
    layout: Bitmap.Layout
  ) throws(LarderError) -> Decoded {
    let orientation = file.probe.orientation
    let stored = file.probe.stored
    let eighths = Self.eighths(for: framing(file.probe))
    let whole = PixelRegion(
      x: 0,
      y: 0,
      width: (stored.width * eighths + 7) / 8,
      height: (stored.height * eighths + 7) / 8
    )
    // Decoding the entropy takes most of the time of a small picture: once for both. At full size a look
    // at an eighth costs less than pixels that are cut off.
    let looksHere =
      needsLook(at: file.probe) && eighths < 8
      && whole.width * whole.height * layout.channels <= Attention.mostBytes
    var framing = looksHere ? framing(file.probe) : try self.framing(of: file)
    let region = looksHere ? whole : Self.region(at: eighths, framing, file.probe)
    // What is scaled or looked at is turned afterwards.
    let isUpright = !framing.isScaled && !looksHere
    let made = try JPEGCodec.decode(
      file,
      region,
      eighths: eighths,
      layout: layout,
      from: isUpright ? orientation : .upright,
      limits
    )
    let isDamaged = made.isDamaged
    // Held once, so that it can give its memory back.
    let bitmap = (consume made).value
    if looksHere { framing = try self.framing(file, whole: bitmap) }
    let exact = orientation.stored(framing.window, in: stored)
    // The window's edges need not fall on whole pixels of the smaller picture.
    let ratio = Double(eighths) / 8
    let part = Bitmap.Part(
      x: Double(exact.x) * ratio - Double(region.x),
      y: Double(exact.y) * ratio - Double(region.y),
      width: Double(exact.width) * ratio,
      height: Double(exact.height) * ratio
    )
    return Decoded(
      bitmap: try finished(consume bitmap, part, of: file, framing, isUpright: isUpright),
      framing: framing,
      isDamaged: isDamaged
    )
  }

  /// The pixels that hold the window of a picture that is decoded at `eighths`/8 of its size.
  private static func region(
    at eighths: Int,
    _ framing: Framing,
    _ probe: PictureProbe
  ) -> PixelRegion {
    let stored = probe.stored
    let exact = probe.orientation.stored(framing.window, in: stored)
    let (left, top) = (exact.x * eighths / 8, exact.y * eighths / 8)
    let right = min((stored.width * eighths + 7) / 8, ((exact.x + exact.width) * eighths + 7) / 8)
    let bottom = min(
      (stored.height * eighths + 7) / 8,
      ((exact.y + exact.height) * eighths + 7) / 8
    )
    return PixelRegion(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// How many eighths of its size the picture is best decoded at.
  private static func eighths(for framing: Framing) -> Int {
    guard framing.isScaled else { return 8 }
    let (from, to) = (framing.window, framing.scaled)
    func leaves(_ eighths: Int, _ eighthsOfResult: Int) -> Bool {
      from.width * eighths >= to.width * eighthsOfResult
        && from.height * eighths >= to.height * eighthsOfResult
    }
    // An eighth is the mean of a block and no more; it leaves the filter something to do.
    if leaves(1, 16) { return 1 }
    return [2, 4].first { leaves($0, 8) } ?? 8
  }

  /// The square in the picture's own coefficients; nil where that cannot be.
  private func transformed(
    _ file: PictureFile,
    _ markers: JPEGMarkers
  ) throws(LarderError) -> EncodedPicture? {
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
    // Coefficients that are held at once: none of a picture that is read in one go, else the input's, and, to
    // turn them, which TurboJPEG does without a limit of its own, the result's.
    let looks = needsLook(at: file.probe)
    let isHeld = markers.scans > 1 || isProgressive || looks
    let copies = orientation != .upright ? 2 : isHeld ? 1 : 0
    // Where that is all that stands in the way, the error says so.
    if isStrict { try limits.check(memory: markers.coefficientBytes * copies, of: file.name) }
    guard markers.coefficientBytes * copies <= limits.memory, block.width > 0, block.height > 0,
      // What is made here keeps to the standard.
      !markers.hasZeroInTable,
      // TurboJPEG would write Adobe's segment and with it turn the meaning of ink around.
      markers.sampling.count != 4 || markers.hasAdobe
    else { return nil }
    func place(_ focus: Focus) -> LosslessGrid? {
      LosslessGrid(stored: markers.size, block: block, orientation: orientation, focus: focus)
    }
    var focus: Focus
    var cut: LosslessGrid?
    let made: JPEGCodec.Outcome<[UInt8]>?
    if orientation == .upright, looks, JPEGCodec.canLook(at: markers) {
      focus = framing(file.probe).focus
      let part = JPEGCodec.Part.found { (glance) throws(LarderError) in
        focus = try framing(file, whole: glance).focus
        cut = place(focus)
        // None is empty, which libjpeg refuses.
        return cut?.region ?? PixelRegion(x: 0, y: 0, width: 0, height: 0)
      }
      made = try JPEGCodec.cut(file, part, progressive: isProgressive, limits)
    } else {
      focus = try framing(of: file).focus
      cut = place(focus)
      guard let cut else { return nil }
      made =
        orientation == .upright
        ? try JPEGCodec.cut(file, .region(cut.region), progressive: isProgressive, limits)
        : JPEGCodec.transform(
          file,
          orientation,
          cut.region,
          progressive: markers.isProgressive || isProgressive
        )
    }
    guard let grid = cut, let made else { return nil }
    let side = grid.region.width
    guard let result = try? JPEGMarkers(made.value, name: file.name, limits: limits),
      result.size == PixelSize(width: side, height: side)
    else { return nil }
    return EncodedPicture(
      file: .held(
        JPEGSegments.add(
          to: made.value,
          from: file,
          size: result.size,
          metadata: keepsMetadata
        )
      ),
      format: .jpeg,
      width: side,
      height: side,
      method: .lossless,
      shift: EncodedPicture.Shift(x: grid.shift.x, y: grid.shift.y),
      isDamaged: made.isDamaged,
      gravity: EncodedPicture.Point(focus)
    )
  }
}

/// Where a lossless crop may lie: a JPEG can be cut only between its iMCUs, and a mirrored axis loses
/// the blocks that are not full.
struct LosslessGrid: Equatable {
  /// The region in the turned picture that the transform is to keep.
  let region: PixelRegion
  /// How far the region is from the exact place of a square of its size.
  let shift: (x: Int, y: Int)

  /// The largest square around `focus`; nil when not one block is whole.
  init?(
    stored: PixelSize,
    block: PixelSize,
    orientation: Orientation,
    focus: Focus
  ) {
    let full = orientation.upright(stored)
    let step = orientation.upright(block)
    let lost = (
      x: orientation.reversesColumns ? full.width % step.width : 0,
      y: orientation.reversesRows ? full.height % step.height : 0
    )
    let kept = PixelSize(width: full.width - lost.x, height: full.height - lost.y)
    let side = min(kept.width, kept.height)
    guard side > 0 else { return nil }
    let exact = focus.region(of: PixelSize(side: side), in: full)
    // TurboJPEG 2.1 holds the place in a picture on its side against the blocks of the stored one, so
    // there it has to be on both grids. Sizes of blocks are powers of two.
    let both = max(step.width, step.height)
    let grid = orientation.swapsAxes ? PixelSize(width: both, height: both) : step
    let x = Self.nearest(exact.x - lost.x, step: grid.width, upTo: kept.width - side)
    let y = Self.nearest(exact.y - lost.y, step: grid.height, upTo: kept.height - side)
    region = PixelRegion(x: x, y: y, width: side, height: side)
    shift = (x + lost.x - exact.x, y + lost.y - exact.y)
  }

  /// The multiple of `step` in 0…`last` that is nearest to `place`.
  private static func nearest(_ place: Int, step: Int, upTo last: Int) -> Int {
    let below = min(max(place, 0), last) / step * step
    let above = below + step
    return above <= last && above - place < place - below ? above : below
  }

  static func == (left: LosslessGrid, right: LosslessGrid) -> Bool {
    left.region == right.region && left.shift == right.shift
  }
}
