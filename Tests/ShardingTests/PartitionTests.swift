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

  @Test(arguments: Partition.allCases)
  func `forty thousand URLs are spread over all shards, or a host's URLs are in one`(
    _ partition: Partition
  ) {
    var counts = [Int](repeating: 0, count: 16)
    var hosts: [String: Set<Int>] = [:]
    for number in 0..<40_000 {
      let host = "cdn\(number % 7).example:443"
      let url = "https://cdn\(number % 7).example/\(number).jpg"
      let shard = partition.shard(of: url, host: host, among: 16)
      counts[shard] += 1
      hosts[host, default: []].insert(shard)
    }

    #expect(hosts.values.allSatisfy { $0.count == (partition == .url ? 16 : 1) })
    #expect(partition == .host || counts.allSatisfy { (2200...2800).contains($0) })
  }

  @Test(arguments: Partition.allCases)
  func `each picture of a plan is in the list of its shard, and in no other`(
    _ partition: Partition
  ) throws {
    let sharded = try ShardedShop(SampleShop(sections: 3, items: 4))
    try sharded.plan(5, by: partition)
    let planned = try sharded.planned

    let lists = try (0..<5).map { try planned.pictures(of: $0).map(\.url) }

    #expect(lists.map(\.count) == planned.plan.shards.map(\.urls))
    #expect(lists.joined().count == 37 && Set(lists.joined()).count == 37)
    for (shard, list) in lists.enumerated() {
      for url in list {
        let parsed = try CurlURLParser().parse(url, relativeTo: nil)
        #expect(partition.shard(of: url, host: "\(parsed.hostPort)", among: 5) == shard)
      }
    }
  }
}
