import Testing

@testable import Imaging

/// Unusual quantization tables, and which tables a result takes from its source.
struct TableTests {
  /// A change to the tables of a JPEG that no serious encoder would make.
  struct Oddity: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let change: @Sendable ([UInt8]) -> [UInt8]
  }

  static let zeros = [
    Oddity(testDescription: "a zero in each table") { table in
      table.indices.map { $0 == 11 ? 0 : table[$0] }
    },
    Oddity(testDescription: "nothing but zeros") { $0.map { _ in 0 } },
  ]

  private static let crops = [
    Crop(), Crop(size: 16), Crop(lossless: true), Crop(quality: 80),
  ]

  /// The file with the values of every 8-bit table changed.
  private static func changed(_ bytes: [UInt8], _ change: ([UInt8]) -> [UInt8]) -> [UInt8] {
    var bytes = bytes
    for table in bytes.ranges(of: [0xFF, 0xDB, 0x00, 0x43]) {
      let values = table.upperBound + 1..<table.upperBound + 65
      bytes.replaceSubrange(values, with: change(Array(bytes[values])))
    }
    return bytes
  }

  /// The file with 16-bit tables whose values are all `value`.
  private static func wide(_ bytes: [UInt8], _ value: Int) -> [UInt8] {
    var made: [UInt8] = []
    var rest = bytes[...]
    while let place = rest.firstRange(of: [0xFF, 0xDB, 0x00, 0x43]) {
      made += rest[..<place.lowerBound]
      let values = (0..<64).flatMap { _ in [UInt8(value >> 8), UInt8(value & 255)] }
      made += segment(0xDB, [0x10 | rest[place.upperBound]] + values)
      rest = rest[(place.upperBound + 65)...]
    }
    return made + rest
  }

  @Test(arguments: JPEGKind.all, zeros)
  func `a quantisation table with a zero is accepted`(_ kind: JPEGKind, _ oddity: Oddity) throws {
    for orientation in [1, 6] {
      let good = kind.bytes(
        width: 59,
        height: 40,
        segments: exifSegment(tiff(orientation: orientation))
      )
      let file = try PictureFile(Self.changed(good, oddity.change))
      for crop in Self.crops {
        let square = try crop.apply(to: file)

        #expect(!square.isDamaged)
        #expect(square.method == .reencoded, "what is made must keep to the standard")
        #expect(try decoded(square.bytes).width == square.width)
        let made = try PictureFile(square.bytes).probe.structure
        guard let markers = made as? JPEGMarkers else { Issue.record("no JPEG"); return }
        #expect(!markers.hasZeroInTable)
      }
    }
  }

  @Test(arguments: zeros) func `a stamp is drawn despite a quantisation table with a zero`(
    _ oddity: Oddity
  )
    throws
  {
    for kind in JPEGKind.all.prefix(2) {
      let bytes = Self.changed(kind.bytes(width: 59, height: 40), oddity.change)
      var stamp = Stamp(time: .given(instant: 0, offset: 0))
      stamp.crop.size = 64

      #expect(try stamp.apply(to: PictureFile(bytes)).width == 64)
    }
  }

  @Test(arguments: [8191, 8192, 16_384, 40_960, 65_535])
  func `a quantisation table of large values is accepted`(_ value: Int) throws {
    for kind in JPEGKind.all {
      let file = try PictureFile(Self.wide(kind.bytes(width: 59, height: 40), value))
      for crop in Self.crops {
        let square = try crop.apply(to: file)

        #expect(try decoded(square.bytes).width == square.width)
      }
    }
  }

  @Test func `a picture of 120 bytes with a zero in its table can be cropped and stamped`() throws
  {
    let table = segment(0xDB, [0] + (0..<64).map { $0 == 0 ? 0 : 1 })
    let codes = [UInt8(0), 0x10].flatMap {
      segment(0xC4, [$0, 1] + [UInt8](repeating: 0, count: 16))
    }
    let frame = segment(0xC0, [8, 0, 8, 0, 8, 1, 1, 0x11, 0])
    let scan = segment(0xDA, [1, 1, 0, 0, 63, 0])
    let bytes = [0xFF, 0xD8] + table + codes + frame + scan + [0, 0xFF, 0xD9]

    let square = try Crop().apply(to: PictureFile(bytes))

    #expect(square.width == 8)
    var stamp = Stamp(time: .given(instant: 0, offset: 0))
    stamp.crop.size = 32
    #expect(try stamp.apply(to: PictureFile(bytes)).width == 32)
  }

  @Test(arguments: JPEGKind.all.filter { $0.isProgressive })
  func `a table redefined between scans does not apply to earlier components`(
    _ kind: JPEGKind
  ) throws {
    // The first scan has used the tables of its components already, so tables after it change nothing for them.
    let plain = kind.bytes(width: 59, height: 40)
    let scans = plain.ranges(of: [0xFF, 0xDA]).map(\.lowerBound)
    let place = try #require(scans.dropFirst().first)
    let later = segment(0xDB, [0] + [UInt8](repeating: 99, count: 64))
    let bytes = Array(plain[..<place]) + later + plain[place...]

    for crop in [Crop(), Crop(lossless: true), Crop(size: 16)] {
      let square = try crop.apply(to: PictureFile(bytes))

      #expect(try square.bytes == crop.apply(to: PictureFile(plain)).bytes)
    }
  }

  @Test func `a table of a component that comes after the first scan is replaced by a fine one`()
    throws
  {
    // An encoder copies tables from the part of the file before the first scan. There, chroma has no table.
    func table(_ number: UInt8) -> [UInt8] {
      segment(0xDB, [number] + [UInt8](repeating: 1, count: 64))
    }
    func scan(_ component: UInt8) -> [UInt8] {
      segment(0xDA, [1, component, 0, 0, 63, 0]) + [0]
    }
    let codes = [UInt8(0), 0x10].flatMap {
      segment(0xC4, [$0, 1] + [UInt8](repeating: 0, count: 16))
    }
    let components: [UInt8] = [1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1]
    let frame = segment(0xC0, [8, 0, 8, 0, 8, 3] + components)
    let bytes =
      [0xFF, 0xD8] + table(0) + codes + frame + scan(1) + table(1) + scan(2) + scan(3)
      + [0xFF, 0xD9]

    let square = try Crop().apply(to: PictureFile(bytes)).bytes

    let tables = square.ranges(of: [0xFF, 0xDB, 0x00, 0x43]).map {
      Array(square[$0.upperBound + 1..<$0.upperBound + 65])
    }
    // A table of the standard at quality 75 has values of up to 50.
    #expect(tables.count == 2 && tables.joined().allSatisfy { $0 <= 4 })
  }

  @Test func `coarse tables are not reused for a scaled picture`() throws {
    let kind = JPEGKind(name: "")
    for (quality, expected) in [(20, 75), (60, 75), (75, 75), (90, 90)] {
      let bytes = kind.bytes(width: 400, height: 300, quality: quality, length: 8)

      let scaled = try Crop(size: 100).apply(to: PictureFile(bytes)).bytes
      let own = try Crop().apply(to: PictureFile(bytes)).bytes
      let chosen = try Crop(size: 100, quality: 30).apply(to: PictureFile(bytes)).bytes

      #expect(try PictureFile(scaled).probe.quality == expected)
      #expect(try PictureFile(own).probe.quality == PictureFile(bytes).probe.quality)
      #expect(try PictureFile(chosen).probe.quality == 30)
    }
  }

  @Test func `sampling that needs separate scans is replaced by a plain one`() throws {
    // There are sixteen luma blocks for each chroma block. The eighteen blocks of an MCU exceed the limit for an
    // interleaved scan.
    let table = segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
    let codes = [UInt8(0), 0x10].flatMap {
      segment(0xC4, [$0, 1] + [UInt8](repeating: 0, count: 16))
    }
    let frame = segment(0xC0, [8, 0, 32, 0, 32, 3, 1, 0x44, 0, 2, 0x11, 0, 3, 0x11, 0])
    let scans = [[UInt8](repeating: 0, count: 4), [0x3F], [0x3F]].enumerated().flatMap {
      segment(0xDA, [1, UInt8($0 + 1), 0, 0, 63, 0]) + $1
    }
    let bytes = [0xFF, 0xD8] + table + codes + frame + scans + [0xFF, 0xD9]

    for crop in [Crop(), Crop(lossless: true), Crop(size: 16)] {
      let square = try crop.apply(to: PictureFile(bytes))

      #expect(!square.isDamaged)
      #expect(try decoded(square.bytes).width == crop.size ?? 32)
    }
  }
}
