import Glibc
import PictureFixtures
import Testing

@testable import Imaging

/// RGBA samples that differ between neighbouring places.
///
/// They are opaque unless `isClear` is true.
func colours(width: Int, height: Int, isClear: Bool = false) -> Bitmap {
  var samples = wave(width: width, height: height, channels: 4)
  if !isClear { for index in stride(from: 3, to: samples.count, by: 4) { samples[index] = 255 } }
  return Bitmap(width: width, height: height, layout: .rgba, samples: samples)
}

/// Encodes a bitmap as WebP.
func webp(_ bitmap: Bitmap, lossless: Bool = true, quality: Int = 80) throws -> [UInt8] {
  try WebPCodec.encode(
    BitmapRows(bitmap),
    quality: quality,
    lossless: lossless,
    PictureLimits().named("fixture")
  )
}

/// A RIFF chunk with its size and padding.
func riff(_ type: String, _ payload: [UInt8]) -> [UInt8] {
  Array(type.utf8) + little(payload.count, 4) + payload + (payload.count % 2 == 1 ? [0] : [])
}

/// A WebP file made of chunks.
func webp(chunks: [UInt8]) -> [UInt8] {
  Array("RIFF".utf8) + little(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
}

/// The VP8X chunk, which declares the canvas.
func webpHeader(_ width: Int, _ height: Int, flags: UInt8) -> [UInt8] {
  riff("VP8X", [flags, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
}

/// An animation on a canvas, with each frame at its position.
func animation(
  _ width: Int,
  _ height: Int,
  _ frames: [(x: Int, y: Int, bitmap: Bitmap)],
  lossless: Bool = true
) throws -> [UInt8] {
  var chunks = webpHeader(width, height, flags: 0x12) + riff("ANIM", [0, 0, 0, 255, 0, 0])
  for frame in frames {
    // The frame's image chunks, without the RIFF header and libwebp's own VP8X chunk.
    var image = try webp(frame.bitmap, lossless: lossless)[12...]
    if image.starts(with: "VP8X".utf8) { image = image.dropFirst(18) }
    chunks += riff(
      "ANMF",
      little(frame.x / 2, 3) + little(frame.y / 2, 3) + little(frame.bitmap.width - 1, 3)
        + little(frame.bitmap.height - 1, 3) + little(100, 3) + [0] + image
    )
  }
  return webp(chunks: chunks)
}

extension WebPCodec {
  /// Decodes a region of a file, reduced to about `1 / ratio` of its size if it takes at least `least` bytes.
  static func decode(
    _ file: PictureFile,
    _ chunks: WebPChunks,
    _ region: PixelRegion,
    smaller ratio: Double? = nil,
    least: Int = 64 << 20,
    _ limits: NamedLimits
  ) throws(ImagingError) -> (bitmap: Bitmap, part: Bitmap.Part?) {
    try file.bytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in
      try decode(bytes, chunks, region, smaller: ratio, least: least, limits)
    }
  }
}

/// A little-endian number of `count` bytes.
func little(_ value: Int, _ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

/// The offsets of the values of a tag in EXIF data, including its Exif directory.
func places(of tag: Int, in exif: [UInt8]) -> [Int] {
  exif.withUnsafeBufferPointer { bytes in
    guard let main = TIFFDirectory(of: bytes) else { return [] }
    let entries = main.entries + (main.directory(0x8769)?.entries ?? [])
    return entries.filter { $0.tag == tag }.map(\.field)
  }
}

/// A kind of AVIF.
///
/// Kinds whose `chroma` is 1 are lossless.
struct AVIFKind: Sendable, CustomTestStringConvertible {
  var name = "4:4:4"
  var depth = 8
  var chroma = 1
  var angle = 0
  var mirror = -1
  var frames = 1
  var isClear = false
  var shown: PixelRegion?
  var exif: [UInt8] = []
  /// Colour primaries and transfer function by ITU-T H.273; 0 for none.
  var light: (primaries: Int, transfer: Int) = (0, 0)

  var testDescription: String { name }

  static let all = [
    AVIFKind(), AVIFKind(name: "4:2:0", chroma: 3), AVIFKind(name: "grey", chroma: 4),
    AVIFKind(name: "10 bits", depth: 10, chroma: 3), AVIFKind(name: "alpha", isClear: true),
    AVIFKind(name: "12 bits and alpha", depth: 12, isClear: true),
    AVIFKind(name: "sequence", frames: 3), AVIFKind(name: "turned", angle: 1, mirror: 0),
  ]

  func bytes(_ bitmap: Bitmap) -> [UInt8] {
    exif.withUnsafeBufferPointer { exif in
      var fixture = fixture_avif()
      (fixture.width, fixture.height) = (CInt(bitmap.width), CInt(bitmap.height))
      (fixture.depth, fixture.chroma, fixture.frames) = (CInt(depth), CInt(chroma), CInt(frames))
      (fixture.angle, fixture.mirror, fixture.alpha) = (CInt(angle), CInt(mirror), isClear)
      (fixture.primaries, fixture.transfer) = (CInt(light.primaries), CInt(light.transfer))
      if let shown {
        (fixture.shown_x, fixture.shown_y) = (CInt(shown.x), CInt(shown.y))
        (fixture.shown_width, fixture.shown_height) = (CInt(shown.width), CInt(shown.height))
      }
      (fixture.exif, fixture.exif_count) = (exif.baseAddress, exif.count)
      var count = 0
      let made = fixture_encode_avif(&fixture, bitmap.samples, &count)
      defer { free(made) }
      return Array(UnsafeBufferPointer(start: made, count: count))
    }
  }

  func bytes(width: Int, height: Int) -> [UInt8] {
    bytes(colours(width: width, height: height, isClear: isClear))
  }
}

/// A GIF with one frame or, if it is animated, with two frames that have different indices.
struct GIFKind: Sendable, CustomTestStringConvertible {
  var name = "plain"
  /// The size of the screen; nil if it is that of the frame.
  var screen: (Int, Int)?
  var place = (x: 0, y: 0)
  var bits = 4
  var clear: UInt8?
  var isInterlaced = false
  var hasOwnColours = false
  var isAnimated = false
  var palette: [UInt8]?
  /// The number of bits of an index in the codes, which then have strings; nil for codes of constant width.
  var codeSize: Int?

  var testDescription: String { name }

  static let all = [
    GIFKind(), GIFKind(name: "two colours", bits: 1), GIFKind(name: "256 colours", bits: 8),
    GIFKind(name: "clear", clear: 3), GIFKind(name: "interlaced", isInterlaced: true),
    GIFKind(name: "colours of its own", hasOwnColours: true),
    GIFKind(name: "animated", isAnimated: true),
    GIFKind(name: "part of the screen", screen: (40, 30), place: (x: 5, y: 7), clear: 2),
    GIFKind(name: "part, nothing clear", screen: (40, 30), place: (x: 5, y: 7)),
    GIFKind(name: "part, 256 colours", screen: (40, 30), place: (x: 5, y: 7), bits: 8),
  ]

  var colours: [UInt8] { palette ?? noise(3 << bits, depth: 8) }

  func indices(width: Int, height: Int) -> [UInt8] {
    noise(width * height, depth: 8, below: 1 << bits)
  }

  func bytes(width: Int, height: Int) -> [UInt8] {
    bytes(indices(width: width, height: height), width: width, height: height)
  }

  func bytes(_ indices: [UInt8], width: Int, height: Int) -> [UInt8] {
    let table = UInt8(0x80 | bits - 1)
    let screen = screen ?? (width, height)
    var bytes =
      Array("GIF89a".utf8) + little(screen.0, 2) + little(screen.1, 2)
      + [hasOwnColours ? 0 : table, 0, 0]
    if !hasOwnColours { bytes += colours }
    if let clear { bytes += [0x21, 0xF9, 4, 1, 0, 0, clear, 0] }
    for frame in 0..<(isAnimated ? 2 : 1) {
      bytes +=
        [0x2C] + little(place.x, 2) + little(place.y, 2) + little(width, 2) + little(height, 2)
        + [(isInterlaced ? 0x40 : 0) | (hasOwnColours ? table : 0)]
      if hasOwnColours { bytes += colours }
      let shown = frame == 0 ? indices : indices.map { $0 ^ 1 }
      let stored = ordered(shown, width, height)
      // The ninth bit of an index has no effect.
      bytes +=
        codeSize.map { size in
          Self.codes(stored.map { size > 8 ? Int($0) | 256 : Int($0) }, size: size)
        } ?? codes(stored)
    }
    return bytes + [0x3B]
  }

  private func ordered(_ indices: [UInt8], _ width: Int, _ height: Int) -> [UInt8] {
    guard isInterlaced else { return indices }
    let rows =
      Array(stride(from: 0, to: height, by: 8)) + Array(stride(from: 4, to: height, by: 8))
      + Array(stride(from: 2, to: height, by: 4)) + Array(stride(from: 1, to: height, by: 2))
    return rows.flatMap { indices[$0 * width..<($0 + 1) * width] }
  }

  /// The indices as codes of constant width.
  ///
  /// A clear code comes each time before a decoder would widen them.
  private func codes(_ indices: [UInt8]) -> [UInt8] {
    let least = max(bits, 2)
    let (clear, width) = (1 << least, least + 1)
    var writer = CodeWriter()
    for (place, index) in indices.enumerated() {
      if place % ((1 << least) - 2) == 0 { writer.put(clear, width) }
      writer.put(Int(index), width)
    }
    writer.put(clear + 1, width)
    return [UInt8(least)] + writer.blocks
  }

  /// The indices, of `size` bits, as codes of strings. (GIF89a, appendix F)
  ///
  /// If the table of strings is full, it is kept.
  private static func codes(_ indices: [Int], size: Int) -> [UInt8] {
    let clear = 1 << size
    var (width, next) = (size + 1, clear + 2)
    var writer = CodeWriter()
    writer.put(clear, width)
    /// The codes of strings; a key has the code of the string without its last index, and that index.
    var strings: [[Int]: Int] = [:]
    var code = indices[0]
    func end(before index: Int) {
      writer.put(code, width)
      if next < 4096 { strings[[code, index]] = next }
      next = min(next + 1, 4096)
      // The decoder adds this string to its table only when it has read the next code.
      if next > 1 << width, width < 12 { width += 1 }
      code = index
    }
    for index in indices.dropFirst() {
      if let longer = strings[[code, index]] { code = longer } else { end(before: index) }
    }
    end(before: clear + 1)
    writer.put(code, width)
    return [UInt8(size)] + writer.blocks
  }
}

/// Converts any bitmap to 8-bit RGBA.
func rgba(_ bitmap: Bitmap) -> Bitmap {
  let colours = bitmap.converted(Conversion.coloured).converted(Conversion.narrowed)
  guard colours.layout == .bgrx else { return colours.converted(Conversion.withAlpha) }
  return colours.flattened(.rgb).converted(Conversion.withAlpha)
}

/// Packs codes of a GIF into data blocks.
private struct CodeWriter {
  private var (bytes, held, count): ([UInt8], Int, Int) = ([], 0, 0)

  mutating func put(_ code: Int, _ width: Int) {
    held |= code << count
    count += width
    while count >= 8 {
      bytes.append(UInt8(held & 255))
      held >>= 8
      count -= 8
    }
  }

  /// The blocks, and an empty block after them.
  var blocks: [UInt8] {
    let bytes = count > 0 ? bytes + [UInt8(held & 255)] : bytes
    return stride(from: 0, to: bytes.count, by: 255).flatMap { start in
      let part = bytes[start..<min(start + 255, bytes.count)]
      return [UInt8(part.count)] + part
    } + [0]
  }
}
