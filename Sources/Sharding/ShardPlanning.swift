import Cache
import Catalog
import FoundationEssentials
import Pipeline
import Transport

/// Plans a run over many machines: fetches sections and details once, and parts the pictures that they name.
///
/// Sections and details are kept in the plan as the origin answered, not as a run that is begun in the cache's index:
/// other runs may use the cache meanwhile, and the merge is a sync whose answers are here. The cache is only read.
package struct ShardPlanning: Sendable {
  private let shards: Int
  private let partition: Partition
  private let onlyFailed: Bool
  private let run: String

  /// What is to be planned.
  ///
  /// - Parameters:
  ///   - shards: How many shards, at least 1.
  ///   - partition: What decides which shard a URL belongs to.
  ///   - onlyFailed: Whether pictures that the cache holds are left out.
  ///   - run: A name for the run that no other has.
  package init(shards: Int, by partition: Partition, onlyFailed: Bool, run: String) {
    self.shards = shards
    self.partition = partition
    self.onlyFailed = onlyFailed
    self.run = run
  }

  /// What is known of the pictures before the run.
  private struct Known {
    let index: Index?
    let states: KnownPictures

    init(_ cache: String) throws(CacheError) {
      do throws(CacheError) {
        index = try Index(reading: cache)
      } catch {
        guard error.code == .empty else { throw error }
        index = nil
      }
      states = if let index { try KnownPictures(index) } else { KnownPictures() }
    }

    func isHeld(_ id: PictureID) -> Bool {
      // What cannot be looked up is planned, and found to be right.
      (try? states.states(of: [id]))?[id]?.isHeld ?? false
    }

    func entries(_ ids: [PictureID]) throws(CacheError) -> [PictureID: PictureEntry] {
      try index?.pictures(ids) ?? [:]
    }
  }

  /// Makes the plan.
  ///
  /// Its last step is the name of `plan.json`: a folder without it is no plan.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - text: The catalog file's bytes.
  ///   - folder: Where the plan goes: a folder that is empty, or is made.
  ///   - cache: The cache that the shards will fill; it need not exist.
  ///   - options: What the sync is asked for.
  ///   - disk: Where bytes go.
  ///   - now: The wall clock.
  ///   - start: Told of the sync before it starts.
  ///   - sync: A sync that fetches what is planned, made of a cache's path and what takes the place of its origins.
  /// - Returns: The plan, or nil when too little could be fetched; and what was fetched.
  /// - Throws: ``ShardError``, ``SyncError``, ``CacheError``.
  package func make(
    _ catalog: CatalogFile,
    text: [UInt8],
    out folder: String,
    cache: String,
    options: SyncOptions,
    disk: any Disk = SystemDisk(),
    now: @escaping @Sendable () -> UnixTime,
    start: (SyncRun) -> Void = { _ in },
    sync: (_ cache: String, RunParts) -> SyncRun
  ) throws -> (plan: ShardPlan?, report: SyncReport) {
    let place = try Self.place(folder)
    let known = try Known(cache)
    let log = try LineFile(ShardPlan.documentsName, in: place, on: disk)
    let scratch = "\(folder)/planning"
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let lists = try ShardLists(
      partition,
      identity: catalog.pictures.identity,
      among: shards,
      on: disk
    )
    var parts = RunParts()
    parts.states = try onlyFailed ? known.states.withoutHeld() : known.states
    parts.origin = { RecordingTransport($0, log: log, hiding: $1, now: now) }
    let onlyFailed = onlyFailed
    parts.pictures = .named { id, url in
      if !onlyFailed || !known.isHeld(id) { lists.add(url) }
    }
    let run = sync(scratch, parts)
    start(run)
    let report = try run.run(holder: "larder shard plan")
    guard report.outcome != .failed, report.outcome != .interrupted, report.unfinished.isEmpty
    else {
      _ = try log.close()
      try disk.remove(ShardPlan.documentsName, in: place)
      return (nil, report)
    }
    let parted = try lists.write(to: place) { ids throws(CacheError) in try known.entries(ids) }
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

  /// The plan's folder, empty.
  private static func place(_ folder: String) throws -> Folder {
    if folder.contains("://") {
      throw ShardError(
        .usage,
        "cannot write \(folder): plans are written to folders so far; name a folder that all "
          + "machines see"
      )
    }
    let place = try Folder(path: folder, creating: true)
    guard try place.names().isEmpty else {
      throw ShardError(
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
  ) throws(CacheError) -> FileSum {
    let file = try LineFile(name, in: folder, on: disk)
    file.append(bytes)
    return try file.close()
  }
}
