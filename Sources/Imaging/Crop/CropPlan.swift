import Base

/// A step on the way from the decoded rows to the encoder.
enum Step: Equatable {
  /// Scale the rows to a size.
  case scale(PixelSize)
  /// Round samples of 16 bits to 8.
  case narrow
  /// Turn the picture, which is stored in this orientation, upright.
  ///
  /// The whole picture must be in memory for this.
  case turn(Orientation)
  /// Convert grey and palette indices to RGB.
  case colour
  /// Convert to sRGB.
  case convert
  /// Place the picture on a canvas with a background.
  case pad
  /// Convert CMYK to RGB.
  case light
  /// Draw the stamp.
  case stamp
}

/// A plan for a result: the rows that the decoder delivers, and the steps that lead from them to the encoder.
struct CropPlan: Equatable {
  let framing: Framing
  /// Whether the colours are converted to sRGB.
  let isConverted: Bool
  let isStamped: Bool
  let request: RowRequest
  let steps: [Step]

  /// Whether the result has samples that the picture does not have.
  var isNew: Bool { framing.isScaled || framing.isPadded || isConverted || isStamped }
}

extension Crop {
  func target(of format: PictureFormat) -> PictureFormat { self.format ?? format.kept }

  /// Decides which part of a picture is decoded, and which steps follow.
  ///
  /// - Parameters:
  ///   - probe: The picture.
  ///   - framing: Its framing.
  ///   - isConverted: Whether its colours are converted to sRGB.
  ///   - isStamped: Whether it gets a stamp.
  /// - Returns: The plan.
  func plan(
    of probe: PictureProbe,
    _ framing: Framing,
    isConverted: Bool = false,
    isStamped: Bool = false
  ) -> CropPlan {
    let target = target(of: probe.format)
    let isNew = framing.isScaled || framing.isPadded || isStamped
    let scaling =
      framing.isScaled
      ? RowRequest.Scaling(window: framing.window.size, size: framing.scaled) : nil
    // A JPEG that is encoded again at its own size loses nothing by a conversion of its colours. A JPEG that is turned
    // is converted.
    let isStored = probe.format != .jpeg || probe.orientation == .upright
    let request = RowRequest(
      region: probe.orientation.stored(framing.window, in: probe.stored),
      scaling: scaling,
      isNative: target == probe.format && !isNew && !isConverted && isStored
    )
    var steps: [Step] = []
    func add(_ step: Step, _ isWanted: Bool) { if isWanted { steps.append(step) } }
    add(.scale(probe.orientation.upright(framing.scaled)), framing.isScaled)
    // If pixels are scaled or converted, they keep their depth until they are encoded.
    let isNarrow = target == .jpeg || target == .webp
    add(.narrow, isNarrow && probe.depth > 8 && !framing.isScaled && !isConverted)
    add(.turn(probe.orientation), probe.orientation != .upright)
    add(.colour, isStamped || target == .webp || target == .avif)
    add(.convert, isConverted && !probe.structure.isInk)
    let keepsInk = target == .jpeg && !isStamped && !convertsToSRGB && !framing.isPadded
    add(.light, probe.structure.isInk && !keepsInk)
    add(.pad, framing.isPadded)
    add(.stamp, isStamped)
    return CropPlan(
      framing: framing,
      isConverted: isConverted,
      isStamped: isStamped,
      request: request,
      steps: steps
    )
  }

  /// Makes a picture: decodes rows, takes the steps of its plan, and encodes the result.
  func made(
    from file: PictureFile,
    opening open: PartFile.Opening? = nil,
    stamping stamp: (stamp: Stamp, moment: StampTime)? = nil
  ) throws(LarderError) -> EncodedPicture {
    let canvas = framing(file.probe).canvas
    try limits.named(file.name).check(width: canvas.width, height: canvas.height)
    if stamp == nil, let picture = try losslessJPEG(file) { return picture }
    let framing = try framing(of: file)
    let plan = plan(
      of: file.probe,
      framing,
      isConverted: converts(file, framing, isStamped: stamp != nil),
      isStamped: stamp != nil
    )
    return try file.withRows(plan.request, limits) { (opened) throws(LarderError) in
      let rows = try taken(opened, plan, of: file, stamp)
      var picture = try encoded(rows, plan, from: file, opening: open)
      picture.summary.isDamaged = opened.isDamaged()
      if let stamped = rows as? StampedRows {
        picture.summary.remarks.formUnion(stamped.remarks)
      }
      if plan.framing.isEnlarged { picture.summary.remarks.insert(.enlarged) }
      return picture
    }
  }

  /// Adds a row source for each step after the decoded rows.
  ///
  /// The steps are taken later, while the encoder reads the resulting rows.
  func taken(
    _ opened: OpenRows,
    _ plan: CropPlan,
    of file: PictureFile,
    _ stamp: (stamp: Stamp, moment: StampTime)? = nil
  ) throws(LarderError) -> any RowSource {
    let limits = limits.named(file.name)
    var rows = opened.source
    for step in plan.steps {
      switch step {
      case .scale(let size):
        rows = try ScaledRows(rows, opened.part, to: size, limits)
      case .narrow: rows = rows.converted(Conversion.narrowed)
      case .turn(let orientation):
        rows = BitmapRows(try rows.collected(from: orientation, limits))
      case .colour: rows = rows.converted(Conversion.coloured)
      case .convert: rows = try rows.inSRGB(from: colours(of: file), name: file.name)
      case .pad:
        rows = rows.padded(
          plan.framing,
          on: background,
          keepsAlpha: target(of: file.probe.format) != .jpeg
        )
      case .light:
        // CMYK is stored inverted by Adobe's programs: 255 then means no ink.
        let markers = file.probe.structure as? JPEGMarkers
        rows = try rows.inksConverted(
          profile: file.probe.structure.profile,
          isInverted: markers?.adobeTransform != nil,
          name: file.name
        )
      case .stamp:
        guard let stamp else { continue }
        rows = try StampedRows(rows, stamp.stamp, stamp.moment, name: file.name)
      }
    }
    return rows
  }
}
