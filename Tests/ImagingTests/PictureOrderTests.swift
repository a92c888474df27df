import Glibc
import SystemPackage
import Testing

@testable import Imaging

/// The `PictureOrder` that tells a worker process how to make a picture, and the process's limits.
struct PictureOrderTests {
  private static var crop: Crop {
    var crop = Crop(
      size: 90,
      gravity: .topLeft,
      format: .avif,
      quality: 71,
      lossless: true,
      keepsMetadata: true,
      limits: PictureLimits(
        pixels: 1,
        side: 2,
        scans: 3,
        scannedPixels: 4,
        metadataBytes: 5,
        fileBytes: 6,
        memory: 7,
        decoding: 8
      )
    )
    (crop.fit, crop.enlarges, crop.background) = (.contain, false, PictureColour("#12345678"))
    (crop.isProgressive, crop.chroma, crop.convertsToSRGB) = (true, .half, true)
    crop.heldBytes = 9
    return crop
  }

  @Test func `a crop is decoded as it was encoded`() throws {
    let order = try PictureOrder(wire: PictureOrder(Self.crop).wire)

    let made = try #require(order.making as? Crop)
    #expect(made == Self.crop)
    // No property has its default value, so that a forgotten one is detected.
    for (value, usual) in zip(
      Mirror(reflecting: made).children,
      Mirror(reflecting: Crop()).children
    ) {
      #expect("\(value.value)" != "\(usual.value)", "\(value.label ?? "")")
    }
  }

  @Test func `a stamp is decoded as it was encoded, except for its clock`() throws {
    var stamp = Stamp(crop: Self.crop, time: .given(instant: 1_610_519_400, offset: 32_400))
    stamp.zone = try Zone(named: "Europe/Lisbon")
    stamp.localZone = try Zone(named: "Asia/Seoul")
    stamp.locale = try StampLocale("ko_KR")
    stamp.template = try StampTemplate("{time}\\n{weekday}, {date} {time12}")
    stamp.text = "해 뜨기 전"
    let logo = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 7, height: 5)
    stamp.logo = try PictureFile(logo, name: "logo.png")
    (stamp.style, stamp.place, stamp.font) = (.scrim, .right, "Sans")
    stamp.fontFamily = "Serif"

    let order = try PictureOrder(wire: PictureOrder(stamp).wire)

    let made = try #require(order.making as? Stamp)
    let fields = Mirror(reflecting: stamp).children.compactMap(\.label).filter { $0 != "now" }
    #expect(Stamp.CodingKeys.allCases.map(\.stringValue).sorted() == fields.sorted())
    for field in fields {
      func text(_ stamp: Stamp) -> String {
        "\(Mirror(reflecting: stamp).descendant(field) ?? "nothing")"
      }
      #expect(text(made) == text(stamp), "\(field)")
      #expect(text(made) != text(Stamp()), "\(field)")
    }
  }

  @Test func `a picture's processor time limit grows with its declared pixels`() throws {
    func seconds(_ width: Int, _ height: Int, _ crop: Crop = Crop()) throws -> Double {
      let bytes = try PNGKind(name: "", layout: .grey, depth: 8).bytes(
        width: width,
        height: height
      )
      return PictureOrder(crop).seconds(for: try PictureFile(bytes).probe)
    }

    let least = PictureOrder.secondsForHeader
    let small = try seconds(40, 84)

    // The limit is ten times as high in a debug build.
    #expect(least == 0.5 || least == 5)
    #expect(small > least && small < least * 1.1)
    #expect(try seconds(1000, 1000) > least * 2)
    #expect(try seconds(40, 84, Crop(size: 1000)) > least * 1.9)
    // Encoding an AVIF takes up to 2 seconds for a megapixel.
    #expect(try seconds(40, 84, Crop(size: 1000, format: .avif)) > least * 16)
    #expect(PictureOrder(Crop()).mostSeconds > 100 * least)
    #expect(PictureOrder(Crop(format: .avif)).mostSeconds > 800 * least)
  }

  @Test func `results and errors are decoded as they were encoded`() throws {
    let summary = EncodedPicture.Summary(
      format: .webp,
      width: 4,
      height: 5,
      method: .lossless,
      shift: EncodedPicture.Shift(x: 6, y: -7),
      isDamaged: true,
      gravity: EncodedPicture.Point(x: 8, y: 9),
      time: try StampTime(Stamp(time: .given(instant: 10, offset: 3600)), name: ""),
      remarks: [.faintText, .noGamma]
    )
    let error = ImagingError(.tooLarge, "cannot", remedy: .morePixels)

    let answer = WorkerChannel.Message(kind: .made, text: summary.text)
    let refusal = WorkerChannel.Message(kind: .failed, text: error.text)

    #expect(try EncodedPicture.Summary(text: answer.text) == summary)
    #expect(try ImagingError(text: refusal.text) == error)
  }
}
