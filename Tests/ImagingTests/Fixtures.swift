import Glibc
import PictureFixtures
import Support
import SystemPackage
import Testing

@testable import Imaging

/// A kind of JPEG: its colour space, sampling and process.
struct JPEGKind: Sendable, CustomTestStringConvertible {
  var name: String
  var colourSpace = 3
  var across = 2
  var down = 2
  var restartRows = 0
  var isProgressive = false
  var isArithmetic = false

  var testDescription: String { name }

  static let all = [
    JPEGKind(name: "grey", colourSpace: 1, across: 1, down: 1),
    JPEGKind(name: "4:2:0"),
    JPEGKind(name: "4:2:2", across: 2, down: 1),
    JPEGKind(name: "4:4:0", across: 1, down: 2),
    JPEGKind(name: "4:4:4", across: 1, down: 1),
    JPEGKind(name: "4:1:1", across: 4, down: 1),
    JPEGKind(name: "RGB", colourSpace: 2, across: 1, down: 1),
    JPEGKind(name: "CMYK", colourSpace: 4, across: 1, down: 1),
    JPEGKind(name: "YCCK", colourSpace: 5),
    JPEGKind(name: "restarts", restartRows: 1),
    JPEGKind(name: "progressive", isProgressive: true),
    JPEGKind(name: "progressive grey", colourSpace: 1, across: 1, down: 1, isProgressive: true),
    JPEGKind(name: "arithmetic", isArithmetic: true),
  ]

  /// Samplings that few programs write, but that every decoder reads.
  static let odd = [(1, 4), (2, 4), (4, 2), (3, 1), (1, 3)].map { across, down in
    JPEGKind(name: "\(across) × \(down)", across: across, down: down)
  }

  /// A picture of this kind in which no two places are the same.
  func bytes(
    width: Int,
    height: Int,
    quality: Int = 85,
    length: Double = 1,
    segments: [UInt8] = []
  ) -> [UInt8] {
    let channels = colourSpace == 1 ? 1 : colourSpace >= 4 ? 4 : 3
    return bytes(
      samples: wave(width: width, height: height, channels: channels, length: length),
      width: width,
      height: height,
      quality: quality,
      segments: segments
    )
  }

  func bytes(
    samples: [UInt8],
    width: Int,
    height: Int,
    quality: Int = 85,
    segments: [UInt8] = []
  ) -> [UInt8] {
    var fixture = fixture_jpeg(
      width: Int32(width),
      height: Int32(height),
      color_space: Int32(colourSpace),
      across: Int32(across),
      down: Int32(down),
      restart_rows: Int32(restartRows),
      quality: Int32(quality),
      progressive: isProgressive,
      arithmetic: isArithmetic
    )
    var count = 0
    let made = fixture_encode(&fixture, samples, &count)
    defer { free(made) }
    let bytes = Array(UnsafeBufferPointer(start: made, count: count))
    return Array(bytes[..<2]) + segments + bytes[2...]
  }
}

/// The structure of a JPEG.
func markers(_ file: PictureFile) throws -> JPEGMarkers {
  guard let markers = file.probe.structure as? JPEGMarkers else {
    throw ImagingError(.damagedPicture, "no JPEG")
  }
  return markers
}

extension JPEGMarkers {
  /// Whether a JPEG has the colour space of another one: the components, and what decoders decide it by.
  func hasSameColours(as other: JPEGMarkers) -> Bool {
    sampling.count == other.sampling.count && isRGB == other.isRGB
      && adobeTransform == other.adobeTransform
  }
}

/// Smooth samples that differ between neighbouring places.
///
/// `length` stretches the waves.
func wave(width: Int, height: Int, channels: Int, length: Double = 1) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: width * height * channels) { buffer, count in
    fixture_wave(buffer.baseAddress, Int32(width), Int32(height), Int32(channels), length)
    count = width * height * channels
  }
}

/// Noise of `depth` bits, which is the same in every run.
func noise(_ count: Int, depth: Int, below limit: Int? = nil) -> [UInt8] {
  let mask = depth >= 8 ? UInt8.max : UInt8(1 << depth - 1)
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    fixture_noise(buffer.baseAddress, count, mask, Int32(limit ?? 0))
    initialized = count
  }
}

/// Little-endian EXIF data with an orientation, and with dates on request.
func tiff(orientation: Int, dateTime: String? = nil, offset: String? = nil) -> [UInt8] {
  func short(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
  func long(_ value: Int) -> [UInt8] { short(value & 0xFFFF) + short(value >> 16) }
  func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
    short(tag) + short(type) + long(count) + long(value)
  }
  // The sizes are: 8 bytes for the header, 30 for IFD0 with two entries, 54 for the Exif IFD with four entries, then
  // the dates, and 30 for the IFD of the thumbnail.
  let details = 38
  let texts = 92
  let second = texts + 32
  let thumbnail = second + 30
  return Array("II".utf8) + short(42) + long(8)
    + short(2) + entry(0x0112, 3, 1, orientation) + entry(0x8769, 4, 1, details) + long(second)
    + short(4) + entry(dateTime == nil ? 0x9999 : 0x9003, 2, 20, texts)
    + entry(offset == nil ? 0x9999 : 0x9011, 2, 7, texts + 20)
    + entry(0xA002, 4, 1, 9999) + entry(0xA003, 4, 1, 9999) + long(0)
    + Array((dateTime ?? "").utf8) + Array(repeating: 0, count: 20 - (dateTime ?? "").utf8.count)
    + Array((offset ?? "").utf8) + Array(repeating: 0, count: 12 - (offset ?? "").utf8.count)
    + short(2) + entry(0x0201, 4, 1, thumbnail) + entry(0x0202, 4, 1, 5) + long(0)
    + Array("THUMB".utf8)
}

/// A JPEG segment.
func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
  let length = payload.count + 2
  return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + payload
}

/// The EXIF segment of a JPEG.
func exifSegment(_ tiff: [UInt8]) -> [UInt8] { segment(0xE1, Array("Exif\0\0".utf8) + tiff) }

/// A PNG chunk with length and checksum.
func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
  func long(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
  let body = Array(type.utf8) + payload
  let sum = fixture_crc(0xFFFF_FFFF, body, body.count)
  return long(UInt32(payload.count)) + body + long(~sum)
}

/// Zeros that are compressed by zlib, as the image data of a PNG.
///
/// `count` is a square number.
func packedZeros(_ count: Int) throws -> [UInt8] {
  let side = Int(Double(count).squareRoot())
  let samples = [UInt8](repeating: 0, count: count)
  let bitmap = Bitmap(width: side, height: side, layout: .grey, samples: samples)
  let bytes = try PNGCodec.encode(BitmapRows(bitmap), PictureLimits().named("zeros")).bytes()
  let start = try #require(bytes.firstRange(of: Array("IDAT".utf8))).upperBound
  let length = bytes[start - 8..<start - 4].reduce(0) { $0 << 8 | Int($1) }
  return Array(bytes[start..<start + length])
}

let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

/// A PNG's header chunk.
func header(_ width: UInt32, _ height: UInt32, depth: UInt8 = 8, type: UInt8 = 2) -> [UInt8] {
  func long(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
  return chunk("IHDR", long(width) + long(height) + [depth, type, 0, 0, 0])
}

/// A kind of PNG.
struct PNGKind: Sendable, CustomTestStringConvertible {
  var name: String
  var layout: Bitmap.Layout
  var depth: Int
  var clear: [UInt16]?
  var isInterlaced = false

  var testDescription: String { name + (isInterlaced ? ", interlaced" : "") }

  static let all: [PNGKind] = plain.flatMap { kind in
    var interlaced = kind
    interlaced.isInterlaced = true
    return [kind, interlaced]
  }

  private static let plain =
    [1, 2, 4, 8, 16].map { PNGKind(name: "grey of \($0)", layout: .grey, depth: $0) }
    + [8, 16].flatMap {
      [
        PNGKind(name: "grey and alpha of \($0)", layout: .greyAlpha, depth: $0),
        PNGKind(name: "RGB of \($0)", layout: .rgb, depth: $0),
        PNGKind(name: "RGB and alpha of \($0)", layout: .rgba, depth: $0),
        PNGKind(
          name: "RGB of \($0) with a clear colour",
          layout: .rgb,
          depth: $0,
          clear: [1, 2, 3]
        ),
      ]
    }
    + [PNGKind(name: "grey of 4 with a clear shade", layout: .grey, depth: 4, clear: [7])]
    + [1, 2, 4, 8].map { depth in
      let colours = noise(3 << depth, depth: 8)
      return PNGKind(
        name: "palette of \(depth)",
        layout: .indexed(Bitmap.Palette(colours: colours, alpha: [0, 128])),
        depth: depth
      )
    }

  func bitmap(width: Int, height: Int) -> Bitmap {
    let bytes = width * height * layout.channels * (depth == 16 ? 2 : 1)
    var bitmap = Bitmap(
      width: width,
      height: height,
      layout: layout,
      depth: depth,
      samples: noise(bytes, depth: depth)
    )
    bitmap.clear = clear
    return bitmap
  }

  func bytes(width: Int, height: Int) throws -> [UInt8] {
    try PNGCodec.encode(
      BitmapRows(bitmap(width: width, height: height)),
      interlaced: isInterlaced,
      PictureLimits().named("fixture")
    ).bytes()
  }
}

/// The samples of a region of a bitmap.
func part(_ bitmap: Bitmap, _ region: PixelRegion) -> [UInt8] { bitmap.part(region).samples }

extension Bitmap {
  /// The rows with these numbers, in this order.
  func rows(_ places: [Int]) -> Bitmap {
    Bitmap(
      width: width,
      height: places.count,
      layout: layout,
      depth: depth,
      samples: places.flatMap { samples[$0 * rowBytes..<($0 + 1) * rowBytes] }
    )
  }
}

/// The peak signal-to-noise ratio of two bitmaps in decibels.
func psnr(_ left: Bitmap, _ right: Bitmap) -> Double {
  let all = min(left.samples.count, right.samples.count)
  let isFilled = left.layout == .bgrx
  let total = fixture_squared_difference(left.samples, right.samples, all, isFilled)
  let count = Double(isFilled ? all / 4 * 3 : all)
  return total == 0 ? .infinity : 10 * log10(255 * 255 * count / total)
}

/// The largest difference between samples of two bitmaps of equal size and depth.
func largestDifference(_ one: Bitmap, _ other: Bitmap) -> Int {
  let count = min(one.samples.count, other.samples.count)
  return Int(
    one.depth == 16
      ? fixture_largest_difference_16(one.samples, other.samples, count / 2)
      : fixture_largest_difference_8(one.samples, other.samples, count)
  )
}

/// Whether two bitmaps are equal.
///
/// Without optimization, `==` compares large arrays element by element.
func isSame(_ one: Bitmap, _ other: Bitmap) -> Bool {
  isSame(one.samples, other.samples) && one.width == other.width && one.height == other.height
    && one.layout == other.layout && one.depth == other.depth && one.clear == other.clear
}

/// Decodes a complete file.
func decoded(_ bytes: [UInt8]) throws -> Bitmap { try Bitmap(decoding: PictureFile(bytes)) }

/// Decodes a PNG in its own layout, such as indexed.
func native(_ bytes: [UInt8]) throws -> Bitmap {
  let file = try PictureFile(bytes)
  let stored = file.probe.stored
  let whole = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
  return try file.part(whole, isNative: true)
}

extension Bitmap {
  /// A copy of a part of the bitmap.
  func part(_ region: PixelRegion) -> Bitmap {
    var part = self
    (part.width, part.height) = (region.width, region.height)
    part.samples = []
    part.samples.reserveCapacity(part.rowBytes * part.height)
    for y in region.y..<region.y + region.height {
      let start = y * rowBytes + region.x * pixelBytes
      part.samples += samples[start..<start + part.rowBytes]
    }
    return part
  }
}

extension PictureFile {
  /// Decodes a region of the stored picture.
  func part(
    _ region: PixelRegion,
    isNative: Bool = false,
    _ limits: PictureLimits = PictureLimits()
  ) throws(ImagingError) -> Bitmap {
    try withRows(RowRequest(region: region, isNative: isNative), limits) {
      (rows) throws(ImagingError) in
      try rows.source.collected(limits.named(name))
    }
  }
}

extension Bitmap {
  /// The bitmap after a processing step on its rows.
  func through(_ step: (any RowSource) throws -> any RowSource) throws -> Bitmap {
    try step(BitmapRows(self)).collected(PictureLimits().named("x"))
  }
}

extension Crop {
  /// The pixels of a file, as an encoder receives them.
  func pixels(of file: PictureFile) throws(ImagingError) -> Bitmap {
    let framing = try framing(of: file)
    let plan = plan(of: file.probe, framing, isConverted: converts(file, framing))
    return try file.withRows(plan.request, limits) { (opened) throws(ImagingError) in
      try taken(opened, plan, of: file)
        .collected(limits.named(file.name))
    }
  }
}

/// Runs a test in its own temporary folder.
func withFolder(_ body: (FilePath) throws -> Void) throws {
  let folder = try TemporaryFolder()
  try withExtendedLifetime(folder) { try body(FilePath($0.path)) }
}

/// The names in a folder.
func names(in path: FilePath) -> Set<String> {
  var names: Set<String> = []
  guard let folder = opendir(path.string) else { return names }
  while let entry = readdir(folder) {
    names.insert(
      withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
    )
  }
  closedir(folder)
  return names.subtracting([".", ".."])
}

extension Bitmap {
  /// This bitmap after a conversion, or the bitmap itself if the conversion does not apply to it.
  func converted(_ conversion: (RowShape) -> Conversion?) -> Bitmap {
    guard let conversion = conversion(shape) else { return self }
    return Bitmap(width: width, height: height, layout: conversion.layout, depth: conversion.depth)
    {
      target in
      samples.withUnsafeBufferPointer { conversion.convert($0, target) }
    }
  }

  /// The picture with 8 bits in the layout `target`, `rgb` or `bgrx`; transparent pixels get an opaque background.
  func flattened(_ target: Layout, on colour: PictureColour = .white) -> Bitmap {
    Conversion.flattened(target, on: colour).reduce(self) { $0.converted($1) }
  }

  /// The 8-bit colours of the pixels that are in one of `rows` and in one of `columns`, composited on white.
  func colours(columns: [Int], rows: [Int]) -> [(red: UInt8, green: UInt8, blue: UInt8)] {
    let samples = picked(columns: columns, rows: rows).flattened(.rgb).samples
    return stride(from: 0, to: samples.count, by: 3).map {
      (samples[$0], samples[$0 + 1], samples[$0 + 2])
    }
  }

  /// The 8-bit colour of a pixel, composited on white.
  func colour(_ x: Int, _ y: Int) -> (red: UInt8, green: UInt8, blue: UInt8) {
    colours(columns: [x], rows: [y])[0]
  }
}

extension Bitmap {
  /// The upright picture, if this bitmap is stored in `orientation`.
  func upright(from orientation: Orientation) throws -> Bitmap {
    try BitmapRows(self).collected(from: orientation, PictureLimits().named("x"))
  }

  /// A part of the picture, scaled to `width` × `height` by ``ScaledRows``.
  func scaled(
    _ part: Part? = nil,
    width: Int,
    height: Int,
    strip: Int? = nil,
    portable: Bool = false,
    limits: NamedLimits
  ) throws(ImagingError) -> Bitmap {
    let rows = try ScaledRows(
      BitmapRows(self),
      part,
      to: PixelSize(width: width, height: height),
      strip: strip,
      portable: portable,
      limits
    )
    return try rows.collected(limits)
  }
}
