import Glibc
import SystemPackage
import Testing

@testable import Imaging

/// The output names of a batch, which inputs are skipped, and the plan of a dry run.
struct OutputNameTests {
  private static func put(_ folder: FilePath, _ names: String...) throws {
    for name in names {
      let kind = PNGKind(name: "", layout: .rgb, depth: 8)
      try WholeFile.write(kind.bytes(width: 9, height: 7), to: folder.appending(name))
    }
  }

  @Test func `only inputs whose output exists are skipped`() throws {
    try withFolder { folder in
      try Self.put(folder, "in/a.png", "in/b.png", "in/deep/c.png")
      try WholeFile.write([7], to: folder.appending("out/a.png"))
      let batch = try PictureBatch(
        [folder.appending("in")],
        into: folder.appending("out")
      )

      let first = try batch.run(Crop(size: 4), skipsExisting: true)
      let second = try batch.run(Crop(size: 4), skipsExisting: true)

      #expect(first.map(\.isSkipped) == [true, false, false])
      #expect(first.allSatisfy { $0.error == nil && $0.output != nil })
      #expect(first.map(\.summary?.width) == [nil, 4, 4])
      #expect(try PictureFile(folder.appending("out/b.png")).probe.width == 4)
      #expect(names(in: folder.appending("out")) == ["a.png", "b.png", "deep"])
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

  @Test func `two inputs for one output are refused`() throws {
    try withFolder { folder in
      try Self.put(folder, "one/a.png", "two/a.png")

      #expect {
        try PictureBatch(
          [folder.appending("one/a.png"), folder.appending("two/a.png")],
          into: folder.appending("out")
        )
      } throws: {
        ($0 as? ImagingError)?.code == .usage
      }
    }
  }
}
