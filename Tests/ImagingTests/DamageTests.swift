import Support
import Testing

@testable import Imaging

/// JPEGs and PNGs that are truncated or have a changed byte.
struct DamageTests {
  @Test(arguments: JPEGKind.all, [Crop(), Crop(lossless: true), Crop(size: 16)])
  func `a JPEG truncated anywhere is an error or marked as damaged`(_ kind: JPEGKind, _ crop: Crop)
    throws
  {
    let bytes = kind.bytes(width: 35, height: 24)
    #expect(try !crop.apply(to: PictureFile(bytes)).isDamaged)
    let part = kind.name.utf8.count + (crop.lossless ? 1 : 0) + (crop.size ?? 0)
    for count in Sweep.places(bytes.count, part: part, step: 9) {
      guard let file = try? PictureFile(Array(bytes[..<count])),
        let square = try? crop.apply(to: file)
      else { continue }

      #expect(square.isDamaged, "cut at \(count) of \(bytes.count)")
    }
  }

  @Test(arguments: PNGKind.all)
  func `a PNG truncated anywhere is an error`(_ kind: PNGKind) throws {
    let bytes = try kind.bytes(width: 14, height: 9)
    for count in 0..<bytes.count {
      #expect(throws: ImagingError.self, "cut at \(count) of \(bytes.count)") {
        try Crop().apply(to: PictureFile(Array(bytes[..<count])))
      }
    }
  }

  @Test(arguments: PNGKind.all)
  func `a PNG with a changed byte is an error or has the same samples`(_ kind: PNGKind) throws {
    let bytes = try kind.bytes(width: 14, height: 9)
    let whole = try Crop().apply(to: PictureFile(bytes))
    for index in bytes.indices {
      var broken = bytes
      broken[index] ^= 0x55
      guard let square = try? Crop().apply(to: PictureFile(broken)) else { continue }

      // Only data besides the samples may be lost, such as the transparent colour of a tRNS chunk.
      let made = try native(square.bytes)
      #expect(made.samples == (try native(whole.bytes)).samples, "byte \(index)")
    }
  }

  @Test(arguments: JPEGKind.all)
  func `a JPEG with a changed byte never crashes the process`(_ kind: JPEGKind) throws {
    let bytes = kind.bytes(width: 35, height: 24, segments: exifSegment(tiff(orientation: 6)))
    for (part, change) in ([0x01, 0x80, 0xFF] as [UInt8]).enumerated() {
      for index in Sweep.places(bytes.count, part: part + kind.name.utf8.count, step: 9) {
        var broken = bytes
        broken[index] ^= change
        guard let file = try? PictureFile(broken, limits: PictureLimits(pixels: 100_000)) else {
          continue
        }
        for crop in [
          Crop(limits: PictureLimits(pixels: 100_000)), Crop(lossless: true),
        ] {
          _ = try? crop.apply(to: file)
        }
      }
    }
  }
}
