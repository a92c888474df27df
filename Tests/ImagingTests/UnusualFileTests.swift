import Testing

@testable import Imaging

/// Files that follow their format in a rare way, or violate it in a way that many readers accept.
struct UnusualFileTests {
  private static let bitmap = Bitmap(
    width: 48,
    height: 32,
    layout: .rgb,
    samples: wave(width: 48, height: 32, channels: 3)
  )

  /// A PNG with further chunks directly after its header.
  private static func png(_ chunks: [UInt8], of bitmap: Bitmap = bitmap) throws -> [UInt8] {
    var bytes = try bitmap.png()
    bytes.insert(contentsOf: chunks, at: 33)
    return bytes
  }

  private static func number(_ value: Int) -> [UInt8] { little(value, 4).reversed() }

  @Test func `an AVIF is recognised by a compatible brand`() throws {
    let square = try Crop(format: .avif).apply(to: PictureFile(Self.bitmap.png())).bytes
    var bytes = square
    bytes.replaceSubrange(8..<12, with: Array("mif1".utf8))
    var foreign = bytes
    for place in stride(from: 16, to: 40, by: 4)
    where foreign[place..<place + 4].elementsEqual("avif".utf8) {
      foreign.replaceSubrange(place..<place + 4, with: Array("heic".utf8))
    }

    #expect(PictureFormat(sniffing: square) == .avif)
    #expect(PictureFormat(sniffing: bytes) == .avif)
    #expect(try isSame(decoded(bytes), decoded(square)))
    #expect(PictureFormat(sniffing: foreign) == .heic)
  }

  @Test func `the first of two orientations is used, and both are reset`() throws {
    func short(_ value: Int) -> [UInt8] { little(value, 2) }
    func entry(_ value: Int) -> [UInt8] {
      short(0x0112) + short(3) + little(1, 4) + little(value, 4)
    }
    let tiff =
      Array("II".utf8) + short(42) + little(8, 4) + short(2) + entry(6) + entry(1) + little(0, 4)
    let bytes = JPEGKind(name: "").bytes(width: 40, height: 24, segments: exifSegment(tiff))

    let file = try PictureFile(bytes)
    let made = try PictureFile(Crop(keepsMetadata: true).apply(to: file).bytes)

    #expect(file.probe.orientation == .turnedLeft)
    #expect(made.probe.orientation == .upright)
    let packet = made.probe.structure.exif
    let kept = places(of: 0x0112, in: packet)
    #expect(kept.map { packet[$0] } == [1, 1])
  }

  @Test func `colours that a PNG gives as numbers are kept in every format`() throws {
    // The colours are those of Display P3, with sRGB's curve and full-range samples. (ITU-T H.273)
    let file = try PictureFile(Self.png(chunk("cICP", [12, 13, 0, 1])))
    let plain = try PictureFile(Self.bitmap.png())

    for format in [PictureFormat.jpeg, .webp] {
      let made = try PictureFile(Crop(format: format).apply(to: file).bytes)
      #expect(made.probe.structure.profile.count > 128, "\(format)")
    }
    let avif = try PictureFile(Crop(format: .avif).apply(to: file).bytes)
    let colour = try #require((avif.probe.structure as? AVIFHeader)?.colour)
    #expect(colour.primaries == 12 && colour.transfer == 13)
    let converted = try Crop(format: .png).apply(to: file)
    var crop = Crop()
    crop.convertsToSRGB = true
    let srgb = try crop.apply(to: file)
    #expect(converted.bytes.firstRange(of: Array("cICP".utf8)) != nil)
    #expect(srgb.bytes.firstRange(of: Array("cICP".utf8)) == nil)
    #expect(try largestDifference(decoded(srgb.bytes), decoded(crop.apply(to: plain).bytes)) > 8)
  }

  @Test func `a gamma that a new format cannot store is remarked on`() throws {
    let odd = try PictureFile(Self.png(chunk("gAMA", Self.number(100_000))))
    let usual = try PictureFile(Self.png(chunk("gAMA", Self.number(45_455))))
    let named = try PictureFile(
      Self.png(chunk("gAMA", Self.number(100_000)) + chunk("sRGB", [0]))
    )

    #expect(try Crop(format: .jpeg).apply(to: odd).remarks == [.noGamma])
    #expect(try Crop().apply(to: odd).remarks == [])
    #expect(try Crop(format: .jpeg).apply(to: usual).remarks == [])
    #expect(try Crop(format: .jpeg).apply(to: named).remarks == [])
  }

  @Test(arguments: [PictureFormat.webp, .avif])
  func `16 bits are reduced only to the depth of the format`(_ format: PictureFormat)
    throws
  {
    let deep = PNGKind(name: "", layout: .rgb, depth: 16).bitmap(width: 40, height: 40)
    let crop = Crop(format: format, lossless: true)

    let made = try crop.apply(to: PictureFile(deep.png()))

    #expect(made.remarks == [.notLossless] && made.method == .reencoded)
    let result = try decoded(made.bytes)
    // The difference may be one step of 8 or 12 bits, plus half a step for rounding.
    let step = format == .webp ? 257 : 17
    let channels = result.layout == .bgrx ? [2, 1, 0] : [0, 1, 2]
    for y in 0..<40 {
      for x in 0..<40 {
        for (channel, other) in zip(channels, deep[x, y]) {
          let one = Int(result[x, y][channel])
          let wide = result.depth == 16 ? one : one * 257
          #expect(abs(wide - Int(other)) <= step, "\(x), \(y)")
        }
      }
    }
  }

  @Test(arguments: [nil, 8])
  func `an index without a colour is black at every size`(_ side: Int?) throws {
    let palette = Bitmap.Palette(colours: [200, 200, 200, 90, 90, 90])
    let bitmap = Bitmap(
      width: 16,
      height: 16,
      layout: .indexed(palette),
      depth: 8,
      samples: (0..<256).map { $0 < 128 ? 1 : 5 }
    )

    let made = try Crop(size: side).apply(to: PictureFile(bitmap.png()))

    let result = try decoded(made.bytes)
    #expect(result[0, 0].prefix(3) == [90, 90, 90])
    #expect(result[0, result.height - 1].prefix(3) == [0, 0, 0])
  }

  @Test(arguments: [nil, 8])
  func `a tRNS chunk after the data has no effect at any size`(_ side: Int?) throws {
    var bytes = try Bitmap(
      width: 16,
      height: 16,
      layout: .grey,
      samples: [UInt8](repeating: 7, count: 256)
    ).png()
    bytes.insert(contentsOf: chunk("tRNS", [0, 7]), at: bytes.count - 12)

    let made = try Crop(size: side).apply(to: PictureFile(bytes))

    #expect(try decoded(made.bytes)[0, 0] == [7])
  }

  @Test func `only as many bits of a transparent colour count as a sample has`() throws {
    let plain = try Bitmap(
      width: 16,
      height: 16,
      layout: .grey,
      samples: [UInt8](repeating: 7, count: 256)
    ).png()
    func made(_ colour: [UInt8]) throws -> [UInt8] {
      var bytes = plain
      // After the signature and IHDR.
      bytes.insert(contentsOf: chunk("tRNS", colour), at: 33)
      return try Crop().apply(to: PictureFile(bytes)).bytes
    }

    #expect(try made([1, 7]) == made([0, 7]))
    #expect(try made([0, 7]) != Crop().apply(to: PictureFile(plain)).bytes)
  }

  @Test func `a progressive JPEG that ends after its first scans is damaged`() throws {
    var crop = Crop(format: .jpeg)
    crop.isProgressive = true
    let whole = try crop.apply(to: PictureFile(Self.bitmap.png())).bytes
    let scans = whole.indices.filter { whole[$0...].starts(with: [0xFF, 0xDA]) }
    let lossless = Crop(lossless: true)

    #expect(scans.count > 3)
    #expect(try !lossless.apply(to: PictureFile(whole)).isDamaged)
    for end in scans.dropFirst() {
      let part = try PictureFile(whole[..<end] + [0xFF, 0xD9])

      #expect(part.probe.isCutShort)
      #expect(try Crop().apply(to: part).isDamaged)
      #expect(try Crop(size: 8).apply(to: part).isDamaged)
      #expect(try lossless.apply(to: part).isDamaged)
    }
  }

  @Test func `a WebP of a few bytes that declares many pixels is refused`() throws {
    func still(_ side: Int) -> [UInt8] {
      let size = (side - 1) | (side - 1) << 14
      return webp(chunks: riff("VP8L", [0x2F] + little(size, 4) + Array(repeating: 0, count: 17)))
    }

    #expect { try PictureFile(still(12_000)) } throws: {
      ($0 as? ImagingError)?.code == .tooLarge
    }
    #expect(try PictureFile(still(4000)).probe.width == 4000)
  }

  @Test(
    arguments: [
      ("qoif\0\0\0\u{01}", "QOI", "ImageMagick"),
      ("8BPS\0\u{01}", "PSD", "ImageMagick"),
      ("<svg xmlns=''/>", "SVG", "rsvg-convert"), ("BMW is a car", nil, ""), ("", nil, ""),
      ("\0\0\0\u{18}ftypisom\0\0\0\0isommp42", nil, ""),
    ] as [(String, String?, String)]
  )
  func `an unsupported kind is named, with a program that converts it`(
    _ text: String,
    _ name: String?,
    _ converter: String
  ) throws {
    let bytes = text.unicodeScalars.map { UInt8($0.value) }
    try withFolder { folder in
      try WholeFile.write(bytes, to: folder.appending("in/x.dat"))
      try WholeFile.write(Self.bitmap.png(), to: folder.appending("in/y.png"))

      let batch = try PictureBatch([folder.appending("in")], into: folder.appending("out"))

      #expect(batch.others.count == (name == nil ? 1 : 0))
      #expect(batch.items.count == (name == nil ? 1 : 2))
      guard let name else { return }
      let words = batch.items.first?.error?.problem ?? ""
      #expect(words.hasSuffix(": larder does not read \(name); convert it with \(converter)"))
      #expect { try PictureFile(bytes) } throws: {
        ($0 as? ImagingError)?.code == .unreadKind
      }
    }
  }

  @Test func `a picture enlarged more than twice is remarked on`() throws {
    let file = try PictureFile(Self.bitmap.png())

    #expect(try Crop(size: 65).apply(to: file).remarks == [.enlarged])
    #expect(try Crop(size: 64).apply(to: file).remarks == [])
  }
}

/// The date of a picture whose EXIF data has none.
struct TakenTimeTests {
  @Test(
    arguments: [
      (#"<x exif:DateTimeOriginal="2021-01-13T06:30:00+09:00"/>"#, "2021-01-13 06:30:00", 32_400),
      (
        "<photoshop:DateCreated>2021-01-13T06:30:00.25Z</photoshop:DateCreated>",
        "2021-01-13 06:30:00", 0
      ),
      ("<x xmp:CreateDate='2021-01-13T06:30'/>", "2021-01-13 06:30:00", nil),
      (#"<x xmp:CreateDate="2021-01-13"/>"#, nil, nil), ("<x/>", nil, nil),
      (#"xmp:CreateDate="2021-13-13T06:30:00""#, nil, nil), ("xmp:CreateDate=\"", nil, nil),
    ] as [(String, String?, Int?)]
  )
  func `XMP dates are read in all their forms`(_ packet: String, _ time: String?, _ offset: Int?) {
    let taken = TakenTime(xmp: Array(packet.utf8))

    #expect(taken?.civil.text == time)
    #expect(taken?.offset == offset)
  }

  @Test func `XMP gives the date when EXIF has none, and GPS time when neither has`() throws {
    func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
      little(tag, 2) + little(type, 2) + little(count, 4) + little(value, 4)
    }
    // The IFD points to the GPS IFD, which has a date, followed by hours, minutes and seconds as fractions.
    let gps =
      Array("II".utf8) + little(42, 2) + little(8, 4) + little(1, 2) + entry(0x8825, 4, 1, 26)
      + little(0, 4) + little(2, 2) + entry(0x001D, 2, 11, 56) + entry(0x0007, 5, 3, 68)
      + little(0, 4) + Array("2021:01:12\0\0".utf8)
      + [21, 1, 30, 1, 599, 10].flatMap { little($0, 4) }
    let xmp = segment(
      0xE1,
      Array("http://ns.adobe.com/xap/1.0/\0".utf8)
        + Array(#"<x xmp:CreateDate="2021-01-13T06:30:00+09:00"/>"#.utf8)
    )
    func time(_ segments: [UInt8]) throws -> String? {
      let bytes = JPEGKind(name: "").bytes(width: 200, height: 200, segments: segments)
      return try Stamp().apply(to: PictureFile(bytes)).time?.description
    }

    #expect(try time(exifSegment(gps)) == "2021-01-12T21:30:59Z")
    #expect(try time(exifSegment(gps) + xmp) == "2021-01-13T06:30:00+09:00")
    let dated = exifSegment(
      tiff(orientation: 1, dateTime: "2020:02:03 04:05:06", offset: "+01:00")
    )
    #expect(try time(dated + xmp) == "2020-02-03T04:05:06+01:00")
    // The time at which the file was changed comes last. The GPS IFD is 12 bytes further behind the other entry.
    func changed(_ gps: [UInt8]) -> [UInt8] {
      let main = little(gps.isEmpty ? 1 : 2, 2) + entry(0x0132, 2, 20, gps.isEmpty ? 26 : 104)
      return exifSegment(
        Array("II".utf8) + little(42, 2) + little(8, 4) + main + gps
          + (gps.isEmpty ? little(0, 4) : []) + Array("2019:01:01 00:00:00\0".utf8)
      )
    }
    let moved =
      entry(0x8825, 4, 1, 38) + little(0, 4) + little(2, 2) + entry(0x001D, 2, 11, 68)
      + entry(0x0007, 5, 3, 80) + gps[52...]
    #expect(try time(changed([]) + xmp) == "2021-01-13T06:30:00+09:00")
    #expect(try time(changed(moved)) == "2021-01-12T21:30:59Z")
    #expect(try time(changed([]))?.hasPrefix("2019-01-01T00:00:00") == true)
  }
}
