import Base
import Support
import Testing

@testable import Cache

/// The temporary tables and sets that a run of millions of pictures keeps on disk instead of in
/// memory.
struct ScratchTests {
  private func id(_ number: Int) -> PictureID {
    PictureID(url: "https://cdn.example/\(number).jpg")
  }

  @Test(arguments: [1, 10, 1000])
  func `a set that is moved to disk when it is large still behaves as a set`(_ limit: Int) throws {
    var random = SplitMix64(7)
    var set = PictureSet(limit: limit)
    var plain: Set<PictureID> = []

    for _ in 0..<200 {
      let ids = (0..<5).map { _ in id(Int(random.next() % 600)) }
      #expect(set.members(ids) == plain.intersection(ids))
      #expect(set.hasAll(ids) == plain.isSuperset(of: ids))
      #expect(set.insert(ids) == ids.filter { plain.insert($0).inserted })
      let areAllThere = set.hasAll(ids)
      #expect(areAllThere)
    }

    #expect(set.failure == nil)
    #expect(try set.sorted() == plain.sorted())
  }

  @Test func `known pictures have the same states looked up one by one or read into memory`()
    throws
  {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    for number in 0..<10 {
      var entry = PictureEntry(id: id(number), url: "https://cdn.example/\(number).jpg")
      if number < 5 { entry.sha256 = [UInt8](repeating: 7, count: 32) }
      entry.expiry = UnixTime(Int64(number))
      try cache.index.save([entry])
    }
    let ids = (0..<12).map(id)

    let inMemory = try KnownPictures(cache.index).states(of: ids)
    let lookedUp = try KnownPictures(cache.index, limit: 9).states(of: ids)

    #expect(inMemory == lookedUp && lookedUp.count == 10)
  }

  @Test func `the picture states are read only once, even if the first read fails`()
    throws
  {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    try cache.index.save([PictureEntry(id: id(0), url: "https://cdn.example/0.jpg")])
    let (before, later) = (PictureStates(cache.index), PictureStates(cache.index))

    #expect(try before.read().states.count == 1)
    try cache.index.save([PictureEntry(id: id(1), url: "https://cdn.example/1.jpg")])
    #expect(try before.read().states.count == 1)

    func rename(_ from: String, _ to: String) throws {
      try cache.index.write { db in
        try db.execute(sql: "ALTER TABLE picture RENAME COLUMN \(from) TO \(to)")
      }
    }
    try rename("content", "hidden")
    #expect(throws: LarderError.self) { try later.read() }
    try rename("hidden", "content")
    #expect(throws: LarderError.self) { try later.read() }
    #expect(try PictureStates(cache.index).read().states.count == 2)
  }
}
