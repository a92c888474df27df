import Testing

@testable import Imaging

/// BMPs of every depth that programs write, and malformed ones.
struct BMPTests {
  /// A BMP with a header of 40 bytes, or of 124 bytes with masks.
  ///
  /// The rows are given as they are stored.
  static func bmp(
    _ width: Int,
    _ height: Int,
    bits: Int,
    kind: Int = 0,
    length: Int = 40,
    more: [UInt8] = [],
    rows: [UInt8]
  ) -> [UInt8] {
    let start = 14 + length + (length == 40 ? more.count : 0)
    let rest = length == 40 ? more : more + Array(repeating: 0, count: length - 40 - more.count)
    return Array("BM".utf8) + little(start + rows.count, 4) + little(0, 4) + little(start, 4)
      + little(length, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(bits, 2)
      + little(kind, 4) + little(0, 4) + little(0, 16) + rest + rows
  }

  private static let palette: [UInt8] = (0..<16).flatMap { (value: UInt8) -> [UInt8] in
    [value * 3, value * 5, value * 7, 0]
  }

  private static func colours(_ bytes: [UInt8]) throws -> [[UInt16]] {
    let bitmap = try decoded(bytes)
    return (0..<bitmap.height).flatMap { y in (0..<bitmap.width).map { bitmap[$0, y] } }
  }

  @Test(arguments: [(1, 8), (2, 4)]) func `a BMP in run-length encoding is refused by that name`(
    _ kind: Int,
    _ bits: Int
  ) {
    let bytes = Self.bmp(4, 1, bits: bits, kind: kind, more: Self.palette, rows: [4, 1, 0, 1])

    let error = #expect(throws: ImagingError.self) { try PictureFile(bytes) }

    #expect(error?.code == .unsupported)
    #expect(error?.description.contains("a BMP in run-length encoding; save it as PNG") == true)
  }

  @Test func `rows are bottom-up, or top-down with a negative height`() throws {
    let rows: [UInt8] = [1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0]
    let up = try Self.colours(Self.bmp(2, 2, bits: 24, rows: rows))
    let down = try Self.colours(Self.bmp(2, -2, bits: 24, rows: rows))

    #expect(up == [[9, 8, 7], [12, 11, 10], [3, 2, 1], [6, 5, 4]])
    #expect(down == [[3, 2, 1], [6, 5, 4], [9, 8, 7], [12, 11, 10]])
  }

  @Test(
    arguments: [
      (1, [0b1010_0000, 0, 0, 0], [1, 0, 1]), (4, [0x12, 0x30, 0, 0], [1, 2, 3]),
      (8, [4, 15, 0, 0], [4, 15, 0]),
    ] as [(Int, [UInt8], [UInt8])]
  )
  func `indices are looked up, and stay indices in a PNG`(
    _ bits: Int,
    _ row: [UInt8],
    _ indices: [UInt8]
  ) throws {
    let bytes = Self.bmp(3, 1, bits: bits, more: Self.palette, rows: row)

    let made = try PictureFile(Crop().apply(to: PictureFile(bytes)).bytes)

    #expect(
      try Self.colours(bytes) == indices.map { [UInt16($0) * 7, UInt16($0) * 5, UInt16($0) * 3] }
    )
    #expect(made.probe.format == .png)
  }

  @Test func `bit masks select the colours`() throws {
    let five = Self.bmp(2, 1, bits: 16, rows: little(0x7C00, 2) + little(0x001F, 2))
    let six = Self.bmp(
      2,
      1,
      bits: 16,
      kind: 3,
      more: little(0xF800, 4) + little(0x07E0, 4) + little(0x1F, 4),
      rows: little(0x07E0, 2) + little(0xFFFF, 2)
    )
    let clear = Self.bmp(
      1,
      1,
      bits: 32,
      kind: 3,
      length: 124,
      more: [0xFF, 0xFF00, 0xFF_0000, 0xFF00_0000].flatMap { little($0, 4) },
      rows: [10, 20, 30, 40]
    )
    let opaque = Self.bmp(1, 1, bits: 32, rows: [10, 20, 30, 0])

    #expect(try Self.colours(five) == [[255, 0, 0], [0, 0, 255]])
    #expect(try Self.colours(six) == [[0, 255, 0], [255, 255, 255]])
    #expect(try Self.colours(clear) == [[10, 20, 30, 40]])
    #expect(try Self.colours(opaque) == [[30, 20, 10]])
  }

  @Test func `an offset of the pixels that leaves out the palette is corrected`() throws {
    let whole = Self.bmp(4, 1, bits: 4, more: Self.palette, rows: [0x12, 0x3F, 0, 0])
    var bytes = whole
    bytes[10] = 54

    #expect(try Self.colours(bytes) == Self.colours(whole))
  }

  @Test func `a truncated file is refused, and never read beyond its end`() throws {
    let files = [
      Self.bmp(5, 3, bits: 24, rows: [UInt8](repeating: 9, count: 48)),
      Self.bmp(9, 2, bits: 4, more: Self.palette, rows: [UInt8](repeating: 0x12, count: 16)),
    ]
    for whole in files {
      #expect(throws: Never.self) { try decoded(whole) }
      for count in 0..<whole.count - 2 {
        #expect(throws: ImagingError.self, "\(count)") { try decoded(Array(whole.prefix(count))) }
      }
    }
  }

  @Test(arguments: [
    bmp(100_000, 1, bits: 24, rows: []), bmp(60_000, 60_000, bits: 1, rows: []),
    bmp(0, 5, bits: 24, rows: []), bmp(5, 0, bits: 24, rows: []),
    bmp(40_000, Int(Int32.min), bits: 1, rows: []),
    bmp(5, 1, bits: 8, kind: 1, rows: [5, 1, 0, 1]),
    bmp(2, 2, bits: 7, rows: [0, 0, 0, 0]), bmp(2, 2, bits: 24, kind: 4, rows: [0]),
    bmp(1, 1, bits: 16, kind: 3, more: [0, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0], rows: [0, 0, 0, 0]),
  ])
  func `a malformed file is refused before any pixel`(_ bytes: [UInt8]) {
    #expect(throws: ImagingError.self) { try PictureFile(bytes) }
  }

  @Test func `a BMP is not accepted as a shop's picture`() {
    let bytes = Self.bmp(2, 1, bits: 24, rows: [UInt8](repeating: 0, count: 8))

    #expect(PictureFormat(sniffing: bytes) == .bmp)
    #expect(PictureFormat(shown: bytes) == nil)
  }
}
