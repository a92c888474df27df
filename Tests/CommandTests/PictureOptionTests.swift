import Foundation
import Support
import Testing

/// What `crop` and `stamp` say and how they end, beyond the pictures that they make.
struct PictureOptionTests {
  private static let photo = "\(Command.samples)/photo/wakeup-12mp.jpg"

  @Test func `a photo of more pixels than allowed is refused, and the flag is named`() throws {
    let folder = try TemporaryFolder()

    let crop = try Command.larder(
      ["crop", Self.photo, "--out", folder.path("out"), "--max-pixels", "1000000"]
    )

    #expect(crop.status == 65)
    #expect(crop.errors.contains("--max-pixels"), "\(crop.errors)")
  }

  @Test func `strict is about lossless`() throws {
    let folder = try TemporaryFolder()

    let alone = try Command.larder(
      ["crop", Self.photo, "--out", folder.path("out"), "--strict"]
    )
    let both = try Command.larder(
      ["crop", Self.photo, "--out", folder.path("out"), "--strict", "--lossless"]
    )

    #expect(alone.status == 64)
    #expect(both.status == 0, "\(both.errors)")
    #expect(both.errors == "")
  }

  @Test func `a file in the place of the folder is a usage error that names it`() throws {
    let folder = try TemporaryFolder()
    try Data("x".utf8).write(to: URL(filePath: folder.path("out.jpg")))

    let crop = try Command.larder(["crop", Self.photo, "--out", folder.path("out.jpg")])

    #expect(crop.status == 64)
    #expect(crop.errors.contains("out.jpg: it is not a folder"), "\(crop.errors)")
  }

  @Test func `a stamp of a picture without a date says whose time it shows`() throws {
    let folder = try TemporaryFolder()
    let made = try Command.larder(
      ["crop", Self.photo, "--out", folder.path("bare"), "--size", "64"]
    )

    let stamp = try Command.larder(
      ["stamp", folder.path("bare/wakeup-12mp.jpg"), "--out", folder.path("out")]
    )

    #expect(made.status == 0)
    #expect(stamp.status == 0)
    #expect(stamp.errors.contains("does not say when it was taken"), "\(stamp.errors)")
  }
}
