import Testing

@testable import Imaging

/// Pictures that declare or need too much memory.
struct LimitTests {
  private static let end = chunk("IEND", [])
  private static let start = Array(segment(0xDB, [0] + [UInt8](repeating: 1, count: 64)))

  private static func frame(_ width: Int, _ height: Int) -> [UInt8] {
    segment(
      0xC2,
      [
        8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255), 1, 1,
        0x11, 0,
      ]
    )
  }

  private static let scan = segment(0xDA, [1, 1, 0, 0, 0, 0])

  private static let megabyte = (try? packedZeros(1 << 20)) ?? []

  struct Bomb: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let code: ImagingError.Code
  }

  static let bombs = [
    Bomb(
      testDescription: "a PNG of 57 bytes that says 65,535 × 65,535",
      bytes: pngSignature + header(65_535, 65_535) + chunk("IDAT", []) + end,
      code: .tooLarge
    ),
    Bomb(
      testDescription: "a PNG of few bytes that says 7,000 × 7,000",
      bytes: pngSignature + header(7000, 7000, depth: 16, type: 6) + chunk("IDAT", [1, 2, 3])
        + end,
      code: .damagedPicture
    ),
    Bomb(
      testDescription: "a PNG of 150 million pixels and more",
      bytes: pngSignature + header(15_000, 10_001) + end,
      code: .tooLarge
    ),
    Bomb(
      testDescription: "a PNG text that says it has 2 GB",
      bytes: pngSignature + header(9, 9) + [0x7F, 0xFF, 0xFF, 0xFF] + Array("tEXt".utf8) + [
        65, 0,
      ],
      code: .damagedPicture
    ),
    Bomb(
      testDescription: "a PNG of much text",
      bytes: pngSignature + header(9, 9)
        + chunk("zTXt", [UInt8](repeating: 65, count: 1 << 20)) + end,
      code: .tooLarge
    ),
    Bomb(
      testDescription: "a PNG whose profile unpacks to a megabyte",
      bytes: pngSignature + header(9, 9) + chunk("iCCP", Array("p\0\0".utf8) + megabyte) + end,
      code: .tooLarge
    ),
    Bomb(
      testDescription: "a JPEG of few bytes that says 7,000 × 7,000",
      bytes: [0xFF, 0xD8] + start
        + segment(0xC0, [8, 0x1B, 0x58, 0x1B, 0x58, 1, 1, 0x11, 0]) + scan + [0, 0, 0xFF, 0xD9],
      code: .damagedPicture
    ),
    Bomb(
      testDescription: "a PNG without a size",
      bytes: pngSignature + header(0, 9) + end,
      code: .damagedPicture
    ),
    Bomb(
      testDescription: "a JPEG that says 65,535 × 65,535",
      bytes: [0xFF, 0xD8] + start + frame(65_535, 65_535) + scan + [0xFF, 0xD9],
      code: .tooLarge
    ),
    Bomb(
      testDescription: "a JPEG of thousands of empty scans",
      bytes: [0xFF, 0xD8] + start + frame(64, 64)
        + (0..<5000).flatMap { _ in scan } + [0xFF, 0xD9],
      code: .tooLarge
    ),
    Bomb(
      testDescription: "a JPEG of many scans of many pixels",
      bytes: [0xFF, 0xD8] + start + frame(7000, 7000) + (0..<21).flatMap { _ in scan }
        + [0xFF, 0xD9],
      code: .tooLarge
    ),
    Bomb(
      testDescription: "a JPEG of many notes",
      bytes: [0xFF, 0xD8]
        + (0..<20).flatMap { _ in segment(0xFE, [UInt8](repeating: 65, count: 60_000)) }
        + start + frame(8, 8) + scan + [0xFF, 0xD9],
      code: .tooLarge
    ),
    Bomb(
      testDescription: "a JPEG without a frame",
      bytes: [0xFF, 0xD8] + scan,
      code: .damagedPicture
    ),
    Bomb(
      testDescription: "a JPEG of its first bytes",
      bytes: [0xFF, 0xD8, 0xFF],
      code: .damagedPicture
    ),
    Bomb(testDescription: "nothing", bytes: [], code: .unsupported),
    Bomb(testDescription: "a page", bytes: Array("<html>not found".utf8), code: .unsupported),
  ]

  @Test(arguments: bombs) func `a bomb is refused before any pixel`(_ bomb: Bomb) {
    #expect {
      try PictureProbe(
        bomb.bytes,
        limits: PictureLimits(pixels: 150_000_000, metadataBytes: 1 << 19)
      )
    } throws: { error in
      (error as? ImagingError)?.code == bomb.code
    }
  }

  @Test func `excess PNG data after the last row is refused, much of it without unpacking`()
    throws
  {
    let zeros = try packedZeros(1 << 16)
    for (rest, words) in [(0, "too much image data"), (1 << 15, "data after the last row")] {
      let data = zeros + [UInt8](repeating: 0, count: rest)
      let bytes = pngSignature + header(40, 2) + chunk("IDAT", data) + Self.end
      let error = #expect(throws: ImagingError.self) {
        try Crop().apply(to: PictureFile(bytes))
      }
      #expect(error?.code == .damagedPicture)
      #expect(
        error?.description.lowercased().contains(words) == true,
        "\(String(describing: error))"
      )
    }
  }

  @Test(arguments: [nil, 300])
  func
    `coefficients in memory take room only if they are not zero, and never more than is allowed`(
      _ size: Int?
    ) throws
  {
    // All coefficients together take 1,108,992 bytes.
    let crop = Crop(size: size, limits: PictureLimits(pixels: 150_000_000, memory: 500_000))
    func bytes(_ samples: [UInt8]) -> [UInt8] {
      JPEGKind(name: "", isProgressive: true)
        .bytes(samples: samples, width: 600, height: 600, quality: 95)
    }
    let smooth = bytes(wave(width: 600, height: 600, channels: 3, length: 9))
    let disorder = bytes(noise(600 * 600 * 3, depth: 8))

    let square = try crop.apply(to: PictureFile(smooth))

    #expect(square.width == size ?? 600 && !square.isDamaged)
    #expect { try crop.apply(to: PictureFile(disorder)) } throws: { error in
      (error as? ImagingError)?.code == .tooLarge
    }
  }

  @Test(arguments: [false, true])
  func `a PNG that runs out of memory is too large and never damaged`(
    _ isInterlaced: Bool
  ) throws {
    let picture = Bitmap(
      width: 40,
      height: 30,
      layout: .rgb,
      depth: 8,
      samples: noise(3600, depth: 8)
    )
    let encoded = try PNGCodec.encode(
      BitmapRows(picture),
      interlaced: isInterlaced,
      PictureLimits().named("it")
    )
    .bytes()
    let file = try PictureFile(encoded)
    let whole = PixelRegion(x: 0, y: 0, width: 40, height: 30)
    var refusals = 0
    func recoded(_ limits: PictureLimits) throws(ImagingError) -> [UInt8] {
      try file.withRows(RowRequest(region: whole), limits) { (rows) throws(ImagingError) in
        try PNGCodec.encode(rows.source, PictureLimits().named("it")).bytes()
      }
    }

    for memory in stride(from: 4000, through: 400_000, by: 1000) {
      let limits = PictureLimits(pixels: 150_000_000, memory: memory)
      do throws(ImagingError) {
        let read = try file.part(whole, limits)
        #expect(read.samples == picture.samples)
      } catch {
        refusals += 1
        #expect(error.code == .tooLarge, "\(error)")
      }
      do throws(ImagingError) {
        _ = try recoded(limits)
      } catch {
        #expect(error.code == .tooLarge, "\(error)")
      }
    }

    #expect((1..<300).contains(refusals))
    #expect(throws: Never.self) { try recoded(PictureLimits()) }
  }
}
