import Glibc
import PictureFixtures
import Testing

@testable import Imaging

/// A kind of TIFF, which is described by the values of tags and written by libtiff.
struct TIFFKind: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var bits = 8
  var samples = 3
  var photometric = 2
  var compression = 1
  var tile = 0
  var strip = 5
  var orientation = 0
  var extra = -1
  var isSeparate = false
  var isBigEndian = false
  var isLarge = false
  var date: String?
  var taken: String?
  var profile: [UInt8] = []

  init(_ name: String, _ change: (inout TIFFKind) -> Void = { _ in }) {
    testDescription = name
    change(&self)
  }

  /// The rows as they are stored.
  ///
  /// They have noise or, if the compression is lossy, smooth waves.
  func stored(_ width: Int, _ height: Int) -> [UInt8] {
    guard compression != 7 else {
      return wave(width: width, height: height, channels: samples, length: 4)
    }
    let row = (width * samples * bits + 7) / 8
    return noise(row * height, depth: 8)
  }

  func bytes(_ width: Int = 37, _ height: Int = 23) -> [UInt8] {
    bytes(stored(width, height), width, height)
  }

  func bytes(_ stored: [UInt8], _ width: Int, _ height: Int) -> [UInt8] {
    var fixture = fixture_tiff()
    (fixture.width, fixture.height) = (CInt(width), CInt(height))
    (fixture.bits, fixture.samples) = (CInt(bits), CInt(samples))
    (fixture.photometric, fixture.compression) = (CInt(photometric), CInt(compression))
    (fixture.tile, fixture.strip) = (CInt(tile), CInt(strip))
    (fixture.orientation, fixture.extra) = (CInt(orientation), CInt(extra))
    (fixture.separate, fixture.big_endian, fixture.large) = (isSeparate, isBigEndian, isLarge)
    (fixture.date, fixture.taken) = (date.flatMap { strdup($0) }.map { UnsafePointer($0) }, nil)
    fixture.taken = taken.flatMap { strdup($0) }.map { UnsafePointer($0) }
    return profile.withUnsafeBufferPointer { profile in
      (fixture.profile, fixture.profile_count) = (profile.baseAddress, profile.count)
      var count = 0
      let made = fixture_encode_tiff(&fixture, stored, &count)
      defer { free(made) }
      return Array(UnsafeBufferPointer(start: made, count: count))
    }
  }

  /// The value of one sample in the stored rows.
  func sample(_ stored: [UInt8], _ width: Int, _ height: Int, _ x: Int, _ y: Int, _ s: Int) -> Int
  {
    let row = (width * samples * bits + 7) / 8
    let place = (x * samples + s) * bits
    let byte = y * row + place / 8
    guard bits < 16 else { return Int(stored[byte]) | Int(stored[byte + 1]) << 8 }
    return Int(stored[byte] >> UInt8(8 - bits - place % 8)) & (1 << bits - 1)
  }

  static let exact = [
    TIFFKind("RGB"), TIFFKind("one strip") { $0.strip = 0 },
    TIFFKind("LZW") { $0.compression = 5 }, TIFFKind("Deflate") { $0.compression = 8 },
    TIFFKind("old Deflate") { $0.compression = 32_946 },
    TIFFKind("PackBits") { $0.compression = 32_773 },
    TIFFKind("big-endian") { $0.isBigEndian = true },
    TIFFKind("tiles") { $0.tile = 16 },
    TIFFKind("packed tiles") { ($0.tile, $0.compression) = (32, 5) },
    TIFFKind("16 bits") { $0.bits = 16 },
    TIFFKind("16 bits, big-endian, packed") {
      ($0.bits, $0.isBigEndian, $0.compression) = (16, true, 5)
    },
    TIFFKind("alpha") { ($0.samples, $0.extra) = (4, 2) },
    TIFFKind("16 bits and alpha") { ($0.bits, $0.samples, $0.extra) = (16, 4, 2) },
    TIFFKind("grey") { ($0.samples, $0.photometric) = (1, 1) },
    TIFFKind("grey, 16 bits") { ($0.samples, $0.photometric, $0.bits) = (1, 1, 16) },
    TIFFKind("grey, white is 0") { ($0.samples, $0.photometric) = (1, 0) },
    TIFFKind("grey and alpha") { ($0.samples, $0.photometric, $0.extra) = (2, 1, 2) },
    TIFFKind("grey of 4 bits") { ($0.samples, $0.photometric, $0.bits) = (1, 1, 4) },
    TIFFKind("grey and alpha of 4 bits") {
      ($0.samples, $0.photometric, $0.bits, $0.extra) = (2, 1, 4, 2)
    },
    TIFFKind("grey of 2 bits, white is 0") { ($0.samples, $0.photometric, $0.bits) = (1, 0, 2) },
    TIFFKind("black and white") { ($0.samples, $0.photometric, $0.bits) = (1, 0, 1) },
    TIFFKind("black and white tiles") {
      ($0.samples, $0.photometric, $0.bits, $0.tile) = (1, 1, 1, 16)
    },
    TIFFKind("fax") { ($0.samples, $0.photometric, $0.bits, $0.compression) = (1, 0, 1, 4) },
    TIFFKind("older fax") { ($0.samples, $0.photometric, $0.bits, $0.compression) = (1, 0, 1, 3) },
  ]

  static let indexed = [1, 2, 4, 8].map { bits in
    TIFFKind("\(bits) bits of indices") { ($0.samples, $0.photometric, $0.bits) = (1, 3, bits) }
  }
}

/// TIFFs of every kind that scanners and programs write, and malformed ones.
struct TIFFTests {
  @Test(arguments: TIFFKind.exact)
  func `the samples are those stored`(_ kind: TIFFKind) throws {
    let stored = kind.stored(37, 23)
    let file = try PictureFile(kind.bytes(stored, 37, 23))

    let made = try Bitmap(decoding: file)

    let most = 1 << kind.bits - 1
    let scale = kind.bits < 8 ? 255 / most : 1
    let expected = (0..<23).flatMap { y in
      (0..<37).flatMap { x in
        (0..<kind.samples).map { channel -> UInt16 in
          let value = kind.sample(stored, 37, 23, x, y, channel)
          return UInt16((kind.photometric == 0 ? most - value : value) * scale)
        }
      }
    }
    #expect(made.width == 37 && made.height == 23)
    #expect(made.depth == (kind.bits == 16 ? 16 : 8))
    let found = (0..<23).flatMap { y in (0..<37).flatMap { made[$0, y] } }
    #expect(found == expected)
  }

  @Test(arguments: TIFFKind.indexed)
  func `indices are looked up, and stay indices in a PNG`(_ kind: TIFFKind) throws {
    let stored = kind.stored(37, 23)
    let file = try PictureFile(kind.bytes(stored, 37, 23))

    let made = try Bitmap(decoding: file)
    let png = try native(Crop().apply(to: file).bytes)

    for (x, y) in [(0, 0), (5, 7), (36, 22)] {
      let index = kind.sample(stored, 37, 23, x, y, 0)
      #expect(made[x, y] == [3, 5, 7].map { UInt16(index * $0 % 256) })
    }
    guard case .indexed = png.layout else { Issue.record("it is \(png.layout)"); return }
  }

  @Test(arguments: TIFFKind.exact + TIFFKind.indexed)
  func `any region equals that of the whole picture`(_ kind: TIFFKind) throws {
    let file = try PictureFile(kind.bytes())
    let whole = try file.part(PixelRegion(x: 0, y: 0, width: 37, height: 23))

    for (x, y, width, height) in [(7, 0, 20, 23), (13, 9, 24, 11), (36, 22, 1, 1), (0, 17, 16, 1)]
    {
      let region = PixelRegion(x: x, y: y, width: width, height: height)
      #expect(try file.part(region) == whole.part(region), "\(region)")
    }
  }

  @Test(arguments: [2, 6], [0, 16])
  func `embedded JPEGs are decoded`(_ photometric: Int, _ tile: Int) throws {
    let kind = TIFFKind("JPEG") {
      ($0.compression, $0.photometric, $0.strip, $0.tile) = (7, photometric, 16, tile)
    }
    let stored = kind.stored(48, 32)

    let made = try decoded(kind.bytes(stored, 48, 32))

    let expected = Bitmap(width: 48, height: 32, layout: .rgb, samples: stored)
    #expect(psnr(rgba(made), rgba(expected)) > 30)
  }

  @Test(arguments: [8, 16])
  func `colours are divided by their premultiplied alpha`(_ bits: Int) throws {
    let kind = TIFFKind("associated") {
      ($0.samples, $0.extra, $0.strip, $0.bits) = (4, 1, 1, bits)
    }
    let pixels = [10, 20, 30, 40, 50, 60, 70, 255, 9, 9, 9, 0]
    let stored = pixels.flatMap { bits == 8 ? [UInt8($0)] : [UInt8($0), UInt8($0)] }

    let made = try decoded(kind.bytes(stored, 3, 1))

    let scale: UInt16 = bits == 8 ? 1 : 257
    #expect(made[1, 0] == [50, 60, 70, 255].map { $0 * scale } && made[2, 0][3] == 0)
    let first = zip(made[0, 0], [64, 128, 191, 40]).map { abs(Int($0) - $1 * Int(scale)) }
    #expect(first.allSatisfy { $0 <= Int(scale) })
  }

  @Test(arguments: [8, 16])
  func `CMYK becomes RGB`(_ bits: Int) throws {
    let kind = TIFFKind("CMYK") {
      ($0.samples, $0.photometric, $0.bits, $0.strip) = (4, 5, bits, 1)
    }
    // The three pixels have no ink, black ink, and cyan ink.
    let pixels = [0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0]
    let stored = pixels.flatMap { bits == 8 ? [UInt8($0)] : [UInt8($0), UInt8($0)] }
    let file = try PictureFile(kind.bytes(stored, 3, 1))

    let made = try Bitmap(decoding: file).flattened(.rgb)

    #expect(made.samples == [255, 255, 255, 0, 0, 0, 0, 255, 255])
    #expect(file.probe.channels == 3 && file.probe.depth == 8)
    #expect(try PictureFile(Crop(format: .jpeg).apply(to: file).bytes).probe.channels == 3)
  }

  @Test(arguments: Orientation.allCases)
  func `a TIFF is rotated by its orientation tag`(_ orientation: Orientation) throws {
    let kind = TIFFKind("turned") { $0.orientation = orientation.rawValue }
    let plain = try decoded(TIFFKind("plain").bytes())

    let made = try decoded(kind.bytes())

    #expect(isSame(made, try plain.upright(from: orientation)))
  }

  @Test(arguments: [0, 9, 255])
  func `an orientation that does not exist counts as upright, and is no damage`(_ value: Int)
    throws
  {
    let plain = try Crop().apply(to: PictureFile(TIFFKind("plain").bytes()))
    var bytes = TIFFKind("turned") { $0.orientation = 6 }.bytes()
    let place = try #require(places(of: 0x0112, in: bytes).first)
    bytes[place] = UInt8(value)

    let made = try Crop().apply(to: PictureFile(bytes))

    #expect(!made.isDamaged && made.bytes == plain.bytes)
  }

  @Test func `more numbers of bits than samples are ignored`() throws {
    var bytes = TIFFKind("RGB").bytes()
    let plain = try decoded(bytes)
    let place = try #require(places(of: 258, in: bytes).first)
    bytes[place - 4] = 4

    #expect(try isSame(decoded(bytes), plain))
  }

  @Test(arguments: [false, true])
  func `dates are read, and profiles are copied`(_ isBigEndian: Bool) throws {
    let profile = [UInt8](repeating: 0, count: 16) + Array("RGB ".utf8) + [1, 2, 3]
    let kind = TIFFKind("photo") {
      ($0.isBigEndian, $0.orientation) = (isBigEndian, 6)
      ($0.date, $0.taken) = ("2022:02:02 02:02:02", "2021:01:13 06:30:00")
      $0.profile = profile
    }
    let file = try PictureFile(kind.bytes())

    let made = try PictureFile(Crop(format: .jpeg, keepsMetadata: true).apply(to: file).bytes)

    #expect(file.probe.exif?.dateTime == "2021:01:13 06:30:00")
    #expect(made.probe.orientation == .upright && made.probe.exif == nil)
    #expect(made.probe.structure.profile == profile)
  }

  @Test func `a TIFF becomes a PNG of the same samples`() throws {
    let file = try PictureFile(TIFFKind("16 bits") { $0.bits = 16 }.bytes())

    let made = try Crop().apply(to: file)

    #expect(made.format == .png)
    let square = PixelRegion(x: 7, y: 0, width: 23, height: 23)
    #expect(isSame(try decoded(made.bytes), try file.part(square)))
  }

  @Test(arguments: TIFFKind.exact)
  func `a file truncated anywhere is refused, and never read beyond its end`(
    _ kind: TIFFKind
  ) throws {
    let whole = kind.bytes(19, 9)
    for count in stride(from: 8, to: whole.count, by: 3) {
      _ = try? decoded(Array(whole.prefix(count)))
    }
    #expect(throws: ImagingError.self) { try decoded(Array(whole.prefix(whole.count / 2))) }
  }

  @Test(arguments: TIFFKind.exact)
  func `a file with a changed byte is an error or a picture`(_ kind: TIFFKind) {
    let whole = kind.bytes(19, 9)
    for place in stride(from: 4, to: whole.count, by: 3) {
      var bytes = whole
      bytes[place] = place % 2 == 0 ? 0 : 0xFF
      _ = try? decoded(bytes)
    }
  }

  /// A little-endian TIFF with these tags, each with one value.
  private static func made(_ tags: [(tag: Int, value: Int)], _ rest: Int = 0) -> [UInt8] {
    Array("II".utf8) + little(42, 2) + little(8, 4) + little(tags.count, 2)
      + tags.flatMap { little($0.tag, 2) + little(4, 2) + little(1, 4) + little($0.value, 4) }
      + little(0, 4) + [UInt8](repeating: 0, count: rest)
  }

  private static func plain(_ width: Int, _ height: Int) -> [(tag: Int, value: Int)] {
    [(256, width), (257, height), (258, 8), (262, 1), (273, 8), (277, 1), (279, 4)]
  }

  @Test(arguments: [
    made(plain(100_000, 1)), made(plain(60_000, 60_000)), made(plain(0, 5)), made(plain(5, 0)),
    made(plain(500, 500)), made(plain(5000, 5000) + [(259, 5)]),
    // These files have tiles and strips of size 0, tiles that are much larger than the picture, and impossible bit
    // depths.
    made(plain(4, 4) + [(278, 0)], 99), made(plain(4, 4) + [(322, 0), (323, 16)], 99),
    made(plain(4, 4) + [(322, 60_000), (323, 60_000)], 99),
    made([(256, 4), (257, 4), (258, 7), (262, 1), (273, 8)], 99),
    made([(256, 4), (257, 4), (258, 32), (262, 1), (273, 8), (339, 3)], 99),
    made([(256, 4)], 99), made(plain(4, 4) + [(259, 34_712)], 99),
    // One directory is outside of the file, and another one has no tags.
    Array("II".utf8) + little(42, 2) + little(90, 4), made([]),
  ])
  func `a malformed file is refused before any pixel`(_ bytes: [UInt8]) {
    #expect(throws: ImagingError.self) { try decoded(bytes) }
  }

  @Test(arguments: [5, 8], [0, 5])
  func `a TIFF that is broken after the kept part is refused`(_ packing: Int, _ strip: Int)
    throws
  {
    let kind = TIFFKind("packed") { ($0.compression, $0.strip) = (packing, strip) }
    var bytes = kind.bytes(wave(width: 14, height: 120, channels: 3), 14, 120)
    // A quarter of the last strip's bytes is missing.
    let directory = bytes.withUnsafeBufferPointer { TIFFDirectory(of: $0) }
    let counts = try #require(directory?[279])
    let place = counts.value.upperBound - counts.value.count / counts.count
    let count = (Int(bytes[place]) | Int(bytes[place + 1]) << 8) * 3 / 4
    bytes.replaceSubrange(place..<place + 2, with: little(count, 2))
    let broken = try PictureFile(bytes)

    for size in [nil, 4] {
      #expect {
        try Crop(size: size, gravity: .top).apply(to: broken)
      } throws: {
        ($0 as? ImagingError)?.code == .damagedPicture
      }
    }
  }

  @Test(arguments: [
    ([(339, 2)], "signed samples"), ([(339, 3)], "floating-point samples"),
    ([(258, 12)], "samples of 12 bits"), ([(259, 34_712)], "compression 34712"),
  ])
  func `an unsupported TIFF is refused by what it has, with a program that converts it`(
    _ tags: [(tag: Int, value: Int)],
    _ words: String
  ) {
    let plain = Self.plain(4, 4).filter { tag in tags.allSatisfy { $0.tag != tag.tag } }

    let error = #expect(throws: ImagingError.self) { try PictureFile(Self.made(plain + tags, 99)) }

    #expect(error?.code == .unreadKind)
    let sentence = "larder does not read TIFFs with \(words); convert it with ImageMagick"
    #expect(error?.description.contains(sentence) == true)
  }

  @Test func `separate channels and BigTIFF are refused as such`() {
    let separate = TIFFKind("separate") { $0.isSeparate = true }.bytes()
    let large = TIFFKind("BigTIFF") { $0.isLarge = true }.bytes()

    #expect(throws: ImagingError.self) { try PictureFile(separate) }
    #expect {
      try PictureFile(large)
    } throws: {
      ($0 as? ImagingError)?.code == .unreadKind
    }
  }

  @Test func `a camera's raw file is refused as such`() {
    for more in [(254, 1), (50_706, 0x0104)] {
      let bytes = Self.made(Self.plain(4, 4) + [more], 99)
      #expect { try PictureFile(bytes) } throws: { "\($0)".contains("raw photos of cameras") }
    }
  }

  @Test func `a TIFF is not accepted as a shop's picture`() {
    let bytes = TIFFKind("plain").bytes()

    #expect(PictureFormat(sniffing: bytes) == .tiff)
    #expect(PictureFormat(shown: bytes) == nil)
  }
}
