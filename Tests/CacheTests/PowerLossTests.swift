import Foundation
import Support
import Testing

@testable import Cache

/// Cuts the power before every file operation of a run and loses all writes that were not synced.
struct PowerLossTests {
  private static let before = ["old", "same", "twin"]
  private static let run: [(url: String, bytes: [UInt8])] =
    (0..<40).map { (url("new\($0)"), jpeg("new\($0)")) } + [
      (url("copy"), jpeg("new1")), (url("old"), jpeg("replaced")), (url("same"), jpeg("same")),
      (url("other"), jpeg("twin")), (url("large"), jpeg("large", count: 300_000)),
    ]

  @Test func `no row ever points to a missing, short or empty file`() throws {
    let folder = try TemporaryFolder()
    var held: [String: [UInt8]] = [:]
    do {
      let cache = try CacheOnDisk(folder)
      try cache.keep(Self.before.map { (url($0), jpeg($0)) })
      try cache.end()
      for file in folder.files(below: "cache/images").keys {
        held[folder.path(file)] = try folder.read(file)
      }
    }
    let disk = RecordingDisk()
    let cache = try CacheOnDisk(folder, disk: disk)
    let index = folder.path("cache/index.sqlite")
    disk.take { [rows = cache.index] in
      // Copy within a read transaction, so that no write transaction is incomplete in the copy.
      (try? rows.read { _ in [UInt8](try Data(contentsOf: URL(filePath: index))) }) ?? []
    }
    let outcomes = try cache.keep(Self.run)
    #expect(!outcomes.contains { if case .refused = $0 { true } else { $0 == nil } })
    let operations = disk.operations
    var whole: [String: Set<[UInt8]>] = [:]
    for picture in Self.before.map({ (url($0), jpeg($0)) }) + Self.run {
      let name = PictureName(url: picture.0, id: PictureID(url: picture.0))
      whole[name.path, default: []].insert(picture.1)
    }

    for seed in 0..<3 {
      var cut = PowerCut(held)
      var random = SeededRandom(UInt64(seed))
      let places = Set(Sweep.places(operations.count, part: seed))
      for (number, step) in operations.enumerated() {
        if places.contains(number) {
          let left = cut.files(left: &random)
          try expectWhole(left, root: folder.path, step.moment, whole, "seed \(seed), \(number)")
        }
        cut.play(step.operation)
      }
    }
    #expect(operations.count >= 67, "\(operations.count) operations")
  }

  @Test func `the name of a new folder is synced too, before a row refers to a file in it`() throws
  {
    let folder = try TemporaryFolder()
    let disk = RecordingDisk()
    let cache = try CacheOnDisk(folder, disk: disk)
    let images = folder.path("cache/images")

    try cache.keep([(url("new"), jpeg("new"))])
    let first = disk.operations.map(\.operation)
    try cache.keep([(url("new"), jpeg("replaced"))])

    let name = PictureName(url: url("new"), id: PictureID(url: url("new")))
    let inside = "\(images)/\(PictureName.folderName(name.folder))"
    #expect(first.suffix(2) == [.syncFolder(inside), .syncFolder(images)])
    #expect(disk.operations.last?.operation == .syncFolder(inside))
  }

  /// Restores the files and the index after the cut, and checks the reopened cache.
  private func expectWhole(
    _ left: [String: [UInt8]],
    root: String,
    _ index: [UInt8],
    _ whole: [String: Set<[UInt8]>],
    _ words: String
  ) throws {
    let folder = try TemporaryFolder()
    try folder.write(index, to: "cache/index.sqlite")
    for (path, bytes) in left {
      try folder.write(bytes, to: String(path.dropFirst(root.count + 1)))
    }
    for name in ["cache/images", "cache/partial"] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name),
        withIntermediateDirectories: true
      )
    }
    do {
      let reader = try Index(reading: folder.path("cache"))
      try reader.forEachPicture { entry in
        guard entry.isHeld else { return }
        let bytes = try? folder.read("cache/\(entry.name.path)")
        let isWhole = bytes.map { whole[entry.name.path]?.contains($0) ?? false } ?? false
        #expect(isWhole, "\(words): \(entry.url) has \(bytes?.count ?? -1) bytes")
      }
    }
    let cache = try CacheOnDisk(folder)
    let report = try cache.verify()
    #expect(report.damaged.isEmpty && report.missing.isEmpty, "\(words)")
  }
}
