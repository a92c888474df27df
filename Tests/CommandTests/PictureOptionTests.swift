import Foundation
import Imaging
import Support
import Testing

/// The options, messages and exit statuses of `crop` and `stamp`.
struct PictureOptionTests {
  private static let photo = "\(Command.samples)/photo/wakeup-12mp.jpg"

  @Test func `a photo with more pixels than allowed is refused, and the option is named`() throws {
    let folder = try TemporaryFolder()

    let crop = try Command.larder(
      ["crop", Self.photo, "--out", folder.path("out"), "--max-pixels", "1000000"]
    )

    #expect(crop.status == 65)
    #expect(crop.errors.contains("--max-pixels"), "\(crop.errors)")
  }

  @Test func `the output format can be chosen or kept, and is reported`() throws {
    let folder = try TemporaryFolder()
    func crop(_ input: String, _ out: String, _ options: String...) throws -> Document {
      let made = try Command.larder(
        ["crop", input, "--out", folder.path(out), "--size", "64", "--json"] + options
      )
      #expect(made.status == 0, "\(made.errors)")
      return try Document(made)
    }

    for (format, ending) in [("jpg", "jpg"), ("png", "png"), ("webp", "webp"), ("avif", "avif")] {
      let made = try crop(Self.photo, "made", "--format", format)
      let output = try #require(made["output"].string)
      let kept = try crop(output, "kept", "--format", "keep")

      #expect(output.hasSuffix("/wakeup-12mp.\(ending)"))
      #expect(made["format"].string == (format == "jpg" ? "jpeg" : format))
      #expect(kept["format"].string == made["format"].string && kept["width"].int == 64)
      #expect(kept["output"].string?.hasSuffix(".\(ending)") == true)
    }
    let wrong = try Command.larder(
      ["crop", Self.photo, "--out", folder.path("made"), "--format", "gif"]
    )
    #expect(wrong.status == 64 && wrong.errors.contains("'keep', 'jpeg', 'png', 'webp' or 'avif'"))
  }

  @Test func `a shape, a fit and a background are applied, and the result is reported`() throws {
    let folder = try TemporaryFolder()
    func crop(_ options: String...) throws -> Document {
      let made = try Command.larder(
        ["crop", Self.photo, "--out", folder.path("out"), "--json", "--force"] + options
      )
      #expect(made.status == 0, "\(made.errors)")
      return try Document(made)
    }

    let filled = try crop("--size", "64x48", "--gravity", "top-left")
    let whole = try crop(
      "--size",
      "64",
      "--fit",
      "contain",
      "--background",
      "#00000000",
      "--format",
      "png"
    )
    let found = try crop("--size", "32", "--gravity", "attention")

    #expect(filled["width"].int == 64 && filled["height"].int == 48)
    #expect(filled["gravity"]["x"].int == 0 && filled["gravity"]["y"].int == 0)
    #expect(whole["width"].int == 64 && whole["height"].int == 64)
    #expect(whole["gravity"]["x"].int == 1512 && whole["gravity"]["y"].int == 2016)
    #expect(found["gravity"]["x"].int != nil && found["method"].string == "reencoded")
  }

  @Test(arguments: [
    (["crop", "--size", "640x"], "two like 640x480"),
    (["crop", "--size", "x9"], "two like 640x480"),
    (["crop", "--size", "1x2x3"], "from 1 to 16384"), (["crop", "--fit", "fill"], "contain"),
    (["crop", "--background", "#12"], "a colour like #fff"),
    (["crop", "--lossless", "--fit", "contain"], "cannot go with --fit contain"),
    (["crop", "--lossless", "--size", "64"], "cannot go with --size"),
    (["crop", "--no-enlarge"], "--no-enlarge needs --size"),
    (["stamp", "--no-enlarge"], "--no-enlarge needs --size"),
    (["stamp", "--position", "attention"], "bottom-right"),
    (["crop", "--progressive", "--format", "webp"], "only JPEG can be"),
    (["stamp", "--progressive", "--format", "png"], "only JPEG can be"),
    (["crop", "--chroma", "420", "--format", "png"], "choose jpeg or avif"),
    (["crop", "--chroma", "411"], "'420', '422' or '444'"),
    (["crop", "--lossless", "--chroma", "444"], "without loss"),
    (["crop", "--lossless", "--srgb"], "without loss"),
    (["stamp", "--style", "neon"], "scrim"), (["stamp", "--template", "{hour}"], "{weekday}"),
    (["stamp", "--font", "No Such Family"], "fc-list"),
  ])
  func `an invalid shape is a usage error`(_ words: [String], _ advice: String) throws {
    let folder = try TemporaryFolder()

    let made = try Command.larder(words + [Self.photo, "--out", folder.path("out")])

    #expect(made.status == 64)
    #expect(made.errors.contains(advice), "\(made.errors)")
  }

  @Test func `a photo can be made progressive, with the chroma given, and sRGB`() throws {
    let folder = try TemporaryFolder()
    func crop(_ options: String...) throws -> Data {
      let made = try Command.larder(
        ["crop", Self.photo, "--out", folder.path("out"), "--size", "64", "--force"] + options
      )
      #expect(made.status == 0, "\(made.errors)")
      return try #require(FileManager.default.contents(atPath: folder.path("out/wakeup-12mp.jpg")))
    }
    // The frame header after the marker: length, bits, height, width, component count, id and
    // sampling of the first component.
    func frame(_ bytes: Data, _ marker: UInt8) -> Data? {
      bytes.firstRange(of: [0xFF, marker, 0, 17]).map {
        bytes[$0.lowerBound..<$0.lowerBound + 12]
      }
    }

    let plain = try crop()
    let progressive = try crop("--progressive", "--chroma", "4:4:4", "--srgb")

    #expect(frame(plain, 0xC0) != nil && frame(plain, 0xC2) == nil)
    #expect(frame(progressive, 0xC2)?.last == 0x11)
  }

  @Test
  func `files of a folder that are not pictures are counted by extension, and named with -v`()
    throws
  {
    let folder = try TemporaryFolder()
    for name in ["a.MP4", "b.mp4", "sub/c.mp4", "x.jpg", "LICENSE", ".hidden"] {
      _ = try folder.write("no picture", to: "in/\(name)")
    }
    let none = try Command.larder(["crop", folder.path("in"), "--out", folder.path("out")])
    try FileManager.default.copyItem(atPath: Self.photo, toPath: folder.path("in/photo.jpg"))
    func crop(_ options: String...) throws -> Command {
      let words = [
        "crop", folder.path("in"), "--out", folder.path("out"), "--size", "32", "--force",
      ]
      return try Command.larder(words + options)
    }
    let count = "5 files are not pictures: 3 .mp4, 1 .jpg, 1 without extension\n"

    let (plain, named, quiet) = try (crop(), crop("-v"), crop("--quiet"))

    #expect(none.status == 65 && none.errors.hasPrefix(count))
    #expect(plain.status == 0 && plain.errors == count)
    #expect(named.errors.hasPrefix(count) && named.errors.contains("sub/c.mp4 is not a picture\n"))
    #expect(quiet.status == 0 && quiet.errors.isEmpty)
  }

  @Test func `existing files are kept, and a dry run writes nothing`() throws {
    let folder = try TemporaryFolder()
    let words = [
      "crop", Self.photo, "--out", folder.path("out"), "--size", "32", "--name",
      "{stem}-{size}.{ext}",
    ]
    let output = folder.path("out/wakeup-12mp-32.jpg")

    let plan = try Command.larder(words + ["--dry-run"])
    #expect(plan.status == 0)
    #expect(plan.output == "\(output)  from \(Self.photo) (not made yet)\n")
    #expect(!FileManager.default.fileExists(atPath: folder.path("out")))

    let first = try Command.larder(words + ["--skip-existing", "--json"])
    let again = try Command.larder(words + ["--skip-existing"])
    let asked = try Document(try Command.larder(words + ["--skip-existing", "--json"]))
    let refused = try Command.larder(words + ["--dry-run"])
    let both = try Command.larder(words + ["--skip-existing", "--force"])

    #expect(first.status == 0)
    #expect(try Document(first)["width"].int == 32)
    #expect(again.status == 0 && again.output == "\(output)  skipped: it exists already\n")
    #expect(asked["skipped"].bool == true && asked["width"].isNull)
    #expect(asked["output"].string == output)
    #expect(refused.status == 1 && refused.errors.contains("--skip-existing to leave it"))
    #expect(both.status == 64 && both.errors.contains("exclude each other"))
  }

  @Test func `a file instead of the output folder is a usage error that names it`() throws {
    let folder = try TemporaryFolder()
    try Data("x".utf8).write(to: URL(filePath: folder.path("out.jpg")))

    let crop = try Command.larder(["crop", Self.photo, "--out", folder.path("out.jpg")])

    #expect(crop.status == 64)
    #expect(crop.errors.contains("out.jpg: it is not a folder"), "\(crop.errors)")
  }

  @Test
  func `pictures without a date get no stamp, with one line about it, unless a time is given`()
    throws
  {
    let folder = try TemporaryFolder()
    let made = try Command.larder(
      ["crop", Self.photo, "--out", folder.path("bare"), "--size", "64"]
    )

    let stamp = try Command.larder(
      ["stamp", folder.path("bare/wakeup-12mp.jpg"), "--out", folder.path("out")]
    )

    #expect(made.status == 0)
    #expect(stamp.status == 65)
    #expect(stamp.errors.contains("it has no date taken (EXIF, XMP or GPS)"), "\(stamp.errors)")
    let others = ["a", "b"].map { folder.path("bare/\($0).jpg") }
    for other in others {
      try FileManager.default.copyItem(atPath: folder.path("bare/wakeup-12mp.jpg"), toPath: other)
    }
    let dated = folder.path("dated.jpg")
    try FileManager.default.copyItem(atPath: Self.photo, toPath: dated)
    let all = try Command.larder(
      ["stamp", folder.path("bare"), dated, "--out", folder.path("all"), "--size", "300"]
    )
    #expect(all.status == 3)
    let told = """
      larder: 3 pictures have no date, and were not stamped; --time file uses the time at which a file was last written
      1 picture made, 3 undated

      """
    #expect(all.errors == told, "\(all.errors)")
    let filed = try Command.larder(
      ["stamp", folder.path("bare"), "--out", folder.path("filed"), "--time", "file", "--quiet"]
    )
    #expect(filed.status == 0, "\(filed.errors)")
  }

  @Test func `a batch with failures ends with counts`() throws {
    let folder = try TemporaryFolder()
    let photo = try Data(contentsOf: URL(filePath: Self.photo))
    try FileManager.default.createDirectory(
      atPath: folder.path("in"),
      withIntermediateDirectories: true
    )
    try photo.write(to: URL(filePath: folder.path("in/a.jpg")))
    try photo.prefix(photo.count / 2).write(to: URL(filePath: folder.path("in/b.jpg")))
    try photo.prefix(20).write(to: URL(filePath: folder.path("in/c.jpg")))

    let crop = try Command.larder(
      ["crop", folder.path("in"), "--out", folder.path("out"), "--size", "64"]
    )

    #expect(crop.status == 3)
    #expect(
      crop.errors.hasSuffix("\n2 pictures made, 1 unreadable, 1 damaged\n"),
      "\(crop.errors)"
    )
  }

  @Test(arguments: [
    (["LANG": "ko_KR.UTF-8"], true), (["LANG": "ko_KR.UTF-8", "LC_TIME": "C"], false),
    (["LANG": "C", "LC_ALL": "ko_KR.UTF-8"], true), (["LANG": "tlh"], false),
  ])
  func `dates are written in the environment's language`(
    _ variables: [String: String],
    _ isKorean: Bool
  ) throws {
    let folder = try TemporaryFolder()
    func stamp(_ out: String, _ variables: [String: String], _ options: [String]) throws -> Data {
      let made = try Command.larder(
        ["stamp", Self.photo, "--out", folder.path(out), "--size", "300"] + options,
        environment: variables
      )
      #expect(made.status == 0, "\(made.errors)")
      return try Data(contentsOf: URL(filePath: folder.path("\(out)/wakeup-12mp.jpg")))
    }

    let own = try stamp("own", variables, [])
    let asked = try stamp("asked", [:], ["--locale", isKorean ? "ko_KR" : "en"])

    #expect(own == asked)
  }

  @Test(arguments: [
    ("Asia/Seoul", "2021-01-13T06:30:00+09:00"), (":Asia/Seoul", "2021-01-13T06:30:00+09:00"),
    ("/usr/share/zoneinfo/Asia/Seoul", "2021-01-13T06:30:00+09:00"),
    ("KST-9", "2021-01-13T06:30:00+09:00"), ("<+09>-9", "2021-01-13T06:30:00+09:00"),
    ("EST5EDT,M3.2.0,M11.1.0", "2021-01-12T16:30:00-05:00"), ("", "2021-01-12T21:30:00Z"),
  ])
  func `TZ sets this machine's zone, in all its forms`(_ zone: String, _ time: String) throws {
    let folder = try TemporaryFolder()
    let photo = folder.path("morning.png")
    let bitmap = Bitmap(
      width: 64,
      height: 48,
      layout: .rgb,
      samples: [UInt8](repeating: 90, count: 64 * 48 * 3)
    )
    try Data(try bitmap.png()).write(to: URL(filePath: photo))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_610_487_000)],
      ofItemAtPath: photo
    )

    let stamp = try Command.larder(
      ["stamp", photo, "--out", folder.path("out"), "--time", "file", "--json"],
      environment: ["TZ": zone]
    )

    #expect(stamp.status == 0, "\(stamp.errors)")
    #expect(try Document(stamp)["time"].string == time)
  }
}
