import Support
import Testing

@testable import Imaging

struct AVIFTests {
  @Test(arguments: [(31, 22), (22, 31), (1, 1), (1, 9), (64, 64)], [false, true])
  func `a lossless AVIF is read sample for sample`(_ size: (Int, Int), _ isClear: Bool) throws {
    let source = colours(width: size.0, height: size.1, isClear: isClear)
    let file = try PictureFile(AVIFKind(isClear: isClear).bytes(source))
    let crop = Crop(gravity: .bottomRight, format: .png)

    let square = try crop.apply(to: file)

    #expect(square.format == .png && square.method == .lossless)
    #expect(try rgba(decoded(square.bytes)) == source.part(crop.framing(file.probe).window))
  }

  @Test(arguments: AVIFKind.all)
  func `any region of an AVIF equals that of the whole picture`(_ kind: AVIFKind) throws {
    let file = try PictureFile(kind.bytes(width: 61, height: 47))
    let whole = try file.part(PixelRegion(x: 0, y: 0, width: 61, height: 47))

    for (x, y, width, height) in [(7, 0, 47, 47), (13, 5, 20, 31), (60, 46, 1, 1)] {
      let region = PixelRegion(x: x, y: y, width: width, height: height)
      let part = try file.part(region)

      #expect(part == whole.part(region), "\(region)")
    }
  }

  @Test(arguments: AVIFKind.all)
  func `an AVIF stays an AVIF of the same depth and channels`(_ kind: AVIFKind) throws {
    let file = try PictureFile(kind.bytes(width: 70, height: 50))

    let square = try Crop(quality: 95).apply(to: file)

    let made = try PictureFile(square.bytes)
    #expect(square.format == .avif && square.method == .reencoded && square.width == 50)
    #expect(made.probe.depth == file.probe.depth && made.probe.channels == file.probe.channels)
    #expect(made.probe.orientation == .upright)
    let exact = try Crop(format: .png).apply(to: file)
    #expect(try psnr(rgba(decoded(square.bytes)), rgba(decoded(exact.bytes))) > 33)
  }

  @Test(arguments: 0..<4, -1..<2)
  func `an AVIF is rotated and mirrored by its boxes, not by its EXIF data`(
    _ angle: Int,
    _ mirror: Int
  ) throws {
    let source = colours(width: 19, height: 12)
    let kind = AVIFKind(
      angle: angle,
      mirror: mirror,
      exif: tiff(orientation: 6, dateTime: "2021:01:13 06:30:00")
    )
    let file = try PictureFile(kind.bytes(source))

    let made = try rgba(decoded(file.bytes))

    // The quarter turns to the left come first, and then the mirror. (ISO/IEC 23008-12, 6.5.10 and 6.5.12)
    var expected = source
    for _ in 0..<angle { expected = try expected.upright(from: .turnedRight) }
    if mirror >= 0 { expected = try expected.upright(from: mirror == 0 ? .flipped : .mirrored) }
    #expect(made == expected)
    #expect(file.probe.exif?.dateTime == "2021:01:13 06:30:00")
    let square = try Crop(keepsMetadata: true).apply(to: file)
    let probe = try PictureFile(square.bytes).probe
    #expect(probe.exif?.orientation == .upright && probe.orientation == .upright)
    #expect(probe.exif?.dateTime == "2021:01:13 06:30:00")
  }

  @Test func `only the clean aperture of an AVIF is read`() throws {
    let source = colours(width: 64, height: 48)
    let shown = PixelRegion(x: 10, y: 6, width: 40, height: 30)
    let file = try PictureFile(AVIFKind(shown: shown).bytes(source))

    #expect(file.probe.width == 40 && file.probe.height == 30)
    #expect(try rgba(decoded(file.bytes)) == source.part(shown))
    let square = try Crop(gravity: .right, format: .png).apply(to: file)
    let expected = source.part(PixelRegion(x: 20, y: 6, width: 30, height: 30))
    #expect(try rgba(decoded(square.bytes)) == expected)
  }

  @Test(arguments: AVIFKind.all)
  func `an AVIF truncated anywhere is an error`(_ kind: AVIFKind) throws {
    let bytes = kind.bytes(width: 16, height: 12)
    _ = try Crop(format: .png).apply(to: PictureFile(bytes))
    for count in 0..<bytes.count {
      #expect(throws: ImagingError.self, "cut at \(count) of \(bytes.count)") {
        try Crop(format: .png).apply(to: PictureFile(Array(bytes[..<count])))
      }
    }
  }

  /// Bytes that some programs append, and that are no box.
  static let appended: [[UInt8]] = [
    [10], Array(repeating: 10, count: 7), Array("a text that is no box\n".utf8),
    [0, 0, 0, 3] + Array("free".utf8), [0, 0, 0, 1] + Array("free".utf8) + [255],
    [0, 0, 0, 1] + Array("free".utf8) + Array(repeating: 255, count: 8),
  ]

  @Test(arguments: appended)
  func `bytes after an AVIF that are no box are ignored`(_ more: [UInt8]) throws {
    let bytes = AVIFKind().bytes(width: 16, height: 12)
    let crop = Crop(format: .png)

    let made = try crop.apply(to: PictureFile(bytes + more))

    #expect(try made.bytes == crop.apply(to: PictureFile(bytes)).bytes)
  }

  @Test(arguments: AVIFKind.all)
  func `an AVIF with a changed byte never crashes the process`(_ kind: AVIFKind) throws {
    let limits = PictureLimits(pixels: 100_000)
    let bytes = kind.bytes(width: 16, height: 12)
    for (part, change) in ([0x01, 0x80, 0xFF] as [UInt8]).enumerated() {
      for index in Sweep.places(bytes.count, part: part, step: 9) {
        var broken = bytes
        broken[index] ^= change
        guard let file = try? PictureFile(broken, limits: limits) else { continue }
        _ = try? Crop(format: .png, limits: limits).apply(to: file)
      }
    }
  }

  @Test func `an AVIF whose decoder would take too much memory is refused in advance`() throws {
    // dav1d takes 1 + 3.5 × 3 bytes per pixel for three planes of 8 bits.
    let file = try PictureFile(AVIFKind().bytes(width: 40, height: 30))
    let enough = 40 * 30 * 23 / 2
    _ = try Crop(limits: PictureLimits(pixels: 150_000_000, decoding: enough)).apply(to: file)

    let refusal = #expect(throws: ImagingError.self) {
      try Crop(limits: PictureLimits(pixels: 150_000_000, decoding: enough - 1)).apply(to: file)
    }
    #expect(refusal?.code == .tooLarge && refusal?.description.contains("13800") == true)
  }

  @Test func `the decoder's memory limit grows with the pixels allowed`() {
    #expect(PictureLimits.allowing(pixels: 100_000_000).decoding == 5_900_000_000)
    #expect(PictureLimits.allowing(pixels: 1).decoding == PictureLimits().decoding)
  }

  @Test func `an AVIF with more pixels than allowed is refused before decoding`() throws {
    var bytes = AVIFKind().bytes(width: 40, height: 40)
    #expect {
      try PictureFile(bytes, limits: PictureLimits(pixels: 1500))
    } throws: {
      ($0 as? ImagingError)?.code == .tooLarge
    }
    #expect {
      try Crop(limits: PictureLimits(pixels: 150_000_000, memory: 4000)).apply(
        to: PictureFile(bytes)
      )
    } throws: {
      ($0 as? ImagingError)?.code == .tooLarge
    }
    // The boxes declare a larger picture than the data contains.
    let place = try #require(bytes.firstRange(of: Array("ispe".utf8))).upperBound + 4
    for said: [UInt8] in [[0, 1, 0, 0, 0, 1, 0, 0], Array(repeating: 255, count: 8)] {
      bytes.replaceSubrange(place..<place + 8, with: said)
      #expect { try PictureFile(bytes) } throws: { ($0 as? ImagingError)?.code == .tooLarge }
    }
  }
}
