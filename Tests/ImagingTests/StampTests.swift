import Glibc
import SystemPackage
import Testing

@testable import Imaging

/// Stamps: the text and logo that are drawn on pictures.
struct StampTests {
  private static func stamp(_ crop: Crop = Crop()) throws -> Stamp {
    var stamp = Stamp(crop: crop, time: try StampTime.Choice("2021-01-13T06:30:00+09:00"))
    stamp.locale = try StampLocale("ko_KR")
    stamp.localZone = .utc
    return stamp
  }

  private static func plain(_ value: UInt8, side: Int = 300) throws -> Bitmap {
    Bitmap(
      width: side,
      height: side,
      layout: .rgb,
      samples: [UInt8](repeating: value, count: side * side * 3)
    )
  }

  @Test(arguments: PNGKind.all)
  func `every PNG can be stamped and is unchanged outside the stamp`(_ kind: PNGKind) throws {
    let bytes = try kind.bytes(width: 110, height: 100)

    let square = try Self.stamp().apply(to: PictureFile(bytes))

    let made = try native(square.bytes)
    let file = try PictureFile(bytes)
    let expected = try file.part(Crop().framing(file.probe).window).converted(Conversion.coloured)
    #expect(made.depth == max(kind.depth, 8))
    #expect(made.layout == expected.layout)
    let above = PixelRegion(x: 0, y: 0, width: 100, height: 35)
    #expect(part(made, above) == part(expected, above))
    #expect(made.samples != expected.samples)
    #expect(square.time?.description == "2021-01-13T06:30:00+09:00")
  }

  @Test(arguments: JPEGKind.all)
  func `every JPEG can be stamped and becomes a colour one`(_ kind: JPEGKind) throws {
    let bytes = kind.bytes(
      width: 220,
      height: 200,
      segments: exifSegment(tiff(orientation: 6))
    )

    let square = try Self.stamp(Crop(size: 160)).apply(to: PictureFile(bytes))

    let made = try decoded(square.bytes)
    #expect(made.layout == .bgrx)
    #expect(made.width == 160)
    #expect(made.samples.filter { $0 > 240 || $0 < 16 }.count > 300)
  }

  @Test func `CMYK becomes RGB`() throws {
    let ink = Bitmap(
      width: 2,
      height: 1,
      layout: .cmyk,
      samples: [255, 255, 255, 255, 0, 255, 255, 128]
    )

    let light = try ink.through { try $0.inksConverted(profile: [], isInverted: true, name: "x") }

    #expect(light[0, 0].prefix(3).allSatisfy { $0 >= 254 })
    #expect(light[1, 0][2] <= 1)
    #expect(abs(Int(light[1, 0][1]) - 128) <= 2)
  }

  @Test func `a logo is placed across from the text`() throws {
    let logo = Bitmap(
      width: 20,
      height: 10,
      layout: .rgb,
      samples: (0..<200).flatMap { _ in [255, 0, 0] as [UInt8] }
    )
    var stamp = try Self.stamp()
    stamp.logo = try PictureFile(logo.png())

    let made = try decoded(
      stamp.apply(to: PictureFile(try Self.plain(255).png())).bytes
    )

    #expect(made[270, 30] == [255, 0, 0])
    #expect(made[150, 30] == [255, 255, 255])
  }

  @Test(arguments: ["年", "2021년 1월 (수)", "2021年1月13日 (水)", "周三", "A 🌅 é", " "])
  func `every letter is drawn, whichever font has it`(_ text: String) throws {
    let typesetter = try Typesetter(
      family: Stamp().fontFamily,
      language: "en"
    )

    let line = try typesetter.line(text, size: 40, bold: false)
    let narrow = try typesetter.line(String(text.dropLast()), size: 40, bold: false)

    #expect((line.ink.width > narrow.ink.width) == (text != " "))
  }

  @Test func `letters that no font has are an error`() throws {
    var stamp = try Self.stamp()
    stamp.text = "\u{10FFFD}"
    let picture = try PictureFile(try Self.plain(255).png())

    #expect { try stamp.apply(to: picture) } throws: { ($0 as? ImagingError)?.code == .noFont }
  }

  @Test(arguments: [
    ("ko_KR", "2021년 1월 13일 (수)"), ("en", "13 January 2021 (Wed)"),
    ("en_GB.UTF-8", "13 January 2021 (Wed)"), ("C", "13 January 2021 (Wed)"),
    ("ja-JP", "2021年1月13日 (水)"), ("de_DE", "13. Januar 2021 (Mi)"),
    ("fr", "13 janvier 2021 (mer.)"), ("zh_CN", "2021年1月13日 (周三)"),
  ])
  func `dates are written in the style of the language`(_ identifier: String, _ date: String)
    throws
  {
    let civil = CivilTime(seconds: 1_610_487_000, offset: 9 * 3600)

    #expect(try StampLocale(identifier).date(civil) == date)
    #expect(try StampLocale(identifier).time(civil) == "06:30")
  }

  @Test(arguments: [
    ("en_US", "Wed, January 13, 2021", "January 13, 2021", "6:30 AM"),
    ("en-CA", "Wed, January 13, 2021", "January 13, 2021", "6:30 AM"),
    ("en_AU.UTF-8", "13 January 2021 (Wed)", "13 January 2021", "6:30 am"),
    ("es_MX", "13 de enero de 2021 (mié)", "13 de enero de 2021", "6:30 a. m."),
  ])
  func `clocks have twelve hours in the languages that use them`(
    _ identifier: String,
    _ date: String,
    _ day: String,
    _ time: String
  ) throws {
    let civil = CivilTime(seconds: 1_610_487_000, offset: 9 * 3600)
    let locale = try StampLocale(identifier)

    #expect(locale.date(civil) == date)
    #expect(locale.day(civil) == day)
    #expect(locale.time(civil) == time)
    #expect(locale.time(civil, hours: 24) == "06:30")
  }

  @Test(arguments: [
    (0, "12:05 AM", "오전 12:05"), (11, "11:05 AM", "오전 11:05"), (12, "12:05 PM", "오후 12:05"),
    (23, "11:05 PM", "오후 11:05"),
  ])
  func `noon and midnight are 12`(_ hour: Int, _ english: String, _ korean: String) throws {
    let civil = CivilTime(seconds: hour * 3600 + 300, offset: 0)

    #expect(try StampLocale("en_US").time(civil) == english)
    #expect(try StampLocale("ko_KR").time(civil, hours: 12) == korean)
  }

  @Test func `an unknown language is an error that lists the known ones`() {
    #expect { try StampLocale("tlh") } throws: { error in
      "\(error)".contains("de, en, es, fr, it, ja, ko, pt, zh")
    }
  }
}

/// The time that a stamp shows: from the picture, its file, the clock or the user.
struct StampTimeTests {
  private static let seoul = Zone(offset: 9 * 3600)

  private func time(
    _ choice: StampTime.Choice,
    taken: String? = nil,
    offset: String? = nil,
    modified: Int? = nil,
    zone: Zone? = nil
  ) throws -> StampTime {
    let bytes = tiff(orientation: 1, dateTime: taken, offset: offset)
    var stamp = Stamp(time: choice)
    (stamp.zone, stamp.localZone, stamp.now) = (zone, Zone(offset: 3600), { 1_000_000_000 })
    return try StampTime(stamp, taken: TakenTime(Exif(bytes)), modified: modified, name: "x")
  }

  @Test func `an EXIF time with an offset is an instant`() throws {
    let own = try time(.exif, taken: "2021:01:13 06:30:00", offset: "-05:00")
    let shown = try time(
      .exif,
      taken: "2021:01:13 06:30:00",
      offset: "-05:00",
      zone: Self.seoul
    )

    #expect(own.description == "2021-01-13T06:30:00-05:00")
    #expect(shown.description == "2021-01-13T20:30:00+09:00")
    #expect(shown.source == .exif)
  }

  @Test func `an EXIF time without an offset is in the given zone, or else in this machine's`()
    throws
  {
    let given = try time(.exif, taken: "2021:01:13 06:30:00", zone: Self.seoul)
    let local = try time(.exif, taken: "2021:01:13 06:30:00")

    #expect(given.description == "2021-01-13T06:30:00+09:00")
    #expect(local.description == "2021-01-13T06:30:00+01:00")
  }

  @Test func `the file's time and the clock are used only on request`() throws {
    let file = try time(.file, modified: 1_610_487_000)
    let now = try time(.now)

    #expect(file.description == "2021-01-12T22:30:00+01:00")
    #expect(file.source == .file)
    #expect(now.source == .now)
    #expect(now.instant == 1_000_000_000)
  }

  @Test(arguments: [
    "    :  :     :  :  ", "0000:00:00 00:00:00", "2021:02:30 06:30:00", "garbage",
  ])
  func `a camera's unset clock is not a date`(_ text: String) throws {
    #expect { try time(.exif, taken: text, modified: 5) } throws: {
      ($0 as? ImagingError)?.code == .undated
    }
  }

  @Test func `an unreadable date does not hide a readable one`() {
    func short(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
    func long(_ value: Int) -> [UInt8] { short(value) + [0, 0] }
    func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
      short(tag) + short(type) + long(count) + long(value)
    }
    // The data has IFD0, the Exif IFD, and then DateTime and DateTimeOriginal.
    let head = Array("II".utf8) + short(42) + long(8)
    let directory = short(2) + entry(0x0132, 2, 20, 56) + entry(0x8769, 4, 1, 38) + long(0)
    let details = short(1) + entry(0x9003, 2, 20, 76) + long(0)
    let texts: [UInt8] = ["2021:01:13 06:30:00", "2021:13:45 99:99:99"].flatMap {
      Array($0.utf8) + [0]
    }

    let exif = Exif(Array((head + directory + details + texts).prefix(96)))

    #expect(exif.dateTime == "2021:01:13 06:30:00")
  }

  @Test(arguments: [
    ("2021-01-13T06:30:00+09:00", "2021-01-13T06:30:00+09:00"),
    ("2021-01-13t06:30:00.25z", "2021-01-13T06:30:00Z"),
    ("2024-02-29T23:59:60-03:30", "2024-03-01T00:00:00-03:30"),
  ])
  func `a given time is RFC 3339`(_ text: String, _ shown: String) throws {
    let time = try time(StampTime.Choice(text))

    #expect(time.description == shown)
    #expect(time.source == .given)
  }

  @Test(arguments: [
    "", "yesterday", "2021-01-13", "2021-01-13T06:30:00", "2021-02-29T06:30:00Z",
    "2021-01-13T06:30:00+9", "2021-01-13T25:30:00Z",
  ])
  func `any other text is an error`(_ text: String) {
    #expect { try StampTime.Choice(text) } throws: { ($0 as? ImagingError)?.code == .time }
  }

  @Test func `a zone file gives the changes of offset, and the last offset stays in force`() throws
  {
    func long(_ value: Int, _ bytes: Int) -> [UInt8] {
      (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func file(last: Int, footer: String) -> [UInt8] {
      func block(_ width: Int) -> [UInt8] {
        Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
          + [0, 0, 0, 2, 2, 4].flatMap { long($0, 4) }
          + long(100, width) + long(last, width) + [1, 0]
          + long(3600, 4) + [0, 0] + long(-7200, 4) + [1, 0] + Array("ABC\0".utf8)
      }
      return block(4) + block(8) + Array("\n\(footer)\n".utf8)
    }
    let rule = "CET-1CEST,M3.5.0,M10.5.0/3"
    let bytes = file(last: 200, footer: "XYZ-1")

    let zone = try #require(Zone(tzif: bytes))

    #expect(
      [99, 100, 199, 200, 1 << 40].map { zone.offset(at: $0) } == [3600, -7200, -7200, 3600, 3600]
    )
    #expect(Zone(tzif: file(last: 2_140_045_200, footer: rule))?.offset(at: 1 << 40) == 3600)
    // If today's offset depends on the rule in the footer, no zone is better than a wrong one.
    #expect(Zone(tzif: file(last: 200, footer: rule)) == nil)
    for count in bytes.indices { _ = Zone(tzif: Array(bytes[..<count])) }
  }

  @Test(arguments: ["../etc/passwd", "/etc/passwd", "", "Asia//Seoul", ".hidden"])
  func `a zone name never leads out of the zone database`(_ name: String) {
    #expect { try Zone(named: name) } throws: { ($0 as? ImagingError)?.code == .time }
  }

  @Test(
    arguments: [
      ("+09:00", 32_400), ("-03:30", -12_600), ("Z", 0), ("++9:+5", nil), ("+-9:00", nil),
      ("+9:00", nil), ("+09:60", nil), ("+24:00", nil), ("+0९:00", nil),
    ] as [(String, Int?)]
  )
  func `an offset has two digits for hours and two for minutes`(_ text: String, _ seconds: Int?) {
    #expect(UTCOffset.seconds(text) == seconds)
  }

  @Test func `days are counted correctly over four centuries`() {
    for day in stride(from: -80_000, to: 80_000, by: 37) {
      let civil = CivilTime(seconds: day * 86_400 + 3661, offset: 0)

      #expect(civil.seconds == day * 86_400 + 3661)
      #expect(civil.weekday == ((day + 4) % 7 + 7) % 7)
    }
  }
}
