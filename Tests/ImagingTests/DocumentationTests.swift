import Foundation
import Imaging
import SystemPackage
import Testing

/// Compiles and runs the example in docs/pictures.md.
struct DocumentationTests {
  private func example(_ folder: String) throws {
    // One photo, 512 pixels a side, upright, without its metadata.
    let photo = try PictureFile(FilePath("\(folder)/morning.jpg"))
    let square = try Crop(size: 512).apply(to: photo)
    try WholeFile.write(square.bytes, to: FilePath("\(folder)/square.jpg"))

    // What a file says of itself, before any pixel is decoded.
    let probe = photo.probe
    print(probe.format, probe.width, probe.height, probe.exif?.dateTime ?? "no date")

    // Its pixels; the layout says what the samples of one are.
    let pixels = try Bitmap(decoding: PictureFile(square.bytes))
    print(pixels.layout, pixels[0, 0])

    // The square in the photo's own coefficients, as near to the top as they can be cut.
    let exact = try Crop(gravity: .top, lossless: true).apply(to: photo)
    print(exact.method, "moved by", exact.shift.x, exact.shift.y)

    // A banner of the part that people look at, and the whole photo on a tile.
    var banner = Crop(gravity: .attention)
    banner.frame = PixelSize(width: 1200, height: 630)
    let wide = try banner.apply(to: photo)
    print(wide.width, wide.height, wide.gravity?.x ?? 0, wide.gravity?.y ?? 0)
    var tile = Crop(size: 256)
    (tile.fit, tile.background) = (.contain, PictureColour("#f4f4f4"))
    print(try tile.apply(to: photo).bytes.count)

    // The same with the time on it, as people write it in Seoul.
    var stamp = Stamp(crop: Crop(size: 1080), time: .exif)
    stamp.locale = try StampLocale("ko_KR")
    stamp.zone = try Zone(named: "Asia/Seoul")
    stamp.text = "해 뜨기 전에 일어났다"
    let stamped = try stamp.apply(to: photo)
    print(stamped.time?.description ?? "", stamped.time?.source.rawValue ?? "")

    // In another format; without one, each picture keeps its own; a GIF, TIFF or BMP becomes a PNG, an HEIC a JPEG.
    let web = try Crop(size: 512, format: .webp, quality: 75).apply(to: photo)
    print(web.format, web.bytes.count)

    // A folder on all processors; a file that cannot be read is a result with an error, and stops no other.
    let batch = try PictureBatch([FilePath(folder)], into: FilePath("\(folder)/squares"))
    for result in try batch.run(Crop(size: 256)) {
      print(result.input, result.output ?? "", result.error?.description ?? "")
    }

    // What comes on stdin is an input too, called `-`; one picture at a time takes the least memory.
    let piped = try PictureBatch(["-"], into: FilePath("\(folder)/piped")) { photo.bytes }
    print(try piped.run(Crop(size: 64), workers: 1).map(\.input))
  }

  @Test func `the example in the documentation compiles, runs and equals this one`() throws {
    try withFolder { folder in
      let exif = exifSegment(tiff(orientation: 6, dateTime: "2021:01:13 06:30:00"))
      let photo = JPEGKind(name: "").bytes(width: 80, height: 60, segments: exif)
      try WholeFile.write(photo, to: folder.appending("morning.jpg"))

      try example(folder.string)

      #expect(try PictureFile(folder.appending("square.jpg")).probe.width == 512)
      #expect(names(in: folder.appending("squares")) == ["morning.jpg", "square.jpg"])
    }
    let here = URL(filePath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let document = try String(
      contentsOf: root.appending(path: "docs/pictures.md"),
      encoding: .utf8
    )
    let source = try String(contentsOf: here, encoding: .utf8)
    let shown = try #require(
      document.split(separator: "```swift\n").last?.split(separator: "```").first
    )
    let indented = shown.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.isEmpty ? "" : "    " + $0
    }
    #expect(source.contains(indented.joined(separator: "\n").trimmingCharacters(in: .newlines)))
  }
}
