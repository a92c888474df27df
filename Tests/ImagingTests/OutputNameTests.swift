import Glibc
import SystemPackage
import Testing

@testable import Imaging

/// The output names of a batch, which inputs are skipped, and the plan of a dry run.
struct OutputNameTests {
  private static func text(_ name: PictureName, _ stem: String, _ ending: String) -> String {
    String(decoding: name.bytes(stem: Array(stem.utf8), ending: ending), as: UTF8.self)
  }

  @Test(
    arguments: [
      ("{stem}.{ext}", nil, "soup.jpg"), ("{stem}-{size}.{ext}", 512, "soup-512.jpg"),
      ("thumb_{stem}.{ext}", nil, "thumb_soup.jpg"),
      ("{size}{stem}{stem}.x.{ext}", 8, "8soupsoup.x.jpg"),
    ] as [(String, Int?, String)]
  )
  func `a template is filled in`(_ template: String, _ side: Int?, _ name: String) throws {
    let made = try PictureName(template, size: side.map { PixelSize(side: $0) })

    #expect(Self.text(made, "soup", "jpg") == name)
  }

  @Test func `a size that is not square is named by both sides`() throws {
    let made = try PictureName("{stem}-{size}.{ext}", size: PixelSize(width: 640, height: 480))

    #expect(Self.text(made, "a", "webp") == "a-640x480.webp")
  }

  @Test(arguments: [
    ("{ext}", "end it with .{ext}"), ("soup", "end it with .{ext}"),
    ("{stem}", "end it with .{ext}"),
    ("{stem}{ext}", "end it with .{ext}"), ("{stem}.jpg", "end it with .{ext}"),
    ("{stem}-{size}.{ext}", "{size} needs a size"), ("{stem}.{ext", "close it"),
    ("{name}.{ext}", "use {stem}, {size} and {ext}"), ("../{stem}.{ext}", "another folder"),
    ("{stem}/x.{ext}", "another folder"), ("", "try {stem}.{ext}"),
  ])
  func `an invalid template gives advice`(_ template: String, _ advice: String) {
    #expect {
      try PictureName(template)
    } throws: {
      let error = $0 as? ImagingError
      return error?.code == .usage && error?.problem.contains(advice) == true
    }
  }

  private static func put(_ folder: FilePath, _ names: String...) throws {
    for name in names {
      let kind = PNGKind(name: "", layout: .rgb, depth: 8)
      try WholeFile.write(kind.bytes(width: 9, height: 7), to: folder.appending(name))
    }
  }

  @Test
  func `a name without the input's stem is for a single picture, and gets its format's extension`()
    throws
  {
    try withFolder { folder in
      try Self.put(folder, "in/a.png", "in/b.png")
      func output(
        _ inputs: [FilePath],
        _ name: String,
        _ format: PictureFormat? = nil
      ) throws -> FilePath? {
        try PictureBatch(
          inputs.map { folder.pushing($0) },
          into: folder.appending("out"),
          format: format,
          name: PictureName(name)
        ).items[0].output
      }
      func advice(_ inputs: [FilePath], _ name: String) -> String {
        do {
          return "\(String(describing: try output(inputs, name)))"
        } catch {
          return "\(error)"
        }
      }

      #expect(try output(["in/a.png"], "c.png") == folder.appending("out/c.png"))
      #expect(try output(["in/a.png"], "c.JPEG", .jpeg) == folder.appending("out/c.JPEG"))
      #expect(try output(["in/a.png"], "c.{ext}", .webp) == folder.appending("out/c.webp"))
      #expect(
        advice(["in/a.png"], "c.jpg").contains(
          "the output format is PNG, but the name has another extension"
        )
      )
      #expect(advice(["in/a.png", "in/b.png"], "c.png").contains("add {stem}"))
      #expect(advice(["in"], "c.png").contains("add {stem}"))
    }
  }

  @Test func `only inputs whose output exists are skipped`() throws {
    try withFolder { folder in
      try Self.put(folder, "in/a.png", "in/b.png", "in/deep/c.png")
      try WholeFile.write([7], to: folder.appending("out/a-4.png"))
      let batch = try PictureBatch(
        [folder.appending("in")],
        into: folder.appending("out"),
        name: PictureName("{stem}-{size}.{ext}", size: PixelSize(side: 4))
      )

      let first = try batch.run(Crop(size: 4), skipsExisting: true)
      let second = try batch.run(Crop(size: 4), skipsExisting: true)

      #expect(first.map(\.isSkipped) == [true, false, false])
      #expect(first.allSatisfy { $0.error == nil && $0.output != nil })
      #expect(first.map(\.summary?.width) == [nil, 4, 4])
      #expect(try PictureFile(folder.appending("out/b-4.png")).probe.width == 4)
      #expect(names(in: folder.appending("out")) == ["a-4.png", "b-4.png", "deep"])
      #expect(second.map(\.isSkipped) == [true, true, true])
    }
  }

  @Test func `an empty file or a folder is no finished output`() throws {
    try withFolder { folder in
      try Self.put(folder, "in/a.png", "in/b.png", "out/b.png/c.png")
      try WholeFile.write([], to: folder.appending("out/a.png"))
      let batch = try PictureBatch([folder.appending("in")], into: folder.appending("out"))

      #expect(batch.plan(skipsExisting: true).map(\.error?.code) == [.exists, .exists])
    }
  }

  @Test func `a folder's links to nowhere are failures, and its pipes are no pictures`() throws {
    try withFolder { folder in
      try Self.put(folder, "in/a.png", "in/deep/b.png")
      let path = folder.appending("in").string
      #expect(symlink("nowhere", "\(path)/c.png") == 0)
      #expect(symlink("loop.png", "\(path)/loop.png") == 0)
      #expect(symlink("deep", "\(path)/same") == 0)
      #expect(mkfifo("\(path)/pipe.png", 0o600) == 0)

      let batch = try PictureBatch([folder.appending("in")], into: folder.appending("out"))

      let codes = batch.items.map(\.error?.code)
      #expect(
        batch.items.map { $0.input.lastComponent?.string } == [
          "a.png", "c.png", "b.png", "loop.png",
        ]
      )
      #expect(codes == [nil, .unreadable, nil, .unreadable])
      #expect(batch.others.map { $0.lastComponent?.string } == ["pipe.png"])
    }
  }

  @Test func `a plan says what a run would do, without doing it`() throws {
    try withFolder { folder in
      try Self.put(folder, "in/a.png", "in/b.png")
      try WholeFile.write([7], to: folder.appending("out/a.png"))
      let batch = try PictureBatch(
        [folder.appending("in"), folder.appending("missing.png")],
        into: folder.appending("out")
      )

      let plain = batch.plan()
      let replacing = batch.plan(overwrite: true)
      let skipping = batch.plan(skipsExisting: true)

      #expect(plain.map(\.error?.code) == [.exists, nil, .unreadable])
      #expect(replacing.map(\.error?.code) == [nil, nil, .unreadable])
      #expect(skipping.map(\.isSkipped) == [true, false, false])
      #expect(skipping[1].output == folder.appending("out/b.png").string)
      #expect(names(in: folder.appending("out")) == ["a.png"])
    }
  }

  @Test func `a template that gives two inputs one name is refused`() throws {
    try withFolder { folder in
      try Self.put(folder, "one/a.png", "two/a.png")

      #expect {
        try PictureBatch(
          [folder.appending("one/a.png"), folder.appending("two/a.png")],
          into: folder.appending("out"),
          name: PictureName("{stem}-small.{ext}")
        )
      } throws: {
        ($0 as? ImagingError)?.code == .usage
      }
    }
  }
}
