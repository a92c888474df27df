import Testing

@testable import Imaging

/// HEIC files as phones write them, and malformed ones.
struct HEICTests {
  private static let picture = Bitmap(
    width: 64,
    height: 64,
    layout: .rgb,
    samples: wave(width: 64, height: 64, channels: 3, length: 4)
  )
  private static let light = wave(width: 64, height: 64, channels: 1, length: 4)

  private static func whole(_ item: HEIFItem) throws -> Bitmap { try rgba(decoded(heic([item]))) }

  private static func colour(_ range: UInt8, _ primaries: Int, _ matrix: Int) -> [UInt8] {
    box("colr", Array("nclx".utf8) + big(primaries, 2) + big(13, 2) + big(matrix, 2) + [range])
  }

  @Test(arguments: HEVCFixture.all)
  func `a still is decoded with any kind of samples`(_ still: HEVCFixture) throws {
    let file = try PictureFile(heic([.still(still)]))

    let made = try Bitmap(decoding: file)

    #expect(file.probe.format == .heic && file.probe.width == 64 && file.probe.height == 64)
    #expect(file.probe.depth == (still.testDescription.hasPrefix("of 10") ? 10 : 8))
    #expect(made.depth == (file.probe.depth > 8 ? 16 : 8))
    if file.probe.channels == 1 {
      let grey = Bitmap(width: 64, height: 64, layout: .grey, samples: Self.light)
      #expect(psnr(rgba(made), rgba(grey)) > 30)
    } else {
      #expect(psnr(rgba(made), rgba(Self.picture)) > 30)
    }
  }

  @Test func `a HEIC becomes a JPEG, and keeps its depth in other formats`() throws {
    let file = try PictureFile(heic([.still(.deep)]))

    let kept = try Crop().apply(to: file)
    let deep = try PictureFile(Crop(format: .png).apply(to: file).bytes)
    let avif = try PictureFile(Crop(format: .avif).apply(to: file).bytes)

    #expect(kept.format == .jpeg && kept.method == .reencoded)
    #expect(psnr(rgba(try decoded(kept.bytes)), rgba(Self.picture)) > 29)
    #expect(deep.probe.depth == 16 && avif.probe.depth == 10)
  }

  @Test(arguments: [HEVCFixture.colour, .full, .deep])
  func `the tiles of a grid are joined, and any region equals that of the whole`(
    _ still: HEVCFixture
  ) throws {
    let size = (width: 150, height: 170)
    let cells = Array(repeating: HEIFItem.still(still), count: 9)
    let bytes = heic([.grid(3, 3, size, of: Array(2...10))] + cells)
    let file = try PictureFile(bytes)
    let alone = try decoded(heic([.still(still)]))

    let whole = try file.part(PixelRegion(x: 0, y: 0, width: 150, height: 170))

    #expect(file.probe.width == 150 && file.probe.height == 170)
    for (x, y) in [(0, 0), (64, 0), (64, 64), (0, 128)] {
      // Chroma is interpolated across the edge of a tile, so only the inner part is compared.
      let inner = PixelRegion(x: x + 2, y: y + 2, width: 20, height: 38)
      let same = PixelRegion(x: 2, y: 2, width: 20, height: 38)
      #expect(whole.part(inner) == alone.part(same), "\(x), \(y)")
    }
    for (x, y, width, height) in [
      (7, 0, 47, 47), (63, 61, 70, 9), (100, 127, 50, 43), (149, 0, 1, 170),
    ] {
      let region = PixelRegion(x: x, y: y, width: width, height: height)
      #expect(try file.part(region) == whole.part(region), "\(region)")
    }
  }

  @Test func `the tiles of a grid join without a seam`() throws {
    // The same flat picture is used for both tiles, so any seam would be visible.
    let bytes = heic([.grid(1, 2, (64, 128), of: [2, 2])] + [.still(.grey)])
    let whole = try rgba(decoded(bytes))
    let alone = try Self.whole(.still(.grey))

    #expect(whole.part(PixelRegion(x: 0, y: 0, width: 64, height: 64)) == alone)
    #expect(whole.part(PixelRegion(x: 0, y: 64, width: 64, height: 64)) == alone)
  }

  @Test(arguments: 0..<4, -1..<2)
  func `a HEIC is rotated and mirrored by its boxes, not by its EXIF data`(
    _ angle: Int,
    _ mirror: Int
  ) throws {
    var turns = [box("irot", [UInt8(angle)])]
    if mirror >= 0 { turns.append(box("imir", [UInt8(mirror)])) }
    let exif = tiff(orientation: 6, dateTime: "2021:01:13 06:30:00")
    let items = [
      HEIFItem.still(.colour, (64, 64), turns),
      HEIFItem(type: "Exif", data: big(0, 4) + exif, references: [("cdsc", [1])]),
    ]
    let file = try PictureFile(heic(items))

    let made = try rgba(decoded(file.bytes))

    var expected = try Self.whole(.still(.colour))
    for _ in 0..<angle { expected = try expected.upright(from: .turnedRight) }
    if mirror >= 0 { expected = try expected.upright(from: mirror == 0 ? .flipped : .mirrored) }
    #expect(made == expected)
    #expect(file.probe.exif?.dateTime == "2021:01:13 06:30:00")
    let probe = try PictureFile(Crop(keepsMetadata: true).apply(to: file).bytes).probe
    #expect(probe.orientation == .upright && probe.exif?.dateTime == "2021:01:13 06:30:00")
  }

  @Test func `rotations after a mirror are applied in their order`() throws {
    let turns = [box("imir", [1]), box("irot", [1]), box("imir", [0]), box("irot", [3])]

    let made = try Self.whole(.still(.colour, (64, 64), turns))

    var expected = try Self.whole(.still(.colour)).upright(from: .mirrored)
    expected = try expected.upright(from: .turnedRight).upright(from: .flipped)
    #expect(try made == expected.upright(from: .turnedLeft))
  }

  @Test func `only the clean aperture is read`() throws {
    let numbers = [40, 1, 30, 1, -4, 1, 5, 1].flatMap { big($0, 4) }
    let file = try PictureFile(heic([.still(.colour, (64, 64), [box("clap", numbers)])]))

    let made = try rgba(decoded(file.bytes))

    let shown = PixelRegion(x: 8, y: 22, width: 40, height: 30)
    #expect(file.probe.width == 40 && file.probe.height == 30)
    #expect(made == (try Self.whole(.still(.colour))).part(shown))
  }

  @Test func `alpha is a separate picture, and becomes white in a JPEG`() throws {
    var alpha = HEIFItem.still(.grey, (64, 64), [])
    alpha.properties.append(
      box("auxC", version: 0, Array("urn:mpeg:hevc:2015:auxid:1\0".utf8))
    )
    alpha.references = [("auxl", [1])]
    let file = try PictureFile(heic([.still(.colour), alpha]))

    let made = try Bitmap(decoding: file)

    #expect(made.layout == .rgba && file.probe.channels == 4)
    let found = (0..<64 * 64).map { made.samples[$0 * 4 + 3] }
    let worst = zip(found, Self.light).map { abs(Int($0) - Int($1)) }.max() ?? 0
    #expect(worst < 40 && Set(found).count > 60)
    #expect(try PictureFile(Crop().apply(to: file).bytes).probe.channels == 3)
    #expect(try PictureFile(Crop(format: .webp).apply(to: file).bytes).probe.channels == 4)
  }

  @Test func `a colour box sets the range, and colours are kept`() throws {
    let narrow = try Self.whole(.still(.colour, (64, 64), [Self.colour(0, 1, 6)]))
    let full = try Self.whole(.still(.colour, (64, 64), [Self.colour(0x80, 1, 6)]))
    let wide = try PictureFile(heic([.still(.colour, (64, 64), [Self.colour(0x80, 12, 6)])]))
    let profile = [UInt8](repeating: 0, count: 16) + Array("RGB ".utf8) + [1, 2, 3]
    let own = box("colr", Array("prof".utf8) + profile)
    let named = try PictureFile(heic([.still(.colour, (64, 64), [own])]))

    #expect(largestDifference(narrow, full) > 5)
    let made = try PictureFile(Crop().apply(to: wide).bytes)
    #expect(made.probe.structure.profile.count > 128)
    let avif = try PictureFile(Crop(format: .avif).apply(to: wide).bytes)
    #expect((avif.probe.structure as? AVIFHeader)?.colour.primaries == 12)
    let kept = try PictureFile(Crop().apply(to: named).bytes)
    #expect(kept.probe.structure.profile == profile)
  }

  @Test func `XMP is kept on request and gives a date`() throws {
    let packet = Array("<x:xmpmeta><exif:DateTimeOriginal>2020</exif:DateTimeOriginal>".utf8)
    let xmp = HEIFItem(
      type: "mime",
      data: packet,
      references: [("cdsc", [1])],
      more: Array("application/rdf+xml\0".utf8)
    )
    let file = try PictureFile(heic([.still(.colour), xmp]))

    let made = try PictureFile(Crop(keepsMetadata: true).apply(to: file).bytes)

    #expect(file.probe.structure.xmp == packet)
    #expect(made.probe.structure.xmp == packet)
  }

  @Test func `a HEIC is known by its brands, and is not accepted as a shop's picture`() {
    let bytes = heic([.still(.colour)])

    #expect(PictureFormat(sniffing: bytes) == .heic)
    #expect(PictureFormat(sniffing: heic([.still(.colour)], brand: "mif1")) == .heic)
    #expect(PictureFormat(shown: bytes) == nil)
  }

  @Test func `a file truncated anywhere is refused, and never read beyond its end`() throws {
    let whole = heic([.grid(1, 2, (64, 100), of: [2, 2])] + [.still(.colour)])

    #expect(throws: Never.self) { try decoded(whole) }
    for count in 12..<whole.count {
      #expect(throws: ImagingError.self, "\(count)") { try decoded(Array(whole.prefix(count))) }
    }
  }

  @Test(arguments: AVIFTests.appended)
  func `bytes after a HEIC that are no box are ignored`(_ more: [UInt8]) throws {
    let bytes = heic([.still(.colour)])

    #expect(try isSame(decoded(bytes + more), decoded(bytes)))
  }

  @Test func `a file with a changed byte is an error or a picture`() {
    let whole = heic([.grid(1, 2, (64, 100), of: [2, 3])] + [.still(.colour), .still(.colour)])
    for place in 8..<whole.count {
      var bytes = whole
      bytes[place] = [0, 0x7F, 0xFF][place % 3]
      _ = try? decoded(bytes)
    }
  }

  @Test(arguments: [
    // The declared size is larger than that of the data, then smaller, and then the data is invalid.
    heic([.still(.colour, (640, 640))]), heic([.still(.colour, (8, 8))]),
    heic([.still(.colour, (0, 64))]), heic([HEIFItem(type: "hvc1")]),
    // These grids have too few tiles, too many tiles, themselves as a tile, and missing tiles.
    heic([.grid(2, 2, (100, 100), of: [2, 2, 2]), .still(.colour)]),
    heic([.grid(2, 2, (64, 64), of: [2, 2, 2, 2]), .still(.colour)]),
    heic([.grid(1, 1, (64, 64), of: [1])]), heic([.grid(1, 1, (64, 64), of: [9])]),
    // The only tile is much larger than the picture.
    heic([.grid(1, 1, (4, 4), of: [2]), .still(.colour, (60_000, 2000))]),
  ])
  func `a malformed file is refused`(_ bytes: [UInt8]) {
    #expect(throws: ImagingError.self) { try decoded(bytes) }
  }

  @Test func `size and tiles are checked before any pixel`() throws {
    let vast = heic([.still(.colour, (100_000, 100_000))])
    let many = heic([.grid(256, 256, (16_384, 16_384), of: Array(repeating: 2, count: 65_536 / 2))]
    )

    #expect { try PictureFile(vast) } throws: { ($0 as? ImagingError)?.code == .tooLarge }
    #expect(throws: ImagingError.self) { try PictureFile(many) }
  }

  @Test func `a video without a still, or another kind of picture, is reported`() {
    let film = box("ftyp", Array("hevc\0\0\0\0hevc".utf8)) + box("moov", [])
    let other = heic([HEIFItem(type: "avc1", properties: [HEIFItem.extents(4, 4)])])

    #expect { try PictureFile(film) } throws: { "\($0)".contains("video") }
    #expect { try PictureFile(other) } throws: { "\($0)".contains("avc1") }
  }
}
