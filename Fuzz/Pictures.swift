import Base
import CPNG
import Glibc
import PictureFixtures
import SystemPackage

/// Crops or stamps arbitrary bytes, and checks that the result is an error, or a picture that can be read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPicture(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  if let folder = getenv("FUZZ_SEEDS") { writeSeeds(FilePath(String(cString: folder))) }
  target(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

private let target: @Sendable ([UInt8]) -> Void =
  switch getenv("FUZZ").map({ String(cString: $0) }) {
  case "crop-jpeg": { fuzzCrop($0, .jpeg) }
  case "crop-png": { fuzzCrop($0, .png) }
  case "crop-webp": { fuzzCrop($0, .webp) }
  case "crop-avif": { fuzzCrop($0, .avif) }
  case "crop-gif": { fuzzCrop($0, .gif) }
  case "crop-bmp": { fuzzCrop($0, .bmp) }
  case "crop-heic": { fuzzCrop($0, .heic) }
  case "crop-tiff": { fuzzCrop($0, .tiff) }
  case "stamp-jpeg": { fuzzStamp($0, .jpeg) }
  case "stamp-png": { fuzzStamp($0, .png) }
  default: fatalError("set FUZZ to crop- and a format, stamp-jpeg or -png")
  }

/// The limits of a picture; by default, they are small enough for many runs a second.
///
/// The arithmetic that the limits protect is the same for pictures of any size.
private let limits = {
  guard !isWhole else { return PictureLimits(pixels: 50_000_000) }
  var limits = PictureLimits(pixels: 1_000_000)
  (limits.side, limits.scannedPixels) = (4096, 20_000_000)
  (limits.metadataBytes, limits.memory) = (1 << 18, 64 << 20)
  return limits
}()

private func file(_ bytes: [UInt8], _ format: PictureFormat) -> PictureFile? {
  guard PictureFormat(sniffing: bytes) == format else { return nil }
  // Most random changes to a PNG only make a chunk's CRC wrong. If the CRCs are corrected, the changed bytes reach the
  // decoder.
  let isSummed = format == .png && (bytes.last ?? 0) & 128 == 0
  let bytes = isSummed ? summed(bytes) : bytes
  return try? PictureFile(bytes, modified: 1_610_000_000, limits: limits)
}

/// The PNG `bytes` with a correct CRC after each chunk.
private func summed(_ bytes: [UInt8]) -> [UInt8] {
  var bytes = bytes
  var offset = 8
  while offset + 12 <= bytes.count {
    let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    guard length <= bytes.count - offset - 12 else { break }
    let end = offset + 8 + length
    let sum = bytes[offset + 4..<end].withUnsafeBufferPointer {
      UInt32(crc32_z(0, $0.baseAddress, $0.count))
    }
    for index in 0..<4 {
      bytes[end + index] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * index))
    }
    offset = end + 4
  }
  return bytes
}

/// A crop with options that depend on the last byte of the input; decoders ignore a byte after the end of the picture.
private func crop(_ bytes: [UInt8]) -> Crop {
  let choice = Int(bytes.last ?? 0)
  let format = PictureFormat(sniffing: bytes)
  // Encoding 50 megapixels as WebP or AVIF takes longer than all other steps together, and does not test the input's
  // bytes.
  let own = isWhole && format != .jpeg && format != .png ? 512 : nil
  var crop = Crop(
    size: [own, 16, 33, 100][choice & 3],
    gravity: choice & 4 == 0 ? .centre : .attention,
    // Encoding AVIF takes longer than all other steps together, and does not test the input's bytes.
    format: format == .avif || choice & 64 != 0 ? .png : nil,
    quality: choice & 8 == 0 ? nil : 80,
    lossless: choice & 16 != 0,
    keepsMetadata: choice & 32 != 0,
    limits: limits
  )
  if choice & 128 != 0 {
    crop.isProgressive = crop.format == nil
    crop.convertsToSRGB = !crop.lossless
    if crop.format == nil, !crop.lossless { crop.chroma = choice & 8 == 0 ? .full : .quarter }
  }
  if choice & 3 == 2 {
    crop.fit = .contain
    crop.background = choice & 8 == 0 ? PictureColour("#ff800080") : nil
  }
  return crop
}

private func check(_ picture: EncodedPicture, _ crop: Crop, of file: PictureFile) {
  expect(picture.width == picture.height, "\(picture.width) × \(picture.height) is no square")
  expect(crop.size ?? picture.width == picture.width, "not of the size asked for")
  // The result's metadata may be larger than the limits of the input allow.
  let whole = PictureLimits()
  guard let made = try? PictureFile(picture.bytes, limits: whole) else {
    return expect(false, "what was made cannot be read")
  }
  expect(made.probe.width == picture.width && made.probe.height == picture.height, "another size")
  expect(made.probe.orientation == .upright, "not upright")
  let again = Crop(size: 8, limits: whole)
  // A lossless JPEG may keep coefficients that libjpeg cannot convert to pixels, if the sampling is fractional.
  let isCarriedOver = picture.format == .jpeg && picture.method == .lossless
  expect(
    (try? again.apply(to: made)) != nil || isCarriedOver && (try? again.apply(to: file)) == nil,
    "not to be cropped again"
  )
}

private func fuzzCrop(_ bytes: [UInt8], _ format: PictureFormat) {
  let costs = Costs(of: bytes)
  guard let file = file(bytes, format) else { return costs.check(pixels: 0, format) }
  let crop = crop(bytes)
  let picture = try? crop.apply(to: file)
  costs.check(
    pixels: file.probe.width * file.probe.height,
    format,
    isDeep: file.probe.depth > 8
  )
  if let picture, !isWhole { check(picture, crop, of: file) }
  if !isWhole { scaleInStrips(file) }
  if format == .png, !isWhole, crop.lossless { checkWaiting(picture, crop, of: file) }
}

/// Scales a picture in strips, as a large picture is scaled, with no more rows in memory than the filter needs.
private func scaleInStrips(_ file: PictureFile) {
  let stored = file.probe.stored
  let whole = RowRequest(
    region: PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
  )
  _ = try? file.withRows(whole, limits) { (rows) throws(ImagingError) in
    try ScaledRows(
      rows.source.converted { Conversion.expanded($0) },
      to: PixelSize(width: 9, height: 40),
      strip: 1,
      limits.named("x")
    ).collected(limits.named("x"))
  }
}

/// Checks that a PNG which is written to a file while it is compressed, as a large PNG is, equals the PNG made in
/// memory.
private func checkWaiting(_ picture: EncodedPicture?, _ crop: Crop, of file: PictureFile) {
  var crop = crop
  crop.heldBytes = 256
  let made = try? crop.make(from: file, for: "/dev/shm/larder-fuzz.png")
  expect((try? made?.contents()) == picture?.bytes, "another file than in memory")
}

private func fuzzStamp(_ bytes: [UInt8], _ format: PictureFormat) {
  let costs = Costs(of: bytes)
  guard let file = file(bytes, format) else { return costs.check(pixels: 0, format) }
  var stamp = Stamp(crop: crop(bytes), time: .now)
  // Large letters take longer than all other steps together.
  stamp.crop.size = stamp.crop.size ?? (file.probe.width > 300 ? 64 : nil)
  let picture = try? stamp.apply(to: file)
  costs.check(
    pixels: file.probe.width * file.probe.height,
    format,
    isDeep: file.probe.depth > 8
  )
  if let picture, !isWhole { check(picture, stamp.crop, of: file) }
}

/// Writes a picture of every kind to a folder, as the fuzzer's first inputs (seeds), then exits.
private func writeSeeds(_ folder: FilePath) -> Never {
  let samples = (0..<48 * 40 * 4).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 6) }
  func write(_ bytes: [UInt8], _ name: String) {
    try? WholeFile.write(bytes, to: folder.appending(name), overwrite: true)
  }
  for (space, across, down) in [
    (1, 1, 1), (2, 1, 1), (3, 2, 2), (3, 4, 1), (3, 1, 2), (4, 1, 1), (5, 2, 2),
  ] {
    for way in 0..<4 {
      var fixture = fixture_jpeg(
        width: 48,
        height: 40,
        color_space: Int32(space),
        across: Int32(across),
        down: Int32(down),
        restart_rows: way == 1 ? 1 : 0,
        quality: 70,
        progressive: way == 2,
        arithmetic: way == 3
      )
      var count = 0
      let made = fixture_encode(&fixture, samples, &count)
      var bytes = Array(UnsafeBufferPointer(start: made, count: count))
      free(made)
      if way == 1 { bytes.insert(contentsOf: exif, at: 2) }
      for choice: UInt8 in [0, 0x31, 0x10] {
        write(bytes + [choice], "\(space)-\(across)-\(down)-\(way)-\(choice).jpg")
      }
    }
  }
  let layouts: [Bitmap.Layout] = [
    .grey, .greyAlpha, .rgb, .rgba,
    .indexed(Bitmap.Palette(colours: Array(samples[..<768]), alpha: [0, 9])),
  ]
  for (index, layout) in layouts.enumerated() {
    for depth in index == 4 ? [8] : [8, 16] {
      for interlaced in [false, true] {
        let bitmap = Bitmap(
          width: 24,
          height: 20,
          layout: layout,
          depth: depth,
          samples: Array(samples[..<(24 * 20 * layout.channels * depth / 8)])
        )
        guard
          let bytes = try? PNGCodec.encode(
            BitmapRows(bitmap),
            interlaced: interlaced,
            PictureLimits().named("seed")
          ).bytes()
        else { continue }
        for choice: UInt8 in [0, 0x21] {
          write(bytes + [choice], "\(index)-\(depth)-\(interlaced)-\(choice).png")
        }
      }
    }
  }
  writeOtherSeeds(samples, write)
  writeUnusualSeeds(samples, write)
  if isWhole { writeLargeSeeds(write) }
  _exit(0)
}

/// Writes seeds for WebP, AVIF and GIF.
private func writeOtherSeeds(_ samples: [UInt8], _ write: ([UInt8], String) -> Void) {
  let bitmap = Bitmap(width: 24, height: 20, layout: .rgba, samples: Array(samples[..<1920]))
  for lossless in [false, true] {
    guard
      let still = try? WebPCodec.encode(
        BitmapRows(bitmap),
        quality: 60,
        lossless: lossless,
        PictureLimits().named("seed")
      )
    else { continue }
    var tags = PictureTags()
    tags.exif = Array(exif.dropFirst(10))
    let tagged = tags.added(
      toWebP: still,
      RowShape(size: PixelSize(width: 24, height: 20), layout: .rgba)
    )
    write(still + [0], "\(lossless).webp")
    write(tagged + [0x21], "tagged-\(lossless).webp")
    let place: [UInt8] = [2, 0, 0, 3, 0, 0, 23, 0, 0, 19, 0, 0, 9, 0, 0, 0]
    let image = still[12...].starts(with: "VP8X".utf8) ? still[30...] : still[12...]
    let frame = place + image
    let chunks: [UInt8] =
      Array("VP8X".utf8) + [10, 0, 0, 0, 0x12, 0, 0, 0, 39, 0, 0, 29, 0, 0]
      + Array("ANIM".utf8) + [6, 0, 0, 0, 0, 0, 0, 0, 0, 0]
      + Array("ANMF".utf8) + [UInt8(frame.count & 255), UInt8(frame.count >> 8), 0, 0] + frame
    let count = chunks.count + 4
    write(
      Array("RIFF".utf8) + [UInt8(count & 255), UInt8(count >> 8), 0, 0] + Array("WEBP".utf8)
        + chunks + [0],
      "animated-\(lossless).webp"
    )
  }
  for (index, (chroma, depth)) in [(1, 8), (3, 8), (3, 10), (4, 12)].enumerated() {
    var fixture = fixture_avif()
    (fixture.width, fixture.height, fixture.depth) = (24, 20, CInt(depth))
    (fixture.chroma, fixture.angle, fixture.mirror) = (CInt(chroma), CInt(index), CInt(index) - 1)
    (fixture.frames, fixture.alpha) = (index == 1 ? 3 : 1, index % 2 == 0)
    var count = 0
    let made = fixture_encode_avif(&fixture, bitmap.samples, &count)
    write(Array(UnsafeBufferPointer(start: made, count: count)) + [0], "\(index).avif")
    free(made)
  }
  // This GIF has four colours, one of them transparent, and a screen larger than the frame. Its data has a code of
  // three bits for each pixel.
  let head: [UInt8] = Array("GIF89a".utf8) + [6, 0, 5, 0, 0x81, 0, 0] + Array(samples[..<12])
  let clear: [UInt8] = [0x21, 0xF9, 4, 1, 0, 0, 2, 0]
  for interlaced: UInt8 in [0, 0x40] {
    let frame: [UInt8] = [0x2C, 1, 0, 1, 0, 4, 0, 4, 0, interlaced, 2, 8]
    let codes: [UInt8] = [0x44, 0x02, 0x05, 0x44, 0x02, 0x05, 0x44, 0x05, 0]
    write(head + clear + frame + codes + [0x3B, 0], "\(interlaced).gif")
  }
}

/// Writes a TIFF of palette indices with alpha.
private func writeUnusualSeeds(_ samples: [UInt8], _ write: ([UInt8], String) -> Void) {
  var fixture = fixture_tiff()
  (fixture.width, fixture.height, fixture.bits, fixture.samples) = (24, 20, 8, 2)
  (fixture.photometric, fixture.compression, fixture.strip, fixture.extra) = (3, 5, 5, 2)
  var count = 0
  let made = fixture_encode_tiff(&fixture, samples, &count)
  write(Array(UnsafeBufferPointer(start: made, count: count)) + [0], "indexed-alpha.tif")
  free(made)
}

/// Writes small files that hold pictures of 49 megapixels, for runs with `FUZZ_LIMITS=whole`.
private func writeLargeSeeds(_ write: ([UInt8], String) -> Void) {
  let side = 7000
  let blank = [UInt8](repeating: 90, count: side * side * 4)
  for (space, across, down, way) in [
    (3, 2, 2, 0), (3, 2, 2, 2), (3, 1, 1, 2), (4, 1, 1, 2), (1, 1, 1, 3),
  ] {
    var fixture = fixture_jpeg(
      width: Int32(side),
      height: Int32(side),
      color_space: Int32(space),
      across: Int32(across),
      down: Int32(down),
      restart_rows: 0,
      quality: 50,
      progressive: way == 2,
      arithmetic: way == 3
    )
    var count = 0
    let made = fixture_encode(&fixture, blank, &count)
    let bytes = Array(UnsafeBufferPointer(start: made, count: count))
    free(made)
    for choice: UInt8 in [0, 0x10, 1] {
      write(bytes + [choice], "\(space)-\(across)-\(way)-\(choice).jpg")
    }
  }
  let forms: [(Bitmap.Layout, Int, Bool)] = [
    (.grey, 8, false), (.rgba, 16, false), (.rgba, 16, true), (.rgb, 8, true),
    (.indexed(Bitmap.Palette(colours: Array(blank[..<768]), alpha: [0, 9])), 8, true),
  ]
  for (index, (layout, depth, interlaced)) in forms.enumerated() {
    let pixels = side * side * layout.channels * depth / 8
    let bitmap = Bitmap(
      width: side,
      height: side,
      layout: layout,
      depth: depth,
      samples: [UInt8](repeating: 90, count: pixels)
    )
    let made = try? PNGCodec.encode(
      BitmapRows(bitmap),
      interlaced: interlaced,
      level: 4,
      PictureLimits().named("seed")
    )
    guard let bytes = try? made?.bytes() else { continue }
    for choice: UInt8 in [0, 1, 3] { write(bytes + [choice], "large-\(index)-\(choice).png") }
  }
  let bitmap = Bitmap(width: side, height: side, layout: .rgba, samples: blank)
  for lossless in [false, true] {
    guard
      let bytes = try? WebPCodec.encode(
        BitmapRows(bitmap),
        quality: 20,
        lossless: lossless,
        PictureLimits().named("seed")
      )
    else { continue }
    for choice: UInt8 in [0, 1, 5] { write(bytes + [choice], "large-\(lossless)-\(choice).webp") }
  }
  for (chroma, depth, alpha) in [(3, 8, false), (1, 10, true)] {
    var fixture = fixture_avif()
    (fixture.width, fixture.height, fixture.depth) = (CInt(side), CInt(side), CInt(depth))
    (fixture.chroma, fixture.mirror, fixture.frames, fixture.alpha) = (CInt(chroma), -1, 1, alpha)
    var count = 0
    let made = fixture_encode_avif(&fixture, blank, &count)
    let bytes = Array(UnsafeBufferPointer(start: made, count: count))
    free(made)
    for choice: UInt8 in [0, 1, 5] { write(bytes + [choice], "large-\(depth)-\(choice).avif") }
  }
  for choice: UInt8 in [0, 1, 5] {
    write(largeGIF(screen: side, side) + [choice], "large-\(choice).gif")
    // The screen around the frame is transparent.
    write(largeGIF(screen: side, side - 1) + [choice], "framed-\(choice).gif")
  }
}

/// A GIF whose frame has a single colour.
private func largeGIF(screen: Int, _ side: Int) -> [UInt8] {
  func little(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
  let across = little(side)
  var bytes: [UInt8] = Array("GIF89a".utf8) + little(screen) + little(screen) + [0x81, 0, 0]
  bytes += [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120]
  bytes += [0x2C, 0, 0, 0, 0] + across + across + [0, 2]
  var (packed, held, bits): ([UInt8], Int, Int) = ([], 0, 0)
  func put(_ code: Int, _ width: Int) {
    held |= code << bits
    bits += width
    while bits >= 8 {
      packed.append(UInt8(held & 255))
      held >>= 8
      bits -= 8
    }
  }
  var (left, width) = (side * side, 3)
  while left > 0 {
    // This code clears the code table. After that, each new code stands for one pixel more than the previous code.
    put(4, width)
    var (code, run) = (0, 1)
    width = 3
    while left > 0, code < 4095 {
      put(code, width)
      left -= run
      code = code == 0 ? 6 : code + 1
      run += 1
      if code == 1 << width { width += 1 }
    }
  }
  put(5, width)
  put(0, 8)
  for start in stride(from: 0, to: packed.count, by: 255) {
    let block = packed[start..<min(start + 255, packed.count)]
    bytes += [UInt8(block.count)] + block
  }
  return bytes + [0, 0x3B]
}

/// An Exif segment with a date, for a picture that has to be turned by 90°.
private let exif: [UInt8] = {
  let tiff: [UInt8] =
    Array("II*\0".utf8) + [8, 0, 0, 0, 2, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
    + [0x32, 1, 2, 0, 20, 0, 0, 0, 38, 0, 0, 0, 0, 0, 0, 0] + Array("2021:01:13 06:30:00\0".utf8)
  return [0xFF, 0xE1, 0, UInt8(tiff.count + 8)] + Array("Exif\0\0".utf8) + tiff
}()
