import CurlTransport
import Support
import Testing
import Transport

@testable import Cache
@testable import Sharding

/// Which shard a URL belongs to.
struct PartitionTests {
  @Test(arguments: [
    ("https://store.example/a.jpg", [0, 0, 3, 859]),
    ("https://store.example/b.jpg", [0, 1, 5, 525]),
    ("http://127.0.0.1:8080/pictures/A1-thumb.jpg", [0, 1, 5, 309]),
    ("https://cdn.example/image?id=1", [0, 2, 7, 759]),
    ("https://cdn.example/%EA%B0%80.png", [0, 1, 0, 448]),
  ])
  func `a URL has the same shard on every machine`(_ url: String, _ shards: [Int]) {
    let found = [1, 3, 8, 1000].map { Partition.url.shard(of: url, host: "h:1", among: $0) }

    #expect(found == shards)
  }

  @Test(arguments: [
    ("store.example:443", [0, 1, 3, 803]), ("cdn.example:443", [0, 0, 3, 371]),
  ])
  func `by host, the host alone decides`(_ host: String, _ shards: [Int]) {
    for url in ["https://store.example/a.jpg", "https://store.example/b.jpg"] {
      let found = [1, 3, 8, 1000].map { Partition.host.shard(of: url, host: host, among: $0) }

      #expect(found == shards)
    }
  }

  @Test func `of a hundred thousand URLs each is in one shard, in order and whatever came first`()
    throws
  {
    let parser = CurlURLParser()
    var pictures: [PictureID: WebURL] = [:]
    for number in 0..<100_000 {
      let url = try parser.parse("https://cdn\(number % 7).example/\(number).jpg", relativeTo: nil)
      pictures[PictureID(url: url.text)] = url
    }

    for partition in Partition.allCases {
      let lists = try PictureLists(pictures, partition, among: 16) { _ in [:] }.lists

      #expect(lists.map(\.count).reduce(0, +) == 100_000)
      #expect(Set(lists.joined().map(\.id)).count == 100_000)
      var shards: [String: Set<Int>] = [:]
      for (shard, list) in lists.enumerated() {
        #expect(list.map(\.url) == list.map(\.url).sorted())
        for entry in list { shards["\(entry.url.prefix(12))", default: []].insert(shard) }
      }
      #expect(shards.count == 7)
      #expect(shards.values.allSatisfy { partition == .url || $0.count == 1 })
    }
  }
}
