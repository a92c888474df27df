import SystemPackage
import Testing

@testable import Imaging

/// Conversions from each picture format to every other one.
struct FormatTests {
  /// One picture in every format, in each of the format's variants.
  static let sources: [(name: String, bytes: [UInt8])] = {
    let picture = colours(width: 60, height: 44)
    let clear = colours(width: 60, height: 44, isClear: true)
    let grey = Bitmap(
      width: 60,
      height: 44,
      layout: .grey,
      samples: wave(width: 60, height: 44, channels: 1)
    )
    let wide = PNGKind(name: "", layout: .rgba, depth: 16)
    return [
      ("jpeg", JPEGKind(name: "").bytes(width: 60, height: 44)),
      (
        "grey jpeg",
        JPEGKind(name: "", colourSpace: 1, across: 1, down: 1).bytes(width: 60, height: 44)
      ),
      ("ink", JPEGKind(name: "", colourSpace: 5).bytes(width: 60, height: 44)),
      ("png", try? picture.png()), ("clear png", try? clear.png()), ("grey png", try? grey.png()),
      ("16 bits", try? wide.bytes(width: 60, height: 44)),
      ("webp", try? webp(picture)), ("lossy webp", try? webp(clear, lossless: false)),
      ("avif", AVIFKind().bytes(picture)),
      ("12 bits", AVIFKind(depth: 12, chroma: 3).bytes(picture)),
      ("clear avif", AVIFKind(isClear: true).bytes(clear)),
      ("gif", GIFKind(clear: 1).bytes(width: 60, height: 44)),
    ].compactMap { pair in pair.1.map { (pair.0, $0) } }
  }()

  @Test(arguments: sources.indices, [PictureFormat.jpeg, .png, .webp, .avif])
  func `any picture becomes any format, unscaled and scaled`(
    _ index: Int,
    _ format: PictureFormat
  ) throws {
    let (name, bytes) = Self.sources[index]
    let file = try PictureFile(bytes)
    for size in [nil, 30] {
      let square = try Crop(size: size, format: format, quality: 95).apply(to: file)
      let exact = try Crop(size: size, format: .png).apply(to: file)

      let made = try PictureFile(square.bytes)
      #expect(square.format == format && made.probe.format == format)
      #expect(made.probe.width == size ?? 44 && made.probe.height == size ?? 44)
      // Both are composited on white, because a JPEG has no transparency.
      let (left, right) = try (decoded(square.bytes), decoded(exact.bytes))
      let likeness = psnr(left.flattened(.rgb), right.flattened(.rgb))
      #expect(likeness > (name == "gif" || name == "16 bits" ? 8 : 30), "\(name): \(likeness)")
    }
  }

  @Test(arguments: sources.indices, [PictureFormat.png, .webp, .avif])
  func `a lossless result has the samples of its source`(
    _ index: Int,
    _ format: PictureFormat
  ) throws {
    let (name, bytes) = Self.sources[index]
    let file = try PictureFile(bytes)
    guard file.probe.depth <= 8, name != "ink" else { return }

    let square = try Crop(format: format, lossless: true).apply(to: file)

    let exact = try Crop(format: .png).apply(to: file)
    #expect(square.method == .lossless && square.remarks.isEmpty)
    #expect(try rgba(decoded(square.bytes)) == rgba(decoded(exact.bytes)), "\(name)")
  }

  @Test func `a result that cannot be lossless has a remark`()
    throws
  {
    for (bytes, format) in [
      (Self.sources[3].bytes, PictureFormat.jpeg), (Self.sources[6].bytes, .webp),
    ] {
      let file = try PictureFile(bytes)
      let crop = Crop(format: format, lossless: true)

      #expect(try crop.apply(to: file).remarks == [.notLossless])
    }
  }

  @Test(
    arguments: [PictureFormat.jpeg, .png, .webp, .avif],
    [PictureFormat.jpeg, .png, .webp, .avif]
  )
  func `profiles are copied, and metadata on request`(
    _ from: PictureFormat,
    _ to: PictureFormat
  ) throws {
    var profile = noise(600, depth: 8)
    profile.replaceSubrange(16..<20, with: Array("RGB ".utf8))
    var tags = PictureTags()
    tags.profile = profile
    tags.exif = tiff(orientation: 1, dateTime: "2021:01:13 06:30:00")
    tags.xmp = Array("<x:xmpmeta tiff:Orientation=\"1\"/>".utf8)
    let plain = try PictureFile(Self.sources[0].bytes)
    let source = try from.codec.encode(
      BitmapRows(colours(width: 30, height: 20).flattened(.rgb)),
      PictureEncoding(lossless: false, source: plain, tags: tags)
    )
    let file = try PictureFile(source.bytes())

    let full = try Crop(format: to, keepsMetadata: true).apply(to: file)
    let bare = try Crop(format: to).apply(to: file)

    func found(_ bytes: [UInt8]) throws -> PictureTags {
      PictureTags(
        of: try PictureFile(bytes),
        size: PixelSize(side: 20),
        metadata: true
      )
    }
    #expect(try found(full.bytes).profile == profile)
    #expect(try found(full.bytes).xmp == tags.xmp)
    #expect(try PictureFile(full.bytes).probe.exif?.dateTime == "2021:01:13 06:30:00")
    #expect(try found(bare.bytes).profile == profile)
    #expect(try found(bare.bytes).xmp == [] && PictureFile(bare.bytes).probe.exif == nil)
  }

  @Test(arguments: sources.indices, [PictureFormat?.none, .webp, .avif, .png, .jpeg])
  func `any picture is stamped in any format`(_ index: Int, _ format: PictureFormat?) throws {
    let (name, bytes) = Self.sources[index]
    let file = try PictureFile(bytes, modified: 1_610_000_000)
    let stamp = Stamp(crop: Crop(size: 120, format: format), time: .file)

    let picture = try stamp.apply(to: file)

    let made = try PictureFile(picture.bytes)
    #expect(made.probe.format == format ?? file.probe.format.kept)
    #expect(made.probe.width == 120 && picture.time?.source == .file, "\(name)")
    // There must be white letters somewhere in the lower half.
    let pixels = try rgba(decoded(picture.bytes))
    let brightest = (60..<120).flatMap { y in (0..<120).map { pixels[$0, y].prefix(3).min() ?? 0 }
    }
    #expect((brightest.max() ?? 0) > 200, "\(name)")
  }

  @Test func `outputs have the extension of their format`() throws {
    try withFolder { folder in
      for (index, source) in Self.sources.enumerated() {
        try WholeFile.write(source.bytes, to: folder.appending("in/\(index).bin"), overwrite: true)
      }
      let kept = try PictureBatch([folder.appending("in")], into: folder.appending("kept"))
      let webp = try PictureBatch(
        [folder.appending("in")],
        into: folder.appending("webp"),
        format: .webp
      )

      let results = try kept.run(Crop()) + webp.run(Crop(format: .webp))

      #expect(results.allSatisfy { $0.error == nil })
      for result in results {
        let output = FilePath(try #require(result.output))
        let format = try PictureFile(output).probe.format
        #expect(output.extension == format.fileExtension && result.summary?.format == format)
      }
    }
  }
}
