import Support
import Testing

@testable import Imaging

struct GIFTests {
  @Test(arguments: GIFKind.all, [(31, 22), (22, 31), (1, 1), (3, 9)])
  func `the first frame of a GIF becomes a PNG, sample for sample`(
    _ kind: GIFKind,
    _ size: (Int, Int)
  ) throws {
    let file = try PictureFile(kind.bytes(width: size.0, height: size.1))

    let square = try Crop(gravity: .topLeft).apply(to: file)

    #expect(square.format == .png && square.method == .lossless && !square.isDamaged)
    let made = try rgba(decoded(square.bytes))
    let indices = kind.indices(width: size.0, height: size.1)
    for y in 0..<made.height {
      for x in 0..<made.width {
        let (column, row) = (x - kind.place.x, y - kind.place.y)
        guard (0..<size.0).contains(column), (0..<size.1).contains(row) else {
          #expect(made[x, y][3] == 0)
          continue
        }
        let index = indices[row * size.0 + column]
        #expect(made[x, y][3] == (index == kind.clear ? 0 : 255))
        if index == kind.clear { continue }
        let colour = kind.colours[Int(index) * 3..<Int(index) * 3 + 3].map(UInt16.init)
        #expect(Array(made[x, y].prefix(3)) == colour)
      }
    }
  }

  @Test(arguments: [2, 3, 5, 8, 9, 10, 11], [false, true])
  func `codes of every size are read, even if the table of strings is full`(
    _ size: Int,
    _ isInterlaced: Bool
  ) throws {
    let bits = min(size, 8)
    let kind = GIFKind(bits: bits, isInterlaced: isInterlaced, codeSize: size)
    // The first rows have short strings, and the last rows have long ones.
    let disorder = noise(160 * 100, depth: 8, below: 1 << bits)
    let runs: [UInt8] = (0..<160 * 60).map { place in UInt8(place / 50 % (1 << bits)) }
    let indices = disorder + runs
    let bytes = kind.bytes(indices, width: 160, height: 160)

    let file = try PictureFile(bytes)
    let made = try native(Crop().apply(to: file).bytes)
    let small = try Crop(size: 40).apply(to: file)

    #expect(made.layout == .indexed(Bitmap.Palette(colours: kind.colours)))
    #expect(made.samples == indices)
    #expect(small.width == 40 && !small.isDamaged)
  }

  @Test func `codes of more than 12 bits, and codes without a string, are damage`() throws {
    let whole = GIFKind(bits: 2).bytes([0, 0, 0, 0], width: 2, height: 2)
    // The last seven bytes are the codes and the trailer.
    let head = Array(whole.dropLast(7))
    // The second list has the clear code 4, and the codes 0, 7, 0 and 0 of 3 bits. No string has the number 7 yet.
    for codes: [UInt8] in [[12, 2, 0, 0, 0], [2, 2, 0xC4, 0x01, 0]] {
      let file = try PictureFile(head + codes + [0x3B])

      #expect {
        try Crop().apply(to: file)
      } throws: {
        ($0 as? ImagingError)?.code == .damagedPicture
      }
    }
  }

  @Test func `a GIF that covers its screen keeps its palette`() throws {
    let kind = GIFKind(bits: 2)
    let square = try Crop().apply(to: PictureFile(kind.bytes(width: 30, height: 20)))

    let made = try native(square.bytes)

    #expect(made.depth == 2)
    #expect(made.layout == .indexed(Bitmap.Palette(colours: kind.colours)))
  }

  @Test func `a GIF with margins gets alpha if no index is transparent`() throws {
    let kind = GIFKind(screen: (20, 20), place: (x: 2, y: 3), bits: 8)
    let indices = (0..<256).map { UInt8($0) }

    let made = try native(
      Crop().apply(to: PictureFile(kind.bytes(indices, width: 16, height: 16))).bytes
    )

    #expect(made.layout == .rgba && made[0, 0] == [0, 0, 0, 0])
    #expect(made[2, 3] == kind.colours[..<3].map(UInt16.init) + [255])
  }

  @Test
  func `a frame outside the screen enlarges it, and an index without a colour is black`()
    throws
  {
    let wide = GIFKind(screen: (10, 10), place: (x: 4, y: 0))
    #expect(try PictureFile(wide.bytes(width: 20, height: 12)).probe.width == 24)
    // The codes have two bits, but there are colours for one bit only.
    var few = GIFKind(bits: 1).bytes([3, 0, 1, 0], width: 2, height: 2)
    few = few.map { $0 }
    let made = try rgba(decoded(Crop().apply(to: PictureFile(few)).bytes))
    #expect(made[0, 0] == [0, 0, 0, 255])
  }

  private static let kinds =
    GIFKind.all + [
      GIFKind(
        name: "interlaced part, nothing clear",
        screen: (40, 230),
        place: (x: 5, y: 7),
        isInterlaced: true
      ),
      GIFKind(name: "beside the region", screen: (90, 230), place: (x: 60, y: 1), clear: 1),
      GIFKind(name: "256 colours, interlaced", bits: 8, clear: 9, isInterlaced: true),
    ]

  @Test(arguments: kinds, [PixelSize(width: 9, height: 17), PixelSize(width: 40, height: 300)])
  func `a scaled region of a GIF equals that region of the picture, scaled`(
    _ kind: GIFKind,
    _ size: PixelSize
  ) throws {
    let file = try PictureFile(kind.bytes(width: 31, height: 203))
    let stored = file.probe.stored
    let limits = PictureLimits()
    for region in [
      PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height),
      PixelRegion(x: 3, y: 6, width: 25, height: 190),
      PixelRegion(x: 2, y: 1, width: 8, height: 5),
    ] {
      let whole = try file.part(region, limits).converted { .expanded($0) }
      let inStrips = try whole.scaled(
        width: size.width,
        height: size.height,
        strip: 1,
        limits: limits.named("x")
      )

      func scaled(_ strip: Int?) throws(ImagingError) -> Bitmap {
        let scaling = RowRequest.Scaling(window: region.size, size: size)
        let request = RowRequest(region: region, scaling: scaling)
        return try file.withRows(request, limits) { (rows) throws(ImagingError) in
          try ScaledRows(rows.source, to: size, strip: strip, limits.named("x"))
            .collected(limits.named("x"))
        }
      }
      let (made, small) = (try scaled(nil), try scaled(1))

      let expected = try whole.scaled(
        width: size.width,
        height: size.height,
        limits: limits.named("x")
      )
      #expect(made == expected, "\(region)")
      #expect(small.layout == inStrips.layout)
      #expect(largestDifference(small, inStrips) <= 1, "\(region)")
    }
  }

  @Test(arguments: kinds.filter { !$0.isAnimated })
  func `a GIF that is broken after the kept part is refused`(_ kind: GIFKind) throws {
    let bytes = kind.bytes(width: 14, height: 120)
    // The block's length is missing, so the codes end here.
    let cut = bytes.count - 40
    let broken = try PictureFile(Array(bytes[..<cut]) + [0, 0x3B])

    for size in [nil, 4] {
      #expect {
        try Crop(size: size, gravity: .top).apply(to: broken)
      } throws: {
        ($0 as? ImagingError)?.code == .damagedPicture
      }
    }
  }

  @Test(arguments: GIFKind.all)
  func `a GIF truncated anywhere is an error or marked as damaged`(_ kind: GIFKind) throws {
    let bytes = kind.bytes(width: 14, height: 9)
    for count in 0..<bytes.count {
      guard let file = try? PictureFile(Array(bytes[..<count])),
        let square = try? Crop().apply(to: file)
      else { continue }

      #expect(square.isDamaged, "cut at \(count) of \(bytes.count)")
      #expect(try native(square.bytes) == native(Crop().apply(to: PictureFile(bytes)).bytes))
    }
  }

  @Test(arguments: GIFKind.all)
  func `data that is no block ends a GIF, as in browsers`(_ kind: GIFKind) throws {
    let bytes = kind.bytes(width: 14, height: 9)
    let made = try Crop().apply(to: PictureFile(bytes.dropLast() + [0, 1, 2, 3, 0x3B]))

    #expect(!made.isDamaged)
    #expect(try made.bytes == Crop().apply(to: PictureFile(bytes)).bytes)
  }

  @Test(arguments: GIFKind.all)
  func `a GIF with a changed byte never crashes the process`(_ kind: GIFKind) throws {
    let bytes = kind.bytes(width: 14, height: 9)
    let limits = PictureLimits(pixels: 100_000)
    for (index, change) in Sweep.pairs(Array(bytes.indices), [0x01, 0x80, 0xFF] as [UInt8]) {
      var broken = bytes
      broken[index] ^= change
      guard let file = try? PictureFile(broken, limits: limits) else { continue }
      if let made = try? Crop(limits: limits).apply(to: file) {
        _ = try decoded(made.bytes)
      }
    }
  }

  @Test(arguments: [false, true])
  func `the rows of an interlaced GIF count twice as memory, as they are put in order`(
    _ isInterlaced: Bool
  ) throws {
    let kind = GIFKind(bits: 2, isInterlaced: isInterlaced)
    let file = try PictureFile(kind.bytes(width: 40, height: 30))
    for (memory, isEnough) in [(1199, false), (1200, !isInterlaced), (2400, true)] {
      let made = try? file.bytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in
        try GIFBlocks(file.bytes, PictureLimits().named("x"))
          .indices(in: bytes, PictureLimits(pixels: 150_000_000, memory: memory).named("x"))
      }

      #expect((made != nil) == isEnough)
    }
  }

  @Test func `a GIF with more pixels than allowed is refused before decoding`() throws {
    for kind in [
      GIFKind(screen: (65_535, 65_535)), GIFKind(place: (x: 65_000, y: 65_000)),
    ] {
      let bytes = kind.bytes(width: 4, height: 4)
      #expect { try PictureFile(bytes) } throws: { ($0 as? ImagingError)?.code == .tooLarge }
    }
  }
}
