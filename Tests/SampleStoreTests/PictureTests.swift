import SampleStore
import Support
import Testing

/// The pictures of any size that tests make from one file.
struct PictureTests {
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 9, 9, 0xFF, 0xD9]
  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    + chunk("IHDR", Array(repeating: 1, count: 13))
    + chunk("IEND", [])

  private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let checked = Array(name.utf8) + data
    return bigEndian(data.count) + checked + bigEndian(Int(CRC32.of(checked)))
  }

  private static func bigEndian(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) }
  }

  /// The payloads of the comments after SOI, and the rest of the file.
  private func comments(_ bytes: [UInt8]) -> (texts: [[UInt8]], rest: ArraySlice<UInt8>) {
    var texts: [[UInt8]] = []
    var rest = bytes[2...]
    while rest.starts(with: [0xFF, 0xFE]) {
      let length = Int(rest[rest.startIndex + 2]) << 8 | Int(rest[rest.startIndex + 3])
      texts.append(Array(rest.dropFirst(4).prefix(length - 2)))
      rest = rest.dropFirst(2 + length)
    }
    return (texts, rest)
  }

  @Test func `a label is put into a comment after the start of a jpeg`() throws {
    let bytes = try Picture(Self.jpeg).distinct("/a.jpg")

    let (texts, rest) = comments(bytes)
    #expect(texts == [Array("/a.jpg".utf8)])
    #expect(Array(rest) == Array(Self.jpeg[2...]))
  }

  @Test(arguments: [
    24, 25, 100, 65_553, 65_554, 65_560, 65_573, 65_574, 65_600, 300_000, 65_548, 65_549, 65_550,
  ])
  func `a jpeg has the size requested, in whole segments`(size: Int) throws {
    let bytes = try Picture(Self.jpeg).distinct("/a.jpg", byteCount: size)

    let (texts, rest) = comments(bytes)
    #expect(bytes.count == size)
    #expect(texts[0].starts(with: "/a.jpg".utf8))
    #expect(Array(rest) == Array(Self.jpeg[2...]))
  }

  @Test(arguments: [0, 90, 65_591, 65_600, 65_609, 65_630, 65_640, 65_650, 65_670, 300_000])
  func `a png has the size requested, in chunks with correct checksums`(size: Int) throws {
    let bytes = try Picture(Self.png).distinct("/a.png", byteCount: size)

    var rest = bytes[8...]
    var names: [String] = []
    while rest.count >= 12 {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let checked = rest.dropFirst(4).prefix(4 + length)
      names.append(String(decoding: checked.prefix(4), as: UTF8.self))
      let sum = Array(rest.dropFirst(8 + length).prefix(4))
      #expect(sum == Self.bigEndian(Int(CRC32.of(Array(checked)))))
      rest = rest.dropFirst(12 + length)
    }
    #expect(bytes.count == max(size, Self.png.count + 12 + 14))
    #expect(names.first == "IHDR" && names.last == "IEND")
    #expect(names.dropFirst().dropLast().allSatisfy { $0 == "tEXt" })
    #expect(rest.isEmpty)
  }

  @Test func `each label has its own bytes and validator, the same each time`() throws {
    let picture = try Picture(Self.jpeg)

    let (a, again, b) = (picture.resource("/a"), picture.resource("/a"), picture.resource("/b"))

    #expect(a.bytes == again.bytes && a.etag == again.etag)
    #expect(a.bytes != b.bytes && a.etag != b.etag)
    #expect(a.type == "image/jpeg")
  }

  @Test func `a label too long for a segment is truncated`() throws {
    let label = String(repeating: "x", count: 70_000)

    let bytes = try Picture(Self.jpeg).distinct(label, byteCount: 65_560)

    #expect(bytes.count == 65_560)
  }

  @Test func `a file that is not a picture is refused`() {
    #expect(throws: Picture.Unknown.self) { try Picture([1, 2, 3]) }
  }

  @Test func `the checksum is that of the standard`() {
    #expect(CRC32.of(Array("123456789".utf8)) == 0xCBF4_3926)
  }
}
