import CurlTransport
import Foundation
import Support
import Testing

@testable import Cache
@testable import Sharding

/// The assignment of URLs to shards.
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
  func `in a partition by host, only the host decides a URL's shard`(
    _ host: String,
    _ shards: [Int]
  ) {
    for url in ["https://store.example/a.jpg", "https://store.example/b.jpg"] {
      let found = [1, 3, 8, 1000].map { Partition.host.shard(of: url, host: host, among: $0) }

      #expect(found == shards)
    }
  }

  @Test func `each of forty thousand URLs is in one shard, in order`() throws {
    let parser = CurlURLParser()
    let urls = try (0..<40_000).map { number in
      try parser.parse("https://cdn\(number % 7).example/\(number).jpg", relativeTo: nil)
    }
    let folder = try TemporaryFolder()

    for partition in Partition.allCases {
      let path = folder.path("\(partition)")
      let place = try Folder(path: path, creating: true)
      let disk = SystemDisk(durable: false)
      let parting = try ShardLists(partition, among: 16)
      for url in urls.shuffled() + urls.prefix(1000) {
        let entry = PictureEntry(id: PictureID(url: url.text), url: url.text)
        #expect(parting.add([(entry, url)], at: 0) == 0)
      }
      let shards = try parting.write(to: place, on: disk)
      let lists = try (0..<16).map { try list($0, in: folder, "\(partition)") }

      #expect(lists.map(\.count) == shards.map(\.urls))
      #expect(lists.joined().count == 40_000 && Set(lists.joined()).count == 40_000)
      var hosts: [String: Set<Int>] = [:]
      for (shard, list) in lists.enumerated() {
        #expect(list == list.sorted())
        for url in list { hosts["\(url.prefix(12))", default: []].insert(shard) }
      }
      #expect(hosts.count == 7)
      #expect(hosts.values.allSatisfy { partition == .url || $0.count == 1 })
    }
  }

  private func list(_ shard: Int, in folder: TemporaryFolder, _ name: String) throws -> [String] {
    try folder.text("\(name)/shard-\(shard).ndjson").split(separator: "\n").map {
      try JSONDecoder().decode(PictureRow.self, from: Data($0.utf8)).url
    }
  }
}
