import Base
import Cache
import Glibc
import Support
import Testing

@testable import Cache

/// The folder of a cache, and the errors when it cannot be made.
struct CacheLayoutTests {
  @Test func `a new cache has the tag by which backup tools skip it`() throws {
    let folder = try TemporaryFolder()

    _ = try CacheLayout(creating: folder.path("deep/er/cache/"))

    let tag = String(decoding: try folder.read("deep/er/cache/CACHEDIR.TAG"), as: UTF8.self)
    #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
    _ = try CacheLayout(creating: folder.path("deep/er/cache"))
  }

  @Test func `a symbolic link to the cache is followed, but none inside it`() throws {
    let folder = try TemporaryFolder()
    let (disk, outside) = (try TemporaryFolder(), try TemporaryFolder())
    #expect(symlink(disk.path, folder.path("cache")) == 0)
    #expect(mkdir(folder.path("other"), 0o700) == 0)
    #expect(symlink(outside.path, folder.path("other/images")) == 0)

    _ = try CacheLayout(creating: folder.path("cache"))
    let error = #expect(throws: LarderError.self) {
      _ = try CacheLayout(creating: folder.path("other"))
    }

    #expect(disk.files(below: ".").map(\.key) == ["./CACHEDIR.TAG"])
    #expect(error?.code == .disk)
    #expect(outside.files(below: ".").isEmpty)
  }

  @Test func `a folder with other files is not taken for a cache, and stays as it is`() throws {
    let folder = try TemporaryFolder()
    try folder.write("mine", to: "site/thesis.txt")
    try folder.write("mine", to: "site/images/me.png")
    try folder.write("mine", to: "volume/.snapshot/mine")
    try folder.write("kept", to: "lost/images/3f/kept.png")

    let error = #expect(throws: LarderError.self) {
      _ = try CacheLayout(creating: folder.path("site"))
    }
    _ = try CacheLayout(creating: folder.path("volume"))
    _ = try CacheLayout(creating: folder.path("lost"))

    #expect(error?.code == .unfitFolder)
    #expect(Set(folder.files(below: "site").keys) == ["site/thesis.txt", "site/images/me.png"])
  }

  @Test func `an error names the folder that cannot be made, and why`() throws {
    let folder = try TemporaryFolder()
    try folder.write("a file", to: "file")

    let error = #expect(throws: LarderError.self) {
      _ = try CacheLayout(creating: folder.path("file/cache"))
    }

    #expect(error?.code == .disk)
    #expect(error?.description.contains(folder.path("file")) == true)
    #expect(error?.description.contains("not a directory") == true)
  }

  @Test(arguments: [
    (
      ENOSPC, LarderError.Code.diskFull, "cannot write x: no space left; free some and run again",
      LarderError.Remedy?.none
    ),
    (EDQUOT, .diskFull, "cannot write x: no space left; free some and run again", nil),
    (EACCES, .disk, "cannot write x: permission denied", .writableFolder),
    (EIO, .disk, "cannot write x: input/output error", nil),
  ])
  func `a system error has the thing, the cause, errno and a remedy`(
    code: Int32,
    expected: LarderError.Code,
    words: String,
    remedy: LarderError.Remedy?
  ) {
    let error = LarderError.system("write", "x", errno: code)

    #expect(error == LarderError(expected, words, remedy: remedy, thing: "x", errno: code))
  }
}
