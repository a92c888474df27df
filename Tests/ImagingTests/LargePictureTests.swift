import CAVIF
import Testing

@testable import Imaging

/// The code for large pictures, which are never in memory more than once.
struct LargePictureTests {
  /// Smooth waves in every channel.
  private static func waves(
    width: Int,
    height: Int,
    _ layout: Bitmap.Layout,
    _ depth: Int
  ) -> Bitmap {
    let samples = wave(width: width, height: height, channels: layout.channels, length: 60)
    return Bitmap(
      width: width,
      height: height,
      layout: layout,
      depth: depth,
      samples: depth == 16 ? samples.flatMap { [$0, $0] } : samples
    )
  }

  @Test func `an interlaced picture of any shape reads like a plain one`() throws {
    for width in [1, 2, 4, 5, 9] {
      for height in 1...10 {
        let kind = PNGKind(name: "", layout: .rgb, depth: 16)
        var interlaced = kind
        interlaced.isInterlaced = true
        let plain = try PictureFile(kind.bytes(width: width, height: height))
        let woven = try PictureFile(interlaced.bytes(width: width, height: height))
        for first in 0..<height {
          let region = PixelRegion(x: width / 3, y: first, width: 1, height: height - first)
          let expected = try plain.part(region, isNative: true)
          let made = try woven.part(region, isNative: true)

          #expect(made == expected, "\(width) × \(height) from \(first)")
        }
      }
    }
  }

  @Test(
    arguments: [Bitmap.Layout.grey, .greyAlpha, .rgb, .rgba],
    [8, 16]
  )
  func `a greatly reduced picture is close to the whole one scaled`(
    _ layout: Bitmap.Layout,
    _ depth: Int
  ) throws {
    let source = Self.waves(width: 301, height: 997, layout, depth)
    let region = PixelRegion(x: 3, y: 5, width: 293, height: 983)
    let limits = PictureLimits()
    let sizes = [(9, 20), (293, 13), (9, 5)].map { PixelSize(width: $0, height: $1) }
    for size in sizes {
      let whole = try source.part(region)
        .scaled(width: size.width, height: size.height, limits: limits.named("x"))

      // A strip of one byte forces the picture to be scaled eight rows at a time.
      let made = try source.part(region)
        .scaled(width: size.width, height: size.height, strip: 1, limits: limits.named("x"))

      let most = largestDifference(made, whole)
      #expect(most <= (depth == 16 ? 6 * 257 : 6), "\(size): \(most)")
    }
  }

  /// A palette whose brightness rises with the index.
  ///
  /// The first indices are partly transparent.
  private static let ramp = Bitmap.Palette(
    colours: (0..<768).map { UInt8($0 / 3) },
    alpha: (165...255).map { UInt8($0) }
  )

  @Test(
    arguments: [
      (Bitmap.Layout.grey, 8), (.greyAlpha, 8), (.rgb, 8), (.rgba, 8), (.rgb, 16), (.rgba, 16),
      (.bgrx, 8), (.cmyk, 8), (.indexed(ramp), 8),
      (.indexed(Bitmap.Palette(colours: ramp.colours)), 8),
    ]
  )
  func `a bitmap scaled in strips is close to one scaled at once, and its copies do not change`(
    _ layout: Bitmap.Layout,
    _ depth: Int
  ) throws {
    let source = Self.waves(width: 211, height: 463, layout, depth)
    // This is a copy in memory of its own, so that a change to shared memory is detected.
    let before = Self.waves(width: 211, height: 463, layout, depth)
    let limits = PictureLimits()
    for size in [PixelSize(width: 9, height: 20), PixelSize(width: 211, height: 600)] {
      let (across, down) = (size.width, size.height)
      let whole = try source.converted { .expanded($0) }
        .scaled(width: across, height: down, limits: limits.named("x"))
      for (strip, least) in [(1, 0), (1 << 20, 0), (1 << 20, .max)] {
        let made = try ScaledRows(
          BitmapRows(source, least: least),
          to: size,
          strip: strip,
          limits.named("x")
        ).collected(limits.named("x"))

        let most = largestDifference(made, whole)
        #expect(made.layout == whole.layout && made.depth == whole.depth)
        #expect(most <= (strip > 1 ? 0 : depth == 16 ? 6 * 257 : 6), "\(size), \(strip): \(most)")
        #expect(source == before)
      }
    }
  }

  @Test func `transparent pixels do not tint the average`() throws {
    let side = 256
    var samples: [UInt8] = []
    for y in 0..<side {
      for x in 0..<side { samples += (x + y) % 2 == 0 ? [200, 0, 0, 255] : [0, 255, 255, 0] }
    }
    let source = Bitmap(width: side, height: side, layout: .rgba, samples: samples)

    let made = try source.scaled(
      width: 4,
      height: 4,
      strip: 1,
      limits: PictureLimits().named("x")
    )

    // If samples have 8 bits, red is multiplied by alpha and divided again, so that it is only nearly exact.
    for x in 0..<4 { #expect([[199, 0, 0, 128], [201, 0, 0, 127]].contains(made[x, 2])) }
  }

  @Test func `keeping a region of a bitmap gives that region`() {
    let source = colours(width: 31, height: 22)
    for region in [
      PixelRegion(x: 0, y: 0, width: 31, height: 22),
      PixelRegion(x: 0, y: 3, width: 31, height: 9),
      PixelRegion(x: 4, y: 0, width: 20, height: 22),
      PixelRegion(x: 30, y: 21, width: 1, height: 1),
    ] {
      var bitmap = source
      bitmap.clear = [1]

      bitmap.keep(region)

      #expect(bitmap.samples == source.part(region).samples)
      #expect(bitmap.width == region.width && bitmap.height == region.height)
      #expect(bitmap.clear == [1])
    }
  }

  @Test(arguments: [1, .max], [1, 7, 256])
  func `a bitmap is read row by row, and its copies do not change`(_ least: Int, _ most: Int)
    throws
  {
    let source = colours(width: 100, height: 529)
    let before = colours(width: 100, height: 529)
    var taken: [UInt8] = []

    try BitmapRows(source, least: least).inStrips(of: most) { (strip, _, _) in taken += strip }

    #expect(taken == before.samples)
    #expect(source == before)
  }

  @Test(arguments: [false, true])
  func `a WebP of several strips is whole`(_ lossless: Bool) throws {
    let rows = 256 * 2 + 33
    // Only the last strip has transparency.
    var source = colours(width: 61, height: rows)
    for y in rows - 20..<rows { source.samples[(y * 61 + 30) * 4 + 3] = UInt8(y % 256) }
    let opaque = colours(width: 61, height: rows).flattened(.rgb)

    let made = try decoded(webp(source, lossless: lossless, quality: 90))
    let plain = try decoded(webp(opaque, lossless: lossless, quality: 90))

    let isAlike = lossless ? rgba(made) == source : psnr(rgba(made), source) > 30
    #expect(isAlike)
    #expect((0..<rows).allSatisfy { made[30, $0][3] == source[30, $0][3] })
    #expect(plain.layout == .bgrx)
    let pixels = plain.flattened(.rgb)
    #expect(lossless ? pixels == opaque : psnr(pixels, opaque) > 30)
  }

  @Test func `a large lossless WebP is reduced while it is decoded`() throws {
    let (width, height) = (331, 207)
    let samples = wave(width: width, height: height, channels: 3, length: 9)
    let source = Bitmap(width: width, height: height, layout: .rgb, samples: samples)
    let file = try PictureFile(webp(source))
    guard let chunks = file.probe.structure as? WebPChunks else { return #expect(Bool(false)) }
    let region = PixelRegion(x: 60, y: 0, width: 207, height: 207)
    let limits = PictureLimits()
    let expected = try file.part(region)
      .scaled(width: 30, height: 30, limits: limits.named("x"))

    let small = try WebPCodec.decode(file, chunks, region, smaller: 3, limits.named("x"))
    let large = try WebPCodec.decode(file, chunks, region, smaller: 3, least: 1, limits.named("x"))

    #expect(small.part == nil)
    #expect(large.bitmap.width < 80)
    let made = try large.bitmap
      .scaled(large.part, width: 30, height: 30, limits: limits.named("x"))
    #expect(psnr(made, expected) > 36)
  }

  @Test func `an AVIF beyond the levels of AV1 is read`() throws {
    let bytes = try #require(Self.unbase64(Self.largeAVIF))
    let file = try PictureFile(bytes)
    #expect(file.probe.width * file.probe.height > 35_651_584)

    let corner = PixelRegion(x: 5970, y: 5970, width: 14, height: 14)
    let made = try file.part(corner)

    #expect((0..<14).allSatisfy { abs(Int(made[$0, $0][0]) - 90) <= 2 })
  }

  @Test func `an AVIF is decoded only within the decoder's memory limit`() throws {
    let bytes = try #require(Self.unbase64(Self.largeAVIF))
    let file = try PictureFile(bytes)
    let held = AVIFHeader.decoderMemory(
      pixels: 5984 * 5984,
      colour: cavif_colour(chroma: Int32(cavif_400), primaries: 1, transfer: 13, matrix: 6),
      depth: 8,
      hasAlpha: false
    )

    let error = #expect(throws: ImagingError.self) {
      try file.part(
        PixelRegion(x: 0, y: 0, width: 2, height: 2),
        PictureLimits(pixels: 150_000_000, decoding: held - 1)
      )
    }

    #expect(error?.description.contains("decoding it may take \(held) bytes of memory") == true)
  }

  /// 5984 × 5984 pixels of grey 90, which libaom marks as beyond all AV1 levels.
  private static let largeAVIF = """
    AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAPBtZXRhAAAAAAAAAChoZGxyAAAAAAAAAABwaWN0AAAAAAAA
    AAAAAAAAbGliYXZpZgAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAEUAAAA/wAAAChpaW5m
    AAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABoaXBycAAAAElpcGNvAAAAFGlzcGUAAAAAAAAXYAAA
    F2AAAAAOcGl4aQAAAAABCAAAAAxhdjFDgR8cAAAAABNjb2xybmNseAABAA0ABoAAAAAXaXBtYQAAAAAAAAABAAEE
    AQKDBAAAAQdtZGF0EgAKCh/zLr91/hgIaDUy7gEQGQBhhAAAOfTPIVASwTe3lv3113NfdKK0dqsiYZb5jKgpZ4Bs
    4radvLaz8CYUHX5ccxnJXr+AgSyoyeSdu950zGc49M8hUBLBN7eW/fXXc190orR2qyJhlvmMqClngGzitvgonbJp
    GI3uleFV8bpgxr/kCReOvU7OFxoMOPTPIVASwTe3lv3113NfdKK0dqsiYZb5jKgpZ4Bs4radvLaz8CYUHX5ccxnJ
    Xr+AgSyoyeSdu950+PTPIVASwTe3lv3113NfdKK0dqsiYZb5jKgpZ4Bs4rb4KJ2yaRiN7pXhVfG6YMa/5AkXjr1O
    zhdw
    """

  private static func unbase64(_ text: String) -> [UInt8]? {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var (bytes, held, bits): ([UInt8], Int, Int) = ([], 0, 0)
    for letter in text.utf8 where letter != UInt8(ascii: "\n") && letter != UInt8(ascii: "=") {
      guard let value = letters.firstIndex(of: letter) else { return nil }
      (held, bits) = ((held << 6 | value) & 0xFFFF, bits + 6)
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(held >> bits & 0xFF))
      }
    }
    return bytes
  }
}
