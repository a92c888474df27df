import Base
import CPNG
import Synchronization
import SystemPackage
import Testing

@testable import Imaging

/// Metadata that is kept on request.
///
/// It must describe the crop, and must not show the parts that were cropped away.
struct MetadataTests {
  private static let preview: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xDB] + Array("PREVIEW".utf8) + [0xFF, 0xD9]

  private static func kept(_ segments: [UInt8]) throws -> [UInt8] {
    let bytes = JPEGKind(name: "").bytes(width: 70, height: 50, segments: segments)
    return try Crop(keepsMetadata: true).apply(to: PictureFile(bytes)).bytes
  }

  private static func resource(_ number: Int, _ data: [UInt8]) -> [UInt8] {
    Array("8BIM".utf8) + [UInt8(number >> 8), UInt8(number & 255), 0, 0]
      + [0, 0, UInt8(data.count >> 8), UInt8(data.count & 255)] + data
      + (data.count % 2 == 1 ? [0] : [])
  }

  private static let photoshop = Array("Photoshop 3.0\0".utf8)

  private static let thumbnails: [[UInt8]] = [
    preview,
    // A thumbnail of format 0 has plain samples.
    [0, 0, 0, 0] + Array("PREVIEW".utf8),
    // The thumbnail has a thumbnail of its own.
    [0xFF, 0xD8, 0xFF, 0xE1, 0, 6, 0xFF, 0xD8, 0xFF, 0xD9] + Array("PREVIEW".utf8) + [0xFF, 0xD9],
  ]

  @Test(arguments: thumbnails)
  func `Photoshop's thumbnails are removed and its other resources kept`(_ thumbnail: [UInt8])
    throws
  {
    let words = Self.resource(1028, Array("caption".utf8))
    let thumbnails = [1033, 1036].flatMap { Self.resource($0, thumbnail) }

    let mixed = try Self.kept(segment(0xED, Self.photoshop + thumbnails + words))
    let bare = try Self.kept(segment(0xED, Self.photoshop + thumbnails))
    let torn = try Self.kept(segment(0xED, Self.photoshop + thumbnails.dropLast(20)))

    #expect(mixed.contains(segment(0xED, Self.photoshop + words)))
    #expect(!mixed.contains(Array("PREVIEW".utf8)))
    #expect(!bare.contains(Self.photoshop) && !torn.contains(Self.photoshop))
  }

  @Test func `Photoshop's resources are kept if they are divided into several segments`() throws {
    let thumbnail = Self.resource(1036, [UInt8](repeating: 7, count: 301))
    let words = Self.resource(1028, Array("caption".utf8))
    let long = Self.resource(1029, noise(60_000, depth: 8, below: 200))
    let list = thumbnail + words + long + words + long
    // The first part ends in the thumbnail, the second in the first caption.
    let parts = [list[..<200], list[200..<320], list[320..<60_000], list[60_000...]]

    let made = try Self.kept(parts.flatMap { segment(0xED, Self.photoshop + $0) })

    let kept = Array(list.dropFirst(thumbnail.count))
    let split = [kept.prefix(65_519), kept.dropFirst(65_519)]
    #expect(made.contains(split.flatMap { segment(0xED, Self.photoshop + $0) }))
  }

  @Test func `all strips of a thumbnail with plain samples are removed`() throws {
    func short(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
    func long(_ value: Int) -> [UInt8] { short(value) + [0, 0] }
    func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
      short(tag) + short(type) + long(count) + long(value)
    }
    // IFD0 with the orientation; IFD1 at 26; the offsets and lengths of two strips at 56 and 64.
    let tiff =
      Array("II".utf8) + short(42) + long(8)
      + short(1) + entry(0x0112, 3, 1, 1) + long(26)
      + short(2) + entry(0x0111, 4, 2, 56) + entry(0x0117, 4, 2, 64) + long(0)
      + long(72) + long(82) + long(5) + long(5)
      + Array("PREVA-----PREVB".utf8)

    let made = try Self.kept(exifSegment(tiff))

    #expect(made.contains(Array("-----".utf8)))
    #expect(!made.contains(Array("PREV".utf8)))
  }

  @Test func `previews in maker notes and JFIF thumbnails are removed`() throws {
    let note = exifSegment(
      tiff(orientation: 1) + Array("MAKER".utf8) + Self.preview + Array("REST".utf8)
    )
    let small = segment(0xE0, Array("JFXX\0".utf8) + [0x10] + Self.preview)
    let claim = segment(0xEB, Array("JP".utf8) + Self.preview)

    let made = try Self.kept(note + small + claim)

    #expect(made.contains(Array("MAKER".utf8)) && made.contains(Array("REST".utf8)))
    #expect(!made.contains(Array("PREVIEW".utf8)))
    #expect(!made.contains(Array("JFXX".utf8)))
  }

  /// A picture in base64, in lines.
  private static let encoded =
    "/9j/4AAQ" + String(repeating: "&#xA;\n    SkZJRgABAQAAAQABAAD/2wBDAA+", count: 9) + "AA=="
  private static let blank = String(repeating: " ", count: encoded.utf8.count)
  /// Texts without a space, which are no pictures.
  private static let words =
    String(repeating: "&#26009;", count: 99) + String(repeating: "\nsoup", count: 99)
    + " " + String(repeating: "/9j/4AAQ", count: 9)
  /// The end of a packet, which leaves room for other programs.
  private static let padding = String(
    repeating: String(repeating: " ", count: 99) + "\n",
    count: 9
  )

  @Test(arguments: [
    ("tiff:Orientation=\"6\"", "tiff:Orientation=\"1\""),
    ("<tiff:Orientation>8</tiff:Orientation>", "<tiff:Orientation>1</tiff:Orientation>"),
    ("<xmpGImg:image>\(encoded)</xmpGImg:image>", "<xmpGImg:image>\(blank)</xmpGImg:image>"),
    ("GImage:Data='\(encoded)'", "GImage:Data='\(blank)'"),
    ("xapGImg:image=\"\(encoded)\"", "xapGImg:image=\"\(blank)\""),
    ("words='\(words)' padding='\(padding)'", "words='\(words)' padding='\(padding)'"),
  ])
  func `an XMP packet is corrected for the crop`(_ before: String, _ after: String) throws {
    let name = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    let made = try Self.kept(segment(0xE1, name + Array("<x \(before)>".utf8)))
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    let text = chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0<x \(before)>".utf8))
    let bytes = Array(plain[..<33]) + text + plain[33...]

    let png = try Crop(keepsMetadata: true).apply(to: PictureFile(bytes)).bytes

    #expect(made.contains(Array("<x \(after)>".utf8)))
    #expect(png.contains(chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0<x \(after)>".utf8))))
  }

  @Test(arguments: ["en\0", "\0XMP", "de\0XMP-Daten"])
  func `an XMP packet of a PNG is kept without its language and translated keyword`(
    _ names: String
  ) throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    let text = chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\(names)\0<x>words</x>".utf8))
    let file = try PictureFile(Array(plain[..<33]) + text + plain[33...])

    let png = try Crop(keepsMetadata: true).apply(to: file).bytes
    let jpeg = try Crop(format: .jpeg, keepsMetadata: true).apply(to: file).bytes

    #expect(png.contains(chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0<x>words</x>".utf8))))
    #expect(jpeg.contains(Array("http://ns.adobe.com/xap/1.0/\0<x>words</x>".utf8)))
  }

  @Test func `an orientation stored as a LONG is read in either byte order`() throws {
    let little: [UInt8] =
      Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 4, 0, 1, 0, 0, 0, 6, 0, 0, 0]
    let big: [UInt8] =
      Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 6]
    for tiff in [little, big] {
      let bytes = JPEGKind(name: "").bytes(
        width: 70,
        height: 50,
        segments: exifSegment(tiff + [0, 0, 0, 0])
      )

      #expect(try PictureFile(bytes).probe.orientation == .turnedLeft)
    }
  }

  @Test(arguments: [0, 1]) func `a comment with an invalid length counts as empty`(_ length: Int)
    throws
  {
    let kind = JPEGKind(name: "")
    let plain = kind.bytes(width: 70, height: 50)
    let note: [UInt8] = [0xFF, 0xFE, 0, UInt8(length)] + Array("words".utf8)
    let file = try PictureFile(kind.bytes(width: 70, height: 50, segments: note))
    for crop in [Crop(), Crop(size: 20), Crop(lossless: true)] {
      let square = try crop.apply(to: file)

      #expect(!square.isDamaged)
      #expect(try square.bytes == crop.apply(to: PictureFile(plain)).bytes)
    }
  }

  @Test func `an impossible lossless crop has a remark`()
    throws
  {
    let bytes = JPEGKind(name: "").bytes(
      width: 15,
      height: 12,
      segments: exifSegment(tiff(orientation: 3))
    )
    let crop = Crop(lossless: true)

    let square = try crop.apply(to: PictureFile(bytes))

    #expect(square.remarks == [.notLossless])
    let good = try PictureFile(JPEGKind(name: "").bytes(width: 70, height: 50))
    #expect(try crop.apply(to: good).remarks.isEmpty)
  }

  @Test
  func `a picture is re-encoded with a remark if its coefficients take too much memory to rotate`()
    throws
  {
    let bytes = JPEGKind(name: "").bytes(
      width: 160,
      height: 144,
      segments: exifSegment(tiff(orientation: 6))
    )
    let file = try PictureFile(bytes)
    // This is the size of the coefficients of the picture and of its turned copy, with two bytes for each sample.
    let needed = 160 * 144 * 3 / 2 * 2 * 2
    var crop = Crop(lossless: true, limits: PictureLimits(pixels: 150_000_000, memory: needed - 1))

    let square = try crop.apply(to: file)

    #expect(square.method == .reencoded && square.remarks == [.notLossless])
    crop.limits.memory = needed
    #expect(try crop.apply(to: file).method == .lossless)
  }

  @Test func `a picture without a date is stamped only with another time`()
    throws
  {
    let kind = JPEGKind(name: "")
    let dated = kind.bytes(
      width: 70,
      height: 50,
      segments: exifSegment(tiff(orientation: 1, dateTime: "2021:01:13 06:30:00"))
    )
    let undated = try PictureFile(kind.bytes(width: 70, height: 50), modified: 1_610_000_000)

    // The picture is so small that its text is small, too.
    #expect(try Stamp().apply(to: PictureFile(dated)).remarks == [.smallText])
    #expect { try Stamp().apply(to: undated) } throws: {
      ($0 as? ImagingError)?.code == .undated
    }
    #expect(try Stamp(time: .file).apply(to: undated).remarks == [.smallText])
  }

  @Test
  func `an existing file that is to be posted is delivered only if it is what the run makes`()
    throws
  {
    try withFolder { folder in
      let kind = PNGKind(name: "", layout: .rgb, depth: 8)
      let (input, output) = (folder.appending("in/x.png"), folder.appending("out/x.png"))
      try WholeFile.write(kind.bytes(width: 9, height: 9), to: input)
      let batch = try PictureBatch([folder.appending("in")], into: folder.appending("out"))
      try batch.run(Crop())
      let made = try PictureFile(output).bytes
      func run(_ make: @escaping PictureBatch.Make) throws -> (result: PictureResult, posts: Int) {
        let posts = Mutex(0)
        let results = try batch.run(
          make,
          skipsExisting: true,
          deliver: { _, result in
            posts.withLock { $0 += 1 }
            return result
          },
          isOwed: { _ in true }
        )
        #expect(try PictureFile(output).bytes == made)
        return (results[0], posts.withLock { $0 })
      }

      let same = try run { input, _ throws(LarderError) in
        try Crop().apply(to: input.file(PictureLimits()))
      }
      let other = try run { input, _ throws(LarderError) in
        try Crop(format: .webp).apply(to: input.file(PictureLimits()))
      }
      let none = try run { _, _ throws(LarderError) in throw LarderError(.undated, "no date") }

      #expect(same.posts == 1 && same.result.error == nil)
      #expect(other.posts == 0 && other.result.error?.code == .undelivered)
      #expect(none.posts == 0 && none.result.isSkipped && none.result.error == nil)
    }
  }

  @Test func `files of killed runs are removed by the next run, and no others`() throws {
    try withFolder { folder in
      let kind = PNGKind(name: "", layout: .rgb, depth: 8)
      try WholeFile.write(kind.bytes(width: 9, height: 9), to: folder.appending("in/x.png"))
      let out = folder.appending("out")
      // No process can have the PID 4194305. The process 1 always exists.
      let others = [
        ".1-2.1.part", ".film.2019.part", ".film.4194305.part", ".1-2.3.4194305.part", ".c.part",
        "1-2.4194305.part", ".e.x.part",
      ]
      for name in others + [".12-345.4194305.part"] {
        try WholeFile.write([1], to: out.appending(name))
      }

      try PictureBatch([folder.appending("in")], into: out).run(Crop())

      #expect(names(in: out) == Set(others + ["x.png"]))
    }
  }

  @Test
  func `if a file has the output folder's path, the error names that file and no temporary one`()
    throws
  {
    try withFolder { folder in
      let kind = PNGKind(name: "", layout: .rgb, depth: 8)
      let (input, out) = (folder.appending("x.png"), folder.appending("out.png"))
      try WholeFile.write(kind.bytes(width: 9, height: 9), to: input)
      try WholeFile.write([1], to: out)

      let error = #expect(throws: ImagingError.self) { try PictureBatch([input], into: out) }
      let late = #expect(throws: ImagingError.self) {
        try WholeFile.write([1], to: out.appending("x.png"))
      }

      #expect(error?.code == .usage)
      #expect(error?.description.contains("out.png: it is not a folder") == true)
      #expect(late?.description.contains(".part") == false)
    }
  }
}
