import Base
import Cache
import Catalog
import FoundationEssentials
import Pipeline
import Transport

/// Makes the plan of a sync over many machines: fetches sections and details once, and assigns their pictures to
/// shards.
///
/// A section is a list of items, and a detail is the document about one item. A shard is the part of the pictures that
/// one machine fetches. Planning writes only to the plan's own folder, and does not change the cache. So other runs can
/// use the cache until the merge. The merge is a sync that reads the responses from the plan's folder.
package struct ShardPlanning: Sendable {
  private let shards: Int
  private let partition: Partition
  private let onlyFailed: Bool
  private let run: String

  /// Makes the settings of a plan.
  ///
  /// - Parameters:
  ///   - shards: The number of shards, at least 1.
  ///   - partition: Whether a picture's shard depends on the picture's URL or on its host.
  ///   - onlyFailed: Whether to omit pictures that are in the cache.
  ///   - run: A unique name for the run.
  package init(shards: Int, by partition: Partition, onlyFailed: Bool, run: String) {
    self.shards = shards
    self.partition = partition
    self.onlyFailed = onlyFailed
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
  ///   - sync: Makes the sync that fetches sections and details. It is called with the path of a temporary cache, and
  ///     with the inputs for the sync.
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
    sync: (_ cache: String, PlannedInputs) -> SyncRun
  ) throws -> (plan: ShardPlan?, report: SyncReport) {
    // A plan contains no format files. So a catalog file that needs a format file beside it must fail here, before
    // anything is fetched.
    _ = try CatalogFile(parsing: text, file: ShardPlan.catalogName)
    let place = try Self.place(folder)
    let index = try Self.index(of: cache)
    let states = try index.map { try KnownPictures($0) } ?? KnownPictures()
    let log = try HashedFile(ShardPlan.documentsName, in: place, on: disk)
    let scratch = "\(folder)/planning"
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let lists = try ShardLists(
      partition,
      identity: catalog.pictures.identity,
      among: shards,
      on: disk
    )
    var parts = PlannedInputs()
    parts.states = try onlyFailed ? states.withoutHeld() : states
    parts.documents = .kept { log.append($0) }
    let onlyFailed = onlyFailed
    parts.pictures = .named { id, url in
      // If the look-up fails, the picture is planned. The run of its shard then finds that the picture is current.
      let isHeld = onlyFailed && (try? states.states(of: [id]))?[id]?.isHeld ?? false
      if !isHeld { lists.add(url) }
    }
    let run = sync(scratch, parts)
    let report = try run.run(holder: "larder shard plan")
    guard report.outcome != .failed, report.outcome != .interrupted, report.unfinished.isEmpty
    else {
      _ = try log.close()
      try disk.remove(ShardPlan.documentsName, in: place)
      return (nil, report)
    }
    let parted = try lists.write(to: place) { ids throws(LarderError) in
      try index?.pictures(ids) ?? [:]
    }
    var plan = ShardPlan(
      run: self.run,
      catalog: catalog.name,
      catalogFile: try Self.write(text, ShardPlan.catalogName, in: place, on: disk),
      planned: now().seconds,
      shardBy: partition,
      onlyFailed: onlyFailed,
      scope: ShardPlan.Scope(options),
      documents: try log.close(),
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

  /// The cache's index before the run, or nil if there is no cache.
  private static func index(of cache: String) throws(LarderError) -> Index? {
    do throws(LarderError) {
      return try Index(reading: cache)
    } catch {
      guard error.code == .empty else { throw error }
      return nil
    }
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

  private static func write(
    _ bytes: [UInt8],
    _ name: String,
    in folder: Folder,
    on disk: any Disk
  ) throws(LarderError) -> FileSum {
    let file = try HashedFile(name, in: folder, on: disk)
    file.append(bytes)
    return try file.close()
  }
}

/// Collects the pictures of a plan, and writes the list of each shard.
///
/// Each list is sorted by URL and has each URL once. The URLs are sorted on disk, because all of them can be too many
/// for memory. Thread-safe.
final class ShardLists: Sendable {
  private let partition: Partition
  private let identity: PictureIdentity
  private let count: Int
  private let disk: any Disk
  private let lines: ScratchLines

  /// The number of index rows to look up at once.
  private static let batch = 1024

  /// Makes empty lists.
  ///
  /// - Parameters:
  ///   - partition: Whether a picture's shard depends on the picture's URL or on its host.
  ///   - identity: The catalog's rule for the identity of a picture, which is the URL or a part of it.
  ///   - count: The number of lists.
  ///   - disk: The file system to write to.
  /// - Throws: ``LarderError`` if the temporary files cannot be created.
  init(
    _ partition: Partition,
    identity: PictureIdentity = .url,
    among count: Int,
    on disk: any Disk
  ) throws(LarderError) {
    (self.partition, self.identity) = (partition, identity)
    self.count = count
    self.disk = disk
    lines = try ScratchLines()
  }

  /// Adds a picture.
  ///
  /// If it cannot be stored, ``write(to:known:)`` throws the error.
  func add(_ url: WebURL) {
    lines.add(
      url.text,
      to: partition.shard(of: url.text, host: "\(url.hostPort)", among: count)
    )
  }

  /// Writes the lists to their files.
  ///
  /// The order of adding the pictures does not change the files.
  ///
  /// - Parameters:
  ///   - folder: The plan's folder.
  ///   - known: Returns the index rows of the pictures with these ids. Pictures without a row are left out.
  /// - Returns: The shards. Each has the number of its pictures, and the length and digest of its list.
  /// - Throws: ``LarderError``; errors of the encoder.
  func write(
    to folder: Folder,
    known: ([PictureID]) throws(LarderError) -> [PictureID: PictureEntry]
  ) throws -> [ShardPlan.Shard] {
    var shards: [ShardPlan.Shard] = []
    var file: HashedFile?
    var urls = 0
    var pending: [String] = []

    /// Writes the pending URLs to the list of the next shard.
    func flush() throws -> HashedFile {
      let list =
        try file ?? HashedFile(ShardPlan.listName(shards.count), in: folder, on: disk)
      file = list
      let new = pending.map { url in
        let identity = identity.text(of: url)
        return PictureEntry(id: PictureID(url: identity), url: url, identity: identity)
      }
      let rows = try known(new.map(\.id))
      for entry in new {
        var row = rows[entry.id] ?? entry
        row.url = entry.url
        try list.append(line: PictureRow(row))
      }
      urls += pending.count
      pending.removeAll(keepingCapacity: true)
      return list
    }

    func close() throws {
      let sum = try flush().close()
      shards.append(ShardPlan.Shard(shard: shards.count, urls: urls, list: sum))
      (file, urls) = (nil, 0)
    }

    try lines.forEach { shard, url in
      while shards.count < shard { try close() }
      pending.append(url)
      if pending.count == Self.batch { _ = try flush() }
    }
    while shards.count < count { try close() }
    return shards
  }
}
