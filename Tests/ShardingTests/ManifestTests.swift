import Base
import Foundation
import Pipeline
import Support
import Testing

@testable import Cache
@testable import Sharding

/// Invalid manifests, lists and pictures in a merge.
struct ManifestTests {
  /// A change to a plan whose two shards have ended, and the expected error of the merge.
  struct Fault: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: LarderError.Code
    let change: @Sendable (TemporaryFolder) throws -> Void

    init(
      _ name: String,
      _ code: LarderError.Code,
      _ change: @escaping @Sendable (TemporaryFolder) throws -> Void
    ) {
      testDescription = name
      self.code = code
      self.change = change
    }
  }

  private static func cut(_ name: String, to size: Int)
    -> @Sendable (TemporaryFolder) throws -> Void
  {
    { folder in
      let bytes = try folder.read(name)
      try folder.write(Array(size < 0 ? bytes.dropLast(-size) : bytes.prefix(size)), to: name)
    }
  }

  private static func replace(
    _ old: String,
    by new: String,
    in name: String
  ) -> @Sendable (TemporaryFolder) throws -> Void {
    { folder in
      let text = try folder.text(name)
      #expect(text.contains(old))
      try folder.write(text.replacing(old, with: new), to: name)
    }
  }

  /// Changes the rows of manifest 1, and writes the trailer with their length and digest.
  private static func rewrite(
    _ change: @escaping @Sendable ([Substring]) -> [String]
  ) -> @Sendable (TemporaryFolder) throws -> Void {
    { folder in
      let name = "plan/manifest-1.ndjson"
      let planned = try PlannedRun(folder.path("plan"))
      var trailer = try #require(try ShardManifest.read(1, of: planned)).trailer
      let lines = change(try folder.text(name).split(separator: "\n").dropLast())
      let rows = Array(lines.map { $0 + "\n" }.joined().utf8)
      trailer.rows = FileSum(of: rows)
      let end = Array("{\"trailer\":".utf8) + (try trailer.jsonLine()) + Array("}\n".utf8)
      try folder.write(rows + end, to: name)
    }
  }

  static let faults: [Fault] = [
    Fault(
      "a line is not a row",
      .data,
      rewrite { ["{\"uri\":1}"] + $0.dropFirst().map(String.init) }
    ),
    Fault("a line is empty", .data, rewrite { [""] + $0.dropFirst().map(String.init) }),
    Fault("a row is not in the counts", .data, rewrite { $0.map(String.init) + [String($0[0])] }),
    Fault(
      "a row that the counts have is gone",
      .data,
      rewrite { $0.dropFirst().map(String.init) }
    ),
    Fault(
      "it is longer than its rows can be",
      .data,
      rewrite { lines in
        let space = String(repeating: " ", count: (lines.count + 2) * PictureRow.longestLine)
        return ["{" + space + lines[0].dropFirst()] + lines.dropFirst().map(String.init)
      }
    ),
    Fault("one is missing", .tryAgain) { folder in
      try FileManager.default.removeItem(atPath: folder.path("plan/manifest-1.ndjson"))
    },
    Fault("one is empty", .data, cut("plan/manifest-1.ndjson", to: 0)),
    Fault("its end is cut by a byte", .data, cut("plan/manifest-1.ndjson", to: -1)),
    Fault("its trailer is cut", .data, cut("plan/manifest-1.ndjson", to: -40)),
    Fault("it ends after a line", .data) { folder in
      let text = try folder.text("plan/manifest-1.ndjson")
      let lines = text.split(separator: "\n")
      try folder.write(lines[0] + "\n", to: "plan/manifest-1.ndjson")
    },
    Fault("a line is changed", .data, replace("jpg", by: "jpx", in: "plan/manifest-1.ndjson")),
    Fault(
      "a count is changed",
      .data,
      replace("\"failed\":0", by: "\"failed\":1", in: "plan/manifest-1.ndjson")
    ),
    Fault(
      "a count is too large to be added",
      .data,
      replace("\"held\":0", by: "\"held\":\(Int.max)", in: "plan/manifest-1.ndjson")
    ),
    Fault("a line is gone", .data) { folder in
      let lines = try folder.text("plan/manifest-1.ndjson").split(separator: "\n")
      try folder.write(
        lines.dropFirst().joined(separator: "\n") + "\n",
        to: "plan/manifest-1.ndjson"
      )
    },
    Fault("it is of another shard", .data) { folder in
      try folder.write(
        try folder.read("plan/manifest-0.ndjson"),
        to: "plan/manifest-1.ndjson"
      )
    },
    Fault("it is of another plan", .data) { folder in
      try folder.write(
        try folder.read("other/manifest-1.ndjson"),
        to: "plan/manifest-1.ndjson"
      )
    },
    Fault("the catalog is changed", .data, replace("KRW", by: "EUR", in: "plan/catalog.yaml")),
    Fault(
      "the plan is changed",
      .data,
      replace("run-of-plan", by: "run-of-plum", in: "plan/plan.json")
    ),
    Fault("the plan is torn", .data, cut("plan/plan.json", to: 20)),
    Fault(
      "the plan is of an older larder",
      .data,
      replace("\"format\":3", by: "\"format\":2", in: "plan/plan.json")
    ),
    Fault("there is no plan", .data) { folder in
      try FileManager.default.removeItem(atPath: folder.path("plan/plan.json"))
    },
    Fault("a picture is gone", .lost) { folder in
      let picture = try #require(folder.files(below: "cache/images").keys.sorted().first)
      try FileManager.default.removeItem(atPath: folder.path(picture))
    },
    Fault("a picture is cut", .lost) { folder in
      let picture = try #require(folder.files(below: "cache/images").keys.sorted().first)
      let file = try FileHandle(forWritingTo: URL(filePath: folder.path(picture)))
      try file.truncate(atOffset: 10)
    },
    Fault("a picture is not a picture", .lost) { folder in
      let picture = try #require(folder.files(below: "cache/images").keys.sorted().first)
      try FileManager.default.removeItem(atPath: folder.path(picture))
      try folder.write("no picture at all", to: picture)
    },
  ]

  @Test func `a manifest contains its writer's token, so that no two are equal`() throws {
    let sharded = try ShardedShop(SampleShop(sections: 1, items: 2))
    try sharded.plan(1)

    try sharded.run(0, token: "mine")

    #expect(try ShardManifest.read(0, of: sharded.planned)?.trailer.writer == "mine")
  }

  @Test(arguments: faults)
  func `a merge refuses incomplete and foreign manifests, and commits nothing`(_ fault: Fault)
    throws
  {
    let shop = try SampleShop(sections: 2, items: 2)
    let sharded = try ShardedShop(shop)
    let other = try ShardedShop(shop)
    for one in [sharded, other] {
      try one.plan(2)
      for shard in 0..<2 { try one.run(shard) }
    }
    // A plan of the same pictures, made a second later.
    shop.clock.advance(1)
    let later = try ShardedShop(shop)
    try later.plan(2)
    try later.run(1)
    try sharded.folder.write(
      try later.folder.read("plan/manifest-1.ndjson"),
      to: "other/manifest-1.ndjson"
    )

    try fault.change(sharded.folder)
    let error = #expect(throws: LarderError.self) { try sharded.merge() }

    #expect(error?.code == fault.code, "\(error?.description ?? "")")
    #expect(throws: LarderError.self) {
      try CatalogReader(cache: sharded.folder.path("cache"), catalog: nil).list()
    }
  }

  @Test func `a shard whose list was changed is not run`() throws {
    let sharded = try ShardedShop(try SampleShop(sections: 1, items: 2))
    try sharded.plan(1)
    try Self.replace("jpg", by: "jpx", in: "plan/shard-0.ndjson")(sharded.folder)

    let error = #expect(throws: LarderError.self) { try sharded.run(0) }

    #expect(error?.code == .data)
  }

  @Test func `shards without a manifest are named`() throws {
    let sharded = try ShardedShop(try SampleShop(sections: 1, items: 1))
    try sharded.plan(4)
    try sharded.run(2)

    let error = #expect(throws: LarderError.self) { try sharded.merge() }

    #expect(error?.description.contains("shards 0, 1, 3 have no manifest") == true)
  }

  @Test func `a manifest that vanishes during a merge is missing, not passed over`() throws {
    let sharded = try ShardedShop(try SampleShop(sections: 1, items: 2))
    try sharded.plan(2)
    for shard in 0..<2 { try sharded.run(shard) }

    let error = #expect(throws: LarderError.self) {
      try sharded.merge { folder in
        try FileManager.default.removeItem(atPath: folder.path("plan/manifest-1.ndjson"))
      }
    }

    #expect(error?.code == .tryAgain)
    #expect(error?.description.contains("shard 1 has no manifest") == true)
  }

  @Test func `the counts of a merge are those of the manifests whose rows it takes`() throws {
    let sharded = try ShardedShop(try SampleShop(sections: 1, items: 2))
    try sharded.plan(1)
    try sharded.run(0)

    let report = try sharded.merge(
      meanwhile: Self.replace("\"requests\":7", by: "\"requests\":9", in: "plan/manifest-0.ndjson")
    )

    #expect(report.requests == 1 + 2 + 9)
  }

  @Test(arguments: ["plan.json", "catalog.yaml", "manifest-0.ndjson"])
  func `a file of a plan that cannot be read is named with the reason`(_ name: String) throws {
    let sharded = try ShardedShop(try SampleShop(sections: 1, items: 1))
    try sharded.plan(1)
    try? FileManager.default.removeItem(atPath: sharded.folder.path("plan/\(name)"))
    try FileManager.default.createDirectory(
      atPath: sharded.folder.path("plan/\(name)/of files"),
      withIntermediateDirectories: true
    )

    let error = #expect(throws: LarderError.self) { try sharded.merge() }

    #expect(error?.code == .data)
    #expect(
      error?.description.contains("is a directory; name the folder that the plan was written to")
        ?? false,
      "\(error?.description ?? "")"
    )
  }

  @Test func `a picture that a later run of its shard replaced is accepted`() throws {
    let shop = try SampleShop(sections: 1, items: 1)
    let sharded = try ShardedShop(shop)
    try sharded.plan(1)
    try sharded.run(0)
    let path = try #require(sharded.folder.files(below: "cache/images").keys.sorted().first)
    let bytes = try sharded.folder.read(path)
    try FileManager.default.removeItem(atPath: sharded.folder.path(path))
    try sharded.folder.write(bytes, to: path)

    #expect(try sharded.merge().outcome == .complete)
    #expect(try verify(sharded.folder).isClean)
  }

  @Test func `an unknown shard, and a folder that is not empty, are usage errors`()
    throws
  {
    let sharded = try ShardedShop(try SampleShop(sections: 1, items: 1))
    try sharded.plan(2)

    #expect(throws: LarderError.self) { try sharded.run(2) }
    let error = #expect(throws: LarderError.self) { try sharded.plan(2) }
    #expect(error?.code == .usage)
  }
}
