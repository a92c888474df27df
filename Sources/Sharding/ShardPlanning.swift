import Base
import Cache
import Catalog
import FoundationEssentials
import Pipeline
import Synchronization

/// Makes the plan of a sync over many machines: fetches sections and details once, and assigns their pictures to
/// shards.
///
/// A section is a list of items, and a detail is the document about one item. A shard is the part of the pictures that
/// one machine fetches. Planning writes only to the plan's own folder, and does not change the cache. So other runs can
/// use the cache until the merge.
package struct ShardPlanning: Sendable {
  private let shards: Int
  private let partition: Partition
  private let run: String

  /// Makes the settings of a plan.
  ///
  /// - Parameters:
  ///   - shards: The number of shards, at least 1.
  ///   - partition: Whether a picture's shard depends on the picture's URL or on its host.
  ///   - run: A unique name for the run.
  package init(shards: Int, by partition: Partition, run: String) {
    self.shards = shards
    self.partition = partition
    self.run = run
  }

  /// Makes the plan.
  ///
  /// The last step gives `plan.json` its final name. A folder without this file is not a plan, so a crash never leaves
  /// an incomplete plan.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - text: The bytes of the catalog file.
  ///   - folder: The plan's folder. It must be empty, and is created if it does not exist.
  ///   - cache: The path of the cache that the shards will fill. The cache need not exist.
  ///   - options: The options of the sync.
  ///   - disk: The file system to write to. Tests pass one that fails.
  ///   - now: Returns the current time.
  ///   - sync: Runs the sync that fetches sections and details. It is called with the path of a temporary cache, and
  ///     with the differences from a plain sync.
  /// - Returns: The plan, and the report of the sync. The plan is nil if too little could be fetched.
  /// - Throws: ``LarderError``, ``CatalogError``.
  package func make(
    _ catalog: CatalogFile,
    text: [UInt8],
    out folder: String,
    cache: String,
    options: SyncOptions,
    disk: any Disk = SystemDisk(),
    now: @escaping @Sendable () -> UnixTime,
    sync: (_ cache: String, SharedSync) throws -> SyncReport
  ) throws -> (plan: ShardPlan?, report: SyncReport) {
    // A plan contains no format files. So a catalog file that needs a format file beside it must fail here, before
    // anything is fetched.
    _ = try CatalogFile(parsing: text, file: ShardPlan.catalogName)
    let place = try Self.place(folder)
    let index = try Index.existing(in: cache)
    let scratch = "\(folder)/planning"
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let own = Mutex<Index?>(nil)
    var shared = SharedSync()
    // The run finds the pictures that are due as a sync of the cache does, because its index has the cache's rows.
    shared.imported = { _, scratch throws(LarderError) in
      if let index { try scratch.copyPictures(of: index) }
      own.withLock { $0 = scratch }
      return ImportedPictures()
    }
    shared.list = { [partition, shards] url in
      "\(partition.shard(of: url.text, host: "\(url.hostPort)", among: shards))"
    }
    let report = try sync(scratch, shared)
    guard report.outcome != .failed, report.outcome != .interrupted, report.unfinishedCount == 0,
      let due = own.withLock({ $0 })
    else { return (nil, report) }
    var parted: [ShardPlan.Shard] = []
    for shard in 0..<shards { parted.append(try write(shard, of: due, to: place, on: disk)) }
    var plan = ShardPlan(
      run: self.run,
      catalog: catalog.name,
      catalogFile: try Self.write(text, ShardPlan.catalogName, in: place, on: disk),
      planned: now().seconds,
      shardBy: partition,
      scope: options,
      urls: parted.reduce(0) { $0 + $1.urls },
      shards: parted
    )
    let bytes = try plan.jsonLine() + [10]
    let temporary = ShardPlan.fileName + ".new"
    plan.digest = try Self.write(bytes, temporary, in: place, on: disk).sha256
    try disk.rename(temporary, in: place, to: ShardPlan.fileName, in: place)
    try disk.sync(place)
    return (plan, report)
  }

  /// Opens the plan's folder, or creates it.
  ///
  /// - Throws: ``LarderError`` if the folder is not empty.
  private static func place(_ folder: String) throws -> Folder {
    if folder.contains("://") {
      throw LarderError(
        .usage,
        "cannot write \(folder): a plan must be in a folder; name one that all machines "
          + "share"
      )
    }
    let place = try Folder(path: folder, creating: true)
    guard try place.names().isEmpty else {
      throw LarderError(
        .usage,
        "cannot write a plan to \(folder): it is not empty; choose another folder, or remove it"
      )
    }
    return place
  }

  /// Writes the list of a shard: the pictures that are due, each with its row in the index.
  private func write(
    _ shard: Int,
    of index: Index,
    to folder: Folder,
    on disk: any Disk
  ) throws -> ShardPlan.Shard {
    var file = try HashedFile(ShardPlan.listName(shard), in: folder, on: disk)
    var urls = 0
    try index.forEachDue("\(shard)") { entry in
      try file.append(line: PictureRow(entry))
      urls += 1
    }
    return ShardPlan.Shard(shard: shard, urls: urls, list: try file.close())
  }

  private static func write(
    _ bytes: [UInt8],
    _ name: String,
    in folder: Folder,
    on disk: any Disk
  ) throws(LarderError) -> FileSum {
    var file = try HashedFile(name, in: folder, on: disk)
    try file.append(bytes)
    return try file.close()
  }
}
