import Base

extension JPEGMarkers: PictureCodec {
  static let name = "JPEG"
  static let fileExtensions = ["jpg", "jpeg"]
  static var kept: PictureFormat { .jpeg }

  static func begins(_ head: [UInt8]) -> Bool { head.starts(with: [0xFF, 0xD8, 0xFF]) }

  /// Whether the file has the end marker, EOI. (ISO/IEC 10918-1, table B.1)
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool { tail.holds([0xFF, 0xD9]) }

  var depth: Int { 8 }
  var channels: Int { sampling.count }
  /// Whether the end marker is missing, or some scans of a progressive file are missing.
  var isCutShort: Bool { !isWhole || !isComplete }
  var isInk: Bool { sampling.count == 4 }

  var chroma: ChromaSampling? {
    guard sampling.count > 1, let first = sampling.first else { return nil }
    return first.width > 1 ? first.height > 1 ? .quarter : .half : .full
  }

  var quality: Int? {
    guard !firstTable.isEmpty else { return nil }
    // The table is compared with the table in ISO/IEC 10918-1, annex K.1, which libjpeg calls quality 50.
    let percent = Double(firstTable.reduce(0, +)) * 100 / 3688
    let quality = percent <= 100 ? (200 - percent) / 2 : 5000 / percent
    return min(max(Int(quality.rounded()), 1), 100)
  }

  /// The ICC profile, which can be divided into several segments; empty if a segment is missing or repeated.
  var profile: [UInt8] {
    // The name is followed by the number of this segment and the number of all segments.
    let parts = profileSegments.filter { $0.count >= 14 }.sorted { $0[12] < $1[12] }
    let isWhole = parts.enumerated().allSatisfy { index, part in
      part[12...13].map(Int.init) == [index + 1, parts.count]
    }
    return isWhole ? parts.flatMap { $0.dropFirst(14) } : []
  }

  /// Opens rows that are decoded at 1/8, 2/8 or 4/8 of their size, if they are going to be scaled and that size
  /// suffices.
  ///
  /// A preview has 1/8 of the size.
  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows
  {
    let eighths = request.isPreview ? 1 : request.scaling.map { JPEGCodec.eighths(for: $0) } ?? 8
    let exact = request.region
    func length(_ side: Int) -> Int { (side * eighths + 7) / 8 }
    let (left, top) = (exact.x * eighths / 8, exact.y * eighths / 8)
    let region = PixelRegion(
      x: left,
      y: top,
      width: min(length(size.width), length(exact.x + exact.width)) - left,
      height: min(length(size.height), length(exact.y + exact.height)) - top
    )
    let isStored = request.isNative && !request.isPreview
    let layout = try layout(limits)
    let rows = try JPEGRows(
      bytes,
      region,
      eighths: eighths,
      layout: isStored && layout == .bgrx ? .rgb : layout,
      isStored: isStored,
      isPreview: request.isPreview,
      limits
    )
    // The edges of the requested region can lie within pixels of the reduced picture.
    let ratio = Double(eighths) / 8
    let part = Bitmap.Part(
      x: Double(exact.x) * ratio - Double(region.x),
      y: Double(exact.y) * ratio - Double(region.y),
      width: Double(exact.width) * ratio,
      height: Double(exact.height) * ratio
    )
    let isCutShort = isCutShort
    return OpenRows(source: rows, part: part) { rows.hasWarnings || isCutShort }
  }

  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding
  ) throws(LarderError) -> EncodedFile {
    // A picture that is made from a JPEG gets the quality of that JPEG. A picture from another format gets quality 90.
    var crop = encoding.crop
    crop.quality = crop.quality ?? encoding.source.probe.quality ?? 90
    let background = crop.background ?? .white
    let bytes = try JPEGCodec.encode(rows, crop, on: background, encoding.limits)
    return .held(encoding.tags.added(toJPEG: bytes))
  }
}
