import Base
import CAVIF

/// A header of a picture in a HEIF file, which is an AVIF or an HEIC.
protocol HEIFHeader: PictureCodec {
  /// The size of the decoded picture.
  var coded: PixelSize { get }
  /// The visible part of the decoded picture, which programs show.
  var aperture: PixelRegion { get }
  var hasAlpha: Bool { get }
  /// How the colours are encoded.
  var colour: cavif_colour { get }
}

extension HEIFHeader {
  var size: PixelSize { aperture.size }
  var channels: Int { (colour.isGrey ? 1 : 3) + (hasAlpha ? 1 : 0) }
  var chroma: ChromaSampling? { ChromaSampling.byNumber[Int(colour.chroma)] }
  var namedColours: cavif_colour? { colour }

  /// The number of bytes that `pixels` pixels take in planes.
  func planeBytes(_ pixels: Int) -> Int {
    let samples = 1 + colour.chromaSamples + (hasAlpha ? 1 : 0)
    return Int(Double(pixels) * samples) * (depth > 8 ? 2 : 1)
  }
}

extension ChromaSampling {
  /// The samplings in the order of libavif's numbers; nil for grey and for an unknown one.
  static let byNumber: [ChromaSampling?] = [nil, .full, .half, .quarter, nil]

  var forAVIF: Int32 { Int32(Self.byNumber.firstIndex(of: self) ?? cavif_400) }
}

extension cavif_colour {
  var isGrey: Bool { chroma == Int32(cavif_400) }

  /// The number of chroma samples for each pixel.
  var chromaSamples: Double { [0, 2, 1, 0.5, 0][Int(chroma)] }
}

extension cavif_region {
  init(_ region: PixelRegion) {
    self.init(x: region.x, y: region.y, width: region.width, height: region.height)
  }
}

extension cavif_pixels {
  /// Rows of the layout `rgb`, `rgba` or `bgrx` in memory.
  init(_ shape: RowShape, stride: Int, _ bytes: UnsafeMutablePointer<UInt8>? = nil) {
    let order =
      shape.layout == .rgb ? cavif_rgb : shape.layout == .rgba ? cavif_rgba : cavif_bgrx
    self.init(bytes: bytes, stride: stride, order: CInt(order), depth: shape.depth)
  }
}

extension Orientation {
  /// The orientation of a picture that is turned to the left by `quarters` quarter turns, and then mirrored.
  ///
  /// `mirror` is 0 to mirror top to bottom, 1 to mirror left to right, and -1 to mirror nothing. (ISO/IEC 23008-12,
  /// 6.5.10 and 6.5.12)
  init(quarters: Int, mirror: Int) {
    let turned: [Orientation] =
      switch mirror {
      case 0: [.flipped, .transposed, .mirrored, .transversed]
      case 1: [.mirrored, .transversed, .flipped, .transposed]
      default: [.upright, .turnedRight, .upsideDown, .turnedLeft]
      }
    self = turned[quarters & 3]
  }
}

extension LarderError {
  /// The error for a failed call to libavif.
  static func avif(_ limits: NamedLimits, _ outcome: cavif_outcome) -> LarderError {
    let sentence = String(inArray: outcome.message).uncapitalized
    return switch Int(outcome.status) {
    case cavif_no_memory: limits.outOfMemory
    case cavif_cut: limits.damaged("the file ends too early")
    case cavif_broken: limits.damaged(sentence)
    default: LarderError(.library, "cannot process \(limits.name): libavif: \(sentence)")
    }
  }
}

/// The rows of a region of a picture that is decoded to planes of luma, chroma and alpha.
///
/// libavif converts a strip of the planes at a time to pixels. If the picture has alpha, they are `rgba` with 8 or 16
/// bits. Otherwise they are `bgrx` with 8 bits, or `rgb` with 16 bits.
class PlaneRows: RowSource {
  /// At most this many rows are converted at a time.
  private static let mostRows = 64
  /// To upsample the chroma of a strip, this many rows above it and below it are needed.
  static let margin = 2

  final let shape: RowShape
  final let limits: NamedLimits
  /// The requested region with a margin, in pixels of the decoded picture.
  final let padded: PixelRegion
  /// The planes, and the rows and the first column of the picture that are in them.
  final var planes: OpaquePointer?
  final var held = 0..<0
  final var firstColumn = 0
  private let region: PixelRegion
  private let height: Int
  private var reached = 0
  private var room: [UInt8] = []

  /// Starts at the first row of `region`, which is a part of the visible picture.
  init(_ header: some HEIFHeader, _ region: PixelRegion, _ limits: NamedLimits) {
    var region = region
    region.x += header.aperture.x
    region.y += header.aperture.y
    (self.region, self.limits, height) = (region, limits, header.coded.height)
    padded = region.padded(in: header.coded)
    let isWide = header.depth > 8
    shape = RowShape(
      size: region.size,
      layout: header.hasAlpha ? .rgba : isWide ? .rgb : .bgrx,
      depth: isWide ? 16 : 8
    )
  }

  deinit { free() }

  private func free() {
    if let planes { cavif_image_free(planes) }
    planes = nil
  }

  /// Decodes further rows into the planes.
  func decode() throws(LarderError) {}

  final func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    var left = count
    while left > 0 {
      let y = region.y + reached
      // The last decoded rows cannot be converted yet, because the upsampling of their chroma needs the rows below
      // them.
      let ready = held.upperBound - (held.upperBound == height ? 0 : Self.margin)
      guard y < ready else {
        try decode()
        continue
      }
      let rows = min(left, ready - y, Self.mostRows)
      try convert(y..<y + rows, target + (count - left) * shape.rowBytes)
      reached += rows
      left -= rows
    }
    if reached == shape.height { free() }
  }

  /// Converts decoded rows to pixels; the rows around them are converted with them, for the chroma.
  private func convert(
    _ rows: Range<Int>,
    _ target: UnsafeMutablePointer<UInt8>
  ) throws(LarderError) {
    let top = max(held.lowerBound, (rows.lowerBound - Self.margin) & ~1)
    let bottom = min(held.upperBound, rows.upperBound + Self.margin)
    let stride = padded.width * shape.pixelBytes
    let count = stride * (bottom - top)
    if room.count < count { room = [UInt8](repeating: 0, count: count) }
    let part = PixelRegion(
      x: padded.x - firstColumn,
      y: top - held.lowerBound,
      width: padded.width,
      height: bottom - top
    )
    var outcome = cavif_outcome()
    room.withUnsafeMutableBufferPointer {
      let pixels = cavif_pixels(shape, stride: stride, $0.baseAddress)
      cavif_convert(planes, cavif_region(part), pixels, &outcome)
    }
    guard outcome.status == CInt(cavif_done) else { throw .avif(limits, outcome) }
    let start = (rows.lowerBound - top) * stride + (region.x - padded.x) * shape.pixelBytes
    for row in 0..<rows.count {
      let pixels = UnsafeMutableBufferPointer(
        start: target + row * shape.rowBytes,
        count: shape.rowBytes
      )
      let from = start + row * stride
      room.withUnsafeBufferPointer {
        _ = pixels.update(fromContentsOf: $0[from..<from + shape.rowBytes])
      }
    }
  }
}
