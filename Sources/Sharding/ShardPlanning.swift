import Base
import Cache
import Catalog
import FoundationEssentials
import Pipeline
import Transport

/// Plans a sync over many machines: fetches sections and details once, and assigns their pictures to shards.
///
/// Planning stores the origin's answers in the plan's own files, and does not change the cache. Other runs may
/// therefore use the cache until the merge, which is a sync that reads these answers.
package struct ShardPlanning: Sendable {
  private let shards: Int
  private let partition: Partition
  private let onlyFailed: Bool
  private let run: String

  /// Makes the settings of a plan.
  ///
  /// - Parameters:
  ///   - shards: The number of shards, at least 1.
  ///   - partition: The key by which pictures are assigned to shards.
  ///   - onlyFailed: Whether to leave out pictures that the cache holds.
  ///   - run: A unique name for the run.
  package init(shards: Int, by partition: Partition, onlyFailed: Bool, run: String) {
    self.shards = shards
    self.partition = partition
    self.onlyFailed = onlyFailed
    self.run = run
  }

  /// The cache's index before the run, if there is a cache.
  private struct Known {
    let index: Index?
    let states: KnownPictures

    init(_ cache: String) throws(LarderError) {
      do throws(LarderError) {
        index = try Index(reading: cache)
      } catch {
        guard error.code == .empty else { throw error }
        index = nil
      }
      states = if let index { try KnownPictures(index) } else { KnownPictures() }
    }

    func isHeld(_ id: PictureID) -> Bool {
      // If the look-up fails, the picture is planned, and the run of its shard finds that it is current.
      (try? states.states(of: [id]))?[id]?.isHeld ?? false
    }

    func entries(_ ids: [PictureID]) throws(LarderError) -> [PictureID: PictureEntry] {
      try index?.pictures(ids) ?? [:]
    }
  }

  /// Makes the plan.
  ///
  /// The last step renames `plan.json` to its final name: a folder without this file is no plan.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - text: The catalog file's bytes.
  ///   - folder: The plan's folder, which must be empty; it is created if it does not exist.
  ///   - cache: The cache that the shards will fill; it need not exist.
  ///   - options: The options of the sync.
  ///   - disk: The file system; tests replace it.
  ///   - now: The wall clock.
  ///   - start: Called with the sync before it starts.
  ///   - sync: Makes the sync that fetches for the plan, given the path of a temporary cache and the plan's inputs.
  /// - Returns: The report, and the plan; the plan is nil when too little could be fetched.
  /// - Throws: ``LarderError``, ``CatalogError``.
  package func make(
    _ catalog: CatalogFile,
    text: [UInt8],
    out folder: String,
    cache: String,
    options: SyncOptions,
    disk: any Disk = SystemDisk(),
    now: @escaping @Sendable () -> UnixTime,
    start: (SyncRun) -> Void = { _ in },
    sync: (_ cache: String, PlannedInputs) -> SyncRun
  ) throws -> (plan: ShardPlan?, report: SyncReport) {
    // Fails before anything is fetched if the catalog file needs a format file beside it, because a plan contains no
    // format files.
    _ = try CatalogFile(parsing: text, file: ShardPlan.catalogName)
    let place = try Self.place(folder)
    let known = try Known(cache)
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
    parts.states = try onlyFailed ? known.states.withoutHeld() : known.states
    parts.documents = .kept { log.append($0) }
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
    let parted = try lists.write(to: place) { ids throws(LarderError) in try known.entries(ids) }
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

  /// Opens or creates the plan's folder, which must be empty.
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

/// Collects the pictures of a plan, and writes the sorted list of each shard.
///
/// The URLs are sorted on disk, not in memory. Thread-safe.
final class ShardLists: Sendable {
  private let partition: Partition
  /// The catalog's rule for the identity of a picture.
  private let identity: PictureIdentity
  private let count: Int
  private let disk: any Disk
  private let lines: ScratchLines

  /// The number of rows to look up at once.
  private static let batch = 1024

  /// Makes empty lists.
  ///
  /// - Parameters:
  ///   - partition: The key by which pictures are assigned to shards.
  ///   - identity: The catalog's rule for the identity of a picture.
  ///   - count: The number of lists.
  ///   - disk: The file system; tests replace it.
  /// - Throws: ``LarderError`` when the temporary files cannot be created.
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

  /// Adds a picture; ``write(to:known:)`` throws the error of a failed write.
  func add(_ url: WebURL) {
    lines.add(
      url.text,
      to: partition.shard(of: url.text, host: "\(url.hostPort)", among: count)
    )
  }

  /// Writes each list to its file, sorted by URL and without duplicates.
  ///
  /// The files do not depend on the order in which pictures were added.
  ///
  /// - Parameters:
  ///   - folder: The plan's folder.
  ///   - known: Returns the index rows of pictures.
  /// - Returns: The number of pictures, and the length and digest, of each list.
  /// - Throws: ``LarderError``; errors of the encoder.
  func write(
    to folder: Folder,
    known: ([PictureID]) throws(LarderError) -> [PictureID: PictureEntry]
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

  private func open(_ shard: Int, in folder: Folder) throws(LarderError) -> List {
    List(file: try HashedFile(ShardPlan.listName(shard), in: folder, on: disk), identity: identity)
  }

  /// A list that is being written.
  private struct List {
    let file: HashedFile
    let identity: PictureIdentity
    var urls = 0
    /// The sorted URLs that are not written yet.
    var pending: [String] = []

    mutating func write(
      _ known: ([PictureID]) throws(LarderError) -> [PictureID: PictureEntry]
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
