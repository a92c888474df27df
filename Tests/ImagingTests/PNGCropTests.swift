import Testing

@testable import Imaging

/// Crops of PNGs, with their colour and text chunks.
struct PNGCropTests {
  @Test(arguments: PNGKind.all)
  func `a crop has the samples that libpng decodes`(_ kind: PNGKind) throws {
    for size in [PixelSize(width: 14, height: 9), PixelSize(width: 9, height: 14)] {
      let bytes = try kind.bytes(width: size.width, height: size.height)

      let square = try Crop().apply(to: PictureFile(bytes))

      let region = PixelRegion(
        x: size.width > 9 ? 2 : 0,
        y: size.height > 9 ? 2 : 0,
        width: 9,
        height: 9
      )
      let made = try native(square.bytes)
      let whole = try native(bytes)
      #expect(made.layout == whole.layout)
      #expect(made.depth == kind.depth)
      #expect(made.clear == kind.clear)
      #expect(part(made, PixelRegion(x: 0, y: 0, width: 9, height: 9)) == part(whole, region))
      #expect(square.method == .lossless)
      #expect(try PictureFile(square.bytes).probe.isInterlaced == kind.isInterlaced)
    }
  }

  @Test(arguments: PNGKind.all)
  func `our encoder's output decodes to the same bitmap`(_ kind: PNGKind) throws {
    let bitmap = kind.bitmap(width: 11, height: 5)

    #expect(
      try native(PNGCodec.encode(BitmapRows(bitmap), PictureLimits().named("x")).bytes()) == bitmap
    )
  }

  @Test(arguments: [
    (Gravity.centre, 2, 0), (.left, 0, 0), (.right, 5, 0), (.topRight, 5, 0), (.bottomLeft, 0, 0),
  ])
  func `gravity chooses the region of a wide picture`(_ gravity: Gravity, _ x: Int, _ y: Int)
    throws
  {
    let kind = PNGKind(name: "", layout: .rgb, depth: 8)
    let bytes = try kind.bytes(width: 14, height: 9)

    let square = try Crop(gravity: gravity).apply(to: PictureFile(bytes))

    let expected = part(try native(bytes), PixelRegion(x: x, y: y, width: 9, height: 9))
    #expect(
      part(try native(square.bytes), PixelRegion(x: 0, y: 0, width: 9, height: 9)) == expected
    )
  }

  @Test func `colour chunks are kept and texts removed unless asked for`() throws {
    let kind = PNGKind(name: "", layout: .rgb, depth: 8)
    let plain = try kind.bytes(width: 9, height: 9)
    let gamma = chunk("gAMA", [0, 0, 0xB1, 0x8F])
    let profile = chunk("iCCP", Array("x\0\0".utf8) + (try packedZeros(64)))
    let text = chunk("tEXt", Array("GPS\0here".utf8))
    let exif = chunk("eXIf", tiff(orientation: 1))
    let bytes = Array(plain[..<33]) + gamma + profile + text + exif + plain[33...]

    let bare = try Crop().apply(to: PictureFile(bytes)).bytes
    let full = try Crop(keepsMetadata: true).apply(to: PictureFile(bytes)).bytes

    #expect(bare.contains(gamma) && bare.contains(profile))
    #expect(!bare.contains(text) && !bare.contains(Array("eXIf".utf8)))
    #expect(full.contains(gamma) && !full.contains(text) && full.contains(Array("eXIf".utf8)))
    #expect(!full.contains(Array("THUMB".utf8)))
    #expect(try decoded(full) == decoded(bare))
  }

  @Test func `a profile that cannot be unpacked is left out`() throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    for payload in [Array("x\0\0".utf8) + [1, 2, 3], Array("no end".utf8), []] {
      let bytes = Array(plain[..<33]) + chunk("iCCP", payload) + plain[33...]

      let square = try Crop().apply(to: PictureFile(bytes))

      #expect(!square.bytes.contains(Array("iCCP".utf8)))
    }
  }

  @Test func `a chunk with a wrong checksum is left out`() throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    var gamma = chunk("gAMA", [0, 0, 0xB1, 0x8F])
    gamma[gamma.count - 1] ^= 1

    let square = try Crop().apply(
      to: PictureFile(Array(plain[..<33]) + gamma + plain[33...])
    )

    #expect(!square.bytes.contains(Array("gAMA".utf8)))
  }
}

extension PictureProbe {
  var isInterlaced: Bool { (structure as? PNGChunks)?.isInterlaced ?? false }
}
