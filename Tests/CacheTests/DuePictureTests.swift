import Base
import GRDB
import Support
import Testing
import Transport

@testable import Cache

/// The pictures that a run comes across, and those of them that it requests.
struct DuePictureTests {
  private let folder: TemporaryFolder
  private let index: Index
  private let due: DuePictures
  private let now: UnixTime = 100_000

  init() throws {
    folder = try TemporaryFolder()
    index = try Index(CacheLayout(creating: folder.path("cache")))
    due = try DuePictures(index) { url in
      url.hasPrefix("http") ? String(url.prefix(8).suffix(1)) : ""
    }
  }

  private func url(_ number: Int, host: String = "a") -> String { "http://\(host)/\(number)" }

  private func id(_ number: Int, host: String = "a") -> PictureID {
    PictureID(url: url(number, host: host))
  }

  /// A row of a picture, which is held unless `isHeld` is false.
  private func entry(
    _ number: Int,
    host: String = "a",
    isHeld: Bool = true,
    checked: UnixTime? = nil,
    expiry: UnixTime = 0
  ) -> PictureEntry {
    var entry = PictureEntry(id: id(number, host: host), url: url(number, host: host))
    if isHeld {
      entry.sha256 = [UInt8](repeating: UInt8(number % 256), count: 32)
      entry.bytes = 10
    }
    (entry.checked, entry.expiry) = (checked, expiry)
    return entry
  }

  private func rule(_ isChanged: Bool = false, shards: ShardAnswers? = nil) -> DueRule {
    DueRule(isChanged: isChanged, now: now, shards: shards)
  }

  private func see(_ ids: [PictureID], _ rule: DueRule) throws -> SeenPictures {
    try due.see(.pictures(ids), by: rule)
  }

  @Test(arguments: DueQuery.allCases)
  func `no statement scans a large table`(_ query: DueQuery) throws {
    let plan = try index.write { db in
      let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(query.rawValue)")
      statement.setUncheckedArguments(StatementArguments())
      return try Row.fetchAll(statement).map { $0["detail"] as String }
    }

    let scans: [DueQuery: [String]] = [.held: ["SCAN picture"], .untaken: ["SCAN d"]]
    #expect(plan.filter { $0.hasPrefix("SCAN") } == scans[query] ?? [])
  }

  @Test func `a picture of a detail that has no row is damage`() throws {
    let lost = PictureID(IdentityDigest(high: 0, low: 0))

    let failure = #expect(throws: LarderError.self) { try see([lost], rule()) }

    #expect(failure?.code == .damaged)
  }

  @Test func `a picture is counted once, and each reference is counted`() throws {
    try index.save((0..<4).map { entry($0) } + [entry(4, host: "b")])
    let listing = try index.keepListing(
      (0..<3).map { number in
        NewItem(
          key: "\(number)",
          body: [UInt8(number)],
          pictures: [0, number].map {
            PictureAddress(id: id($0), url: url($0), identity: url($0))
          }
        )
      }
    )

    let first = try due.see(.listing(listing), by: rule())
    let again = try due.see(.listing(listing), by: rule())
    let more = try see([id(2), id(3), id(4, host: "b"), id(3)], rule())

    #expect(first == SeenPictures(references: 6, total: 3, due: ["a": 3]))
    #expect(again == SeenPictures(references: 6, total: 0, due: [:]))
    #expect(more == SeenPictures(references: 4, total: 2, due: ["a": 1, "b": 1]))
    var held: [PictureID: ByteCount] = [:]
    try due.forEachHeld { held[$0] = $1 }
    #expect(held.count == 5 && held.values.allSatisfy { $0 == 10 })
    #expect(try !due.leavesOthers())
    try index.save([entry(5)])
    #expect(try due.leavesOthers())
  }

  @Test(
    arguments: [
      (100_100, 99_000, nil, false), (100_000, 99_000, 99_999, false),
      (99_999, 99_000, 99_999, true), (99_999, 99_000, nil, true), (100_000, 99_000, nil, true),
      (200_000, 100_300, nil, false), (200_000, 100_301, nil, true), (99_000, 99_000, nil, true),
      (nil, nil, nil, true),
    ] as [(UnixTime?, UnixTime?, UnixTime?, Bool)]
  )
  func `a picture is due unless it is fresh, or was fresh when shards were planned`(
    expiry: UnixTime?,
    checked: UnixTime?,
    planned: UnixTime?,
    isDue: Bool
  ) throws {
    let held = entry(1, checked: checked, expiry: expiry ?? 0)
    var missing = entry(2, isHeld: false, checked: checked, expiry: expiry ?? 0)
    missing.failure = "http-404"
    try index.save([held, missing])

    let shards = planned.map { ShardAnswers(planned: $0) }
    let seen = try see([held.id, missing.id], rule(shards: shards))

    #expect(seen.due == ["a": isDue ? 2 : 1])
    #expect(planned != nil || held.isCurrent(at: now) == !isDue)
  }

  @Test(arguments: [-3600, 0, 3600] as [Int64])
  func `a merge requests what the shards could not fetch, whatever their clock said`(
    _ difference: Int64
  ) throws {
    let stale = (0..<4).map { entry($0, checked: now, expiry: 0) }
    try index.save(Array(stale.dropLast()) + [entry(9, isHeld: false)])
    var shards = ShardAnswers(planned: now + difference)

    // The shards got answers for one picture that the index has, and for one that it has not.
    try index.importPictures([stale[1], stale[3]], into: &shards)
    let seen = try see(stale.map(\.id) + [id(9)], rule(shards: shards))

    #expect(seen.due == ["a": 3])
    #expect(try Set(due.take("a", 9).map(\.id)) == [id(0), id(2), id(9)])
  }

  @Test func `a run finds due what a row itself finds stale, at many times`() throws {
    var random = SplitMix64(3)
    func time() -> UnixTime { now + Int64(random.next() % 7 * 200) + -600 }
    let entries = (0..<300).map { entry($0, checked: time(), expiry: time()) }
    try index.save(entries)

    for entry in entries {
      let seen = try see([entry.id], rule())
      #expect((seen.due.isEmpty) == entry.isCurrent(at: now), "\(entry)")
    }
  }

  @Test func `a host's pictures are taken by rank and age, and once`() throws {
    try index.save([
      entry(1, checked: 50), entry(2, isHeld: false, checked: 40), entry(3, checked: 30),
      entry(4, isHeld: false), entry(5, checked: 20), entry(6, host: "b"),
    ])
    let old = try see([id(1), id(2), id(3), id(4), id(6, host: "b")], rule())
    let changed = try see([id(5)], rule(true))

    #expect(old.due == ["a": 4, "b": 1] && changed.due == ["a": 1])
    var waiting: [String] = []
    try index.forEachDue("a") { waiting.append($0.url) }
    #expect(waiting.map { PictureID(url: $0) } == (1...5).map { id($0) }.sorted())
    let taken = try (0..<3).flatMap { _ in try due.take("a", 2) }.map(\.url)
    #expect(taken == [4, 5, 3, 2, 1].map { url($0) })
    #expect(try due.take("b", 9).map(\.url) == [url(6, host: "b")])
    #expect(try due.take("b", 9).isEmpty)
  }

  @Test func `due pictures are read in the order of their ids, without those that are gone`()
    throws
  {
    try index.save((0..<50).map { entry($0) })
    _ = try see((0..<50).map { id($0) }, rule())
    let gone = id(7)
    try index.write {
      try $0.execute(sql: "DELETE FROM picture WHERE id = ?", arguments: [gone.digest])
    }

    var waiting: [PictureID] = []
    try index.forEachDue("a") { waiting.append($0.id) }

    #expect(waiting == (0..<50).map { id($0) }.filter { $0 != gone }.sorted())
  }

  @Test func `other processes can write while pages of pictures are read`() throws {
    try index.save((0..<50).map { entry($0) })
    let other = try Index(CacheLayout(creating: folder.path("cache")))
    var read: [PictureID] = []
    var pages = 0

    while case let page = try index.pictures(after: read.last, count: 20), !page.isEmpty {
      read += page.map(\.id)
      pages += 1
      try other.save([entry(100 + pages, host: "b")])
    }

    #expect(pages >= 3 && Set(read).isSuperset(of: (0..<50).map { id($0) }))
    #expect(read == Set(read).sorted())
  }

  @Test(arguments: [(5, 5, false), (5, 6, true), (nil, 5, true)] as [(Int64?, Int64, Bool)])
  func `copied pictures expire if they vary by header fields that have changed`(
    _ noted: Int64?,
    _ digest: Int64,
    _ expires: Bool
  ) throws {
    let copy = try Index(CacheLayout(creating: folder.path("copy")))
    if let noted { try index.noteVary(noted) }
    var varied = entry(1, checked: now, expiry: now + 9)
    varied.response = "1 1 selected=3\nVary: Referer\n"
    var plain = entry(2, checked: now, expiry: now + 9)
    plain.response = "1 1\n"
    try index.save([varied, plain])
    try copy.noteVary(digest)

    try copy.copyPictures(of: index)

    let copied = try copy.pictures([varied.id, plain.id])
    #expect(copied[plain.id] == plain)
    if expires { varied.expiry = 0 }
    #expect(copied[varied.id] == varied)
  }

  @Test(arguments: [5, 6] as [Int64])
  func `copied pictures expire if the value of a variable in them has changed`(_ digest: Int64)
    throws
  {
    let copy = try Index(CacheLayout(creating: folder.path("copy")))
    try index.noteVary(1, variables: ["KEY": 5, "OTHER": 7])
    let url = "http://a.test/${KEY}.jpg"
    var named = PictureEntry(id: PictureID(url: url), url: url)
    (named.checked, named.expiry) = (now, now + 9)
    named.sha256 = [UInt8](repeating: 7, count: 32)
    let plain = entry(2, checked: now, expiry: now + 9)
    try index.save([named, plain])
    try copy.noteVary(1, variables: ["KEY": digest, "OTHER": 7])

    try copy.copyPictures(of: index)

    let copied = try copy.pictures([named.id, plain.id])
    #expect(copied[plain.id]?.expiry == plain.expiry)
    #expect(copied[named.id]?.expiry == (digest == 5 ? named.expiry : 0))
  }

  @Test func `a listing whose picture has no row is damage`() throws {
    let shown = PictureAddress(id: id(1), url: url(1), identity: url(1))
    let listing = try index.keepListing([NewItem(key: "a", body: [1], pictures: [shown])])
    try index.write { try $0.execute(sql: "DELETE FROM picture") }

    let error = #expect(throws: LarderError.self) {
      _ = try due.see(.listing(listing), by: rule())
    }

    #expect(error?.code == .damaged)
  }
}
