import Cache
import Foundation
import Glibc
import Support
import Testing

@testable import Cache

/// The check of a cache's files, and their repair.
///
/// A stray is a file without a row.
struct VerificationTests {
  private let folder: TemporaryFolder
  private let cache: CacheOnDisk

  init() throws {
    folder = try TemporaryFolder()
    cache = try CacheOnDisk(folder)
    try cache.keep(["a", "b", "c", "d", "e"].map { (url($0), jpeg($0)) })
    try cache.end()
  }

  private func row(_ name: String) -> PictureEntry {
    PictureEntry(id: PictureID(url: url(name)), url: url(name))
  }

  private func relative(_ name: String) -> String { String(path(name).dropFirst("cache/".count)) }

  @Test func `a flipped byte, a truncated file, a missing file and a stray are each found`() throws
  {
    try change(folder.path(path("a")), to: jpeg("A"))
    #expect(truncate(folder.path(path("b")), 20) == 0)
    #expect(unlink(folder.path(path("c"))) == 0)
    try folder.write("stray", to: "cache/images/00/stray.jpg")
    try folder.write("stray", to: "cache/images/stray.jpg")

    let report = try cache.verify()

    #expect(report.checked == 5)
    #expect(report.damaged == [relative("a"), relative("b")].sorted())
    #expect(report.missing == [relative("c")])
    #expect(report.strays == ["images/00/stray.jpg", "images/stray.jpg"])
    #expect(!report.isClean)
  }

  @Test func `a quick check finds wrong sizes and missing files, but not flipped bytes`() throws {
    try change(folder.path(path("a")), to: jpeg("A"))
    #expect(truncate(folder.path(path("b")), 20) == 0)
    #expect(unlink(folder.path(path("c"))) == 0)

    let report = try Verification(cache.layout, cache.index).run(.fast)

    #expect(report == VerifyReport(checked: 5, damaged: [relative("b")], missing: [relative("c")]))
  }

  @Test func `links, pipes, sockets and folders are not pictures and do not block the check`()
    throws
  {
    for name in ["a", "b", "c", "d"] { #expect(unlink(folder.path(path(name))) == 0) }
    #expect(symlink("/etc/passwd", folder.path(path("a"))) == 0)
    #expect(mkfifo(folder.path(path("b")), 0o600) == 0)
    #expect(mkdir(folder.path(path("c")), 0o700) == 0)
    #expect(mknod(folder.path(path("d")), S_IFSOCK | 0o600, 0) == 0)
    #expect(mkfifo(folder.path("cache/images/00/pipe"), 0o600) == 0 || errno == ENOENT)
    let planted = errno == ENOENT ? [] : ["images/00/pipe"]

    let report = try cache.verify()

    #expect(report.damaged == ["a", "b", "c", "d"].map(relative).sorted())
    #expect(report.missing.isEmpty)
    #expect(report.strays == planted)
    #expect(try Verification(cache.layout, cache.index).run(.fast) == report)

    try Verification(cache.layout, cache.index).repair(report, claimed: [row("a")])

    #expect(try cache.verify() == VerifyReport(checked: 1))
  }

  @Test func `repair forgets damaged pictures, adopts valid strays and removes the other strays`()
    throws
  {
    try change(folder.path(path("a")), to: jpeg("A"))
    #expect(unlink(folder.path(path("b"))) == 0)
    try folder.write(jpeg("new"), to: path("new"))
    try folder.write("<html>", to: path("page"))
    try folder.write(jpeg("nobody"), to: path("nobody"))
    try folder.write(jpeg("top"), to: "cache/images/top.jpg")
    try folder.write(jpeg("deep"), to: "cache/images/deep/er/x.jpg")
    #expect(symlink("/etc", folder.path("cache/images/00/link")) == 0 || errno == ENOENT)
    let verification = Verification(cache.layout, cache.index)

    try verification.repair(
      try cache.verify(),
      claimed: ["new", "page", "a", "c"].map(row)
    )

    #expect(try cache.verify() == VerifyReport(checked: 4))
    #expect(try cache.entry(url("new"))?.isHeld == true)
    #expect(try cache.entry(url("a"))?.isHeld == false)
    #expect(try cache.entry(url("b"))?.isHeld == false)
    #expect(folder.state(of: path("a")) == nil)
    #expect(try folder.read(path("c")) == jpeg("c"))
    let next = try CacheOnDisk(folder)
    #expect(next.recovery.forgotten + next.recovery.adopted == 0)
  }

  @Test func `repair removes both names of a damaged file that two pictures share`() throws {
    try cache.keep([(url("twin"), jpeg("a"))])
    try change(folder.path(path("a")), to: jpeg("A"))

    try Verification(cache.layout, cache.index).repair(try cache.verify(), claimed: [])

    #expect(try cache.verify() == VerifyReport(checked: 4))
  }

  @Test func `a link or file instead of a folder is a stray and is never followed`() throws {
    let outside = try TemporaryFolder()
    try outside.write(jpeg("x"), to: "x.jpg")
    let free = (0...255).map { String($0 + 256, radix: 16).dropFirst() }
      .filter { folder.state(of: "cache/images/\($0)") == nil }
    #expect(symlink(outside.path, folder.path("cache/images/\(free[0])")) == 0)
    try folder.write("a file", to: "cache/images/\(free[1])")
    try folder.write("odd", to: "cache/images/+f/odd.jpg")

    let report = try cache.verify()
    try Verification(cache.layout, cache.index).repair(report, claimed: [])

    #expect(report.damaged.isEmpty && report.missing.isEmpty)
    #expect(
      report.strays == ["images/+f", "images/\(free[0])", "images/\(free[1])"].sorted()
    )
    #expect(try cache.verify() == VerifyReport(checked: 5))
    #expect(try outside.read("x.jpg") == jpeg("x"))
  }

  @Test func `a check creates no folder`() throws {
    try FileManager.default.removeItem(atPath: folder.path("cache/images"))
    #expect(mkdir(folder.path("cache/images"), 0o700) == 0)

    let index = try Index(reading: folder.path("cache"))
    let report = try Verification(CacheLayout(reading: folder.path("cache")), index).run(.full)

    #expect(report.missing.count == 5)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("cache/images")) == [])
  }
}
