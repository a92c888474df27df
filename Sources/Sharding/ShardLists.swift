import Cache
import Catalog
import FoundationEssentials
import Pipeline
import Transport

/// The pictures of a plan on their way into the lists of their shards.
///
/// They wait beside memory, where they are sorted. Safe on any thread.
final class ShardLists: Sendable {
  private let partition: Partition
  /// What tells a catalog's pictures apart.
  private let identity: PictureIdentity
  private let count: Int
  private let disk: any Disk
  private let lines: ScratchLines

  /// How many rows are looked up at once.
  private static let batch = 1024

  /// Lists without a picture.
  ///
  /// - Parameters:
  ///   - partition: What decides on the shard.
  ///   - identity: What tells pictures apart.
  ///   - count: How many lists.
  ///   - disk: Where lists go.
  /// - Throws: ``CacheError`` when there is no room for temporary files.
  init(
    _ partition: Partition,
    identity: PictureIdentity = .url,
    among count: Int,
    on disk: any Disk
  ) throws(CacheError) {
    (self.partition, self.identity) = (partition, identity)
    self.count = count
    self.disk = disk
    lines = try ScratchLines()
  }

  /// Adds a picture; a failure is told by ``write(to:known:)``.
  func add(_ url: WebURL) {
    lines.add(
      url.text,
      to: partition.shard(of: url.text, host: "\(url.hostPort)", among: count)
    )
  }

  /// Writes a file a list: each picture once, by URL, whatever order they came in.
  ///
  /// - Parameters:
  ///   - folder: The plan's folder.
  ///   - known: Finds what an index knows of pictures.
  /// - Returns: What is in the lists.
  /// - Throws: ``CacheError``; what the encoder throws.
  func write(
    to folder: Folder,
    known: ([PictureID]) throws(CacheError) -> [PictureID: PictureEntry]
  ) throws -> [ShardPlan.Shard] {
    var shards: [ShardPlan.Shard] = []
    var list = try open(0, in: folder)
    func close() throws {
      try list.write(known)
      let sum = try list.file.close()
      shards.append(ShardPlan.Shard(shard: shards.count, urls: list.urls, list: sum))
    }
    try lines.forEach { shard, url in
      while shards.count < shard {
        try close()
        list = try open(shards.count, in: folder)
      }
      list.pending.append(url)
      if list.pending.count == Self.batch { try list.write(known) }
    }
    while shards.count < count {
      try close()
      if shards.count < count { list = try open(shards.count, in: folder) }
    }
    return shards
  }

  private func open(_ shard: Int, in folder: Folder) throws(CacheError) -> List {
    List(file: try LineFile(ShardPlan.listName(shard), in: folder, on: disk), identity: identity)
  }

  /// A list that is being written.
  private struct List {
    let file: LineFile
    let identity: PictureIdentity
    var urls = 0
    /// What is in order and not written yet.
    var pending: [String] = []

    mutating func write(
      _ known: ([PictureID]) throws(CacheError) -> [PictureID: PictureEntry]
    ) throws {
      let new = pending.map { url in
        let identity = identity.text(of: url)
        return PictureEntry(id: PictureID(url: identity), url: url, identity: identity)
      }
      let rows = try known(new.map(\.id))
      for entry in new {
        var row = rows[entry.id] ?? entry
        row.url = entry.url
        try file.append(line: PictureRow(row))
      }
      urls += pending.count
      pending.removeAll(keepingCapacity: true)
    }
  }
}
