import Foundation
import Support
import Testing

@testable import Cache

/// The thumbnails in a cache's folder, which reports show.
@Suite struct ThumbnailTests {
  private static let source = String(repeating: "ab", count: 32)
  private static let picture: [UInt8] = [0xFF, 0xD8, 1, 2, 0xFF, 0xD9]

  @Test func `a thumbnail is stored under its source's digest and size`()
    throws
  {
    let folder = try TemporaryFolder()
    let thumbnails = ThumbnailFolder(cache: folder.path, side: 96)

    #expect(thumbnails.read(Self.source) == nil)
    thumbnails.keep(Self.picture, of: Self.source)

    #expect(thumbnails.read(Self.source) == Self.picture)
    #expect(ThumbnailFolder(cache: folder.path, side: 64).read(Self.source) == nil)
  }

  @Test func `a file damaged by a crash is not used as a thumbnail`() throws {
    let folder = try TemporaryFolder()
    let thumbnails = ThumbnailFolder(cache: folder.path, side: 96)
    thumbnails.keep(Self.picture, of: Self.source)
    let file = folder.path("thumbnails/96/ab/\(Self.source).jpg")

    for spoiled in [[], [0xFF, 0xD8, 1], [0, 0, 0, 0, 0, 0]] as [[UInt8]] {
      try Data(spoiled).write(to: URL(filePath: file))
      #expect(thumbnails.read(Self.source) == nil)
    }

    thumbnails.keep(Self.picture, of: Self.source)
    #expect(thumbnails.read(Self.source) == Self.picture)
  }

  @Test func `if the folder cannot be written, nothing is stored and no error is raised`() throws {
    let folder = try TemporaryFolder()
    let thumbnails = ThumbnailFolder(cache: folder.path("nowhere"), side: 96)

    thumbnails.keep(Self.picture, of: Self.source)

    #expect(thumbnails.read(Self.source) == nil)
    #expect(!FileManager.default.fileExists(atPath: folder.path("nowhere")))
  }

  @Test func `a sweep removes thumbnails of pictures that are no longer in the cache`() throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path)
    let thumbnails = ThumbnailFolder(cache: folder.path, side: 96)
    thumbnails.keep(Self.picture, of: Self.source)

    try layout.sweepThumbnails(Index(layout))

    #expect(thumbnails.read(Self.source) == nil)
  }
}
