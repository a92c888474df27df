import Base
import Cache
import Pipeline

extension PlannedRun {
  /// Merges the results of all shards into the cache, and commits the run.
  ///
  /// A merge is a sync that begins with the pictures of the shards: it checks all manifests and the picture files, and
  /// writes the rows of the pictures to the index. Then the sync finds these pictures fresh. It requests the sections,
  /// the details and the pictures that the shards could not fetch.
  ///
  /// Readers of the cache see the previous run until the last transaction is committed. After a crash, the merge can be
  /// run again.
  ///
  /// - Parameters:
  ///   - cache: The path of the cache that the shards filled.
  ///   - remote: The object store that contains the pictures, if they are not in the cache's folder.
  ///   - isRead: Whether to compare the SHA-256 of every file, and not only its length and date.
  ///   - sync: Runs a sync of the plan's catalog into the cache. It is called with the differences from a plain sync.
  /// - Returns: The report.
  /// - Throws: ``LarderError`` if manifests or picture files are missing or wrong; ``CatalogError``.
  package func merge(
    cache: String,
    remote: (any RemotePictures)? = nil,
    reading isRead: Bool,
    sync: (SharedSync) throws -> SyncReport
  ) throws -> SyncReport {
    try demandManifests()
    var shared = SharedSync()
    shared.imported = { layout, index throws(LarderError) in
      try take(from: remote?.name ?? cache, in: layout, to: index, reading: isRead)
    }
    let report = try sync(shared)
    if report.outcome != .interrupted {
      CacheLayout.removeWorkFolders(of: cache, prefix: plan.run)
    }
    return report
  }

  /// Checks that each shard has a manifest.
  ///
  /// - Throws: ``LarderError`` if a shard has none, or a manifest is truncated or foreign.
  private func demandManifests() throws(LarderError) {
    var missing: [Int] = []
    for shard in plan.shards.indices where try ShardManifest.read(shard, of: self) == nil {
      missing.append(shard)
    }
    guard missing.isEmpty else { throw without(missing) }
  }

  /// The error for shards that have no manifest.
  private func without(_ missing: [Int]) -> LarderError {
    let names = missing.map(String.init).joined(separator: ", ")
    let verb = missing.count == 1 ? "shard \(names) has" : "shards \(names) have"
    return LarderError(
      .tryAgain,
      "cannot merge \(name): \(verb) no manifest; "
        + "run \(missing.count == 1 ? "it" : "them"), then merge again"
    )
  }

  /// The number of rows to write in one transaction.
  ///
  /// While a large transaction is open, other processes cannot read the index. So no file is read meanwhile.
  private static let batch = 1 << 16

  /// Writes the rows in all manifests to the index.
  ///
  /// Each row gets the present date and inode of its file, because a second run of the shard may have replaced the file
  /// after the manifest was written.
  ///
  /// - Parameters:
  ///   - cache: The cache's name in messages.
  ///   - layout: The cache.
  ///   - index: The cache's index.
  ///   - isRead: Whether to compare the SHA-256 of every file.
  /// - Returns: The counts of the pictures.
  /// - Throws: ``LarderError`` if a manifest has a line that is not a row, or has changed or vanished since it was
  ///   checked, or if a file is missing or damaged. The rows of other pictures may be written then.
  private func take(
    from cache: String,
    in layout: CacheLayout,
    to index: Index,
    reading isRead: Bool
  ) throws(LarderError) -> ImportedPictures {
    var pictures = ImportedPictures()
    var answers = ShardAnswers(planned: UnixTime(plan.planned))
    var lost: (first: String, count: Int)?
    var rows: [PictureEntry] = []

    func write() throws(LarderError) {
      // Sorted rows change each page of the index once.
      rows.sort { $0.id < $1.id }
      try index.importPictures(rows, into: &answers)
      rows.removeAll(keepingCapacity: true)
    }

    for shard in plan.shards.indices {
      // Another process may have removed or replaced the manifest since it was checked.
      guard let manifest = try ShardManifest.read(shard, of: self) else { throw without([shard]) }
      let fault = ShardManifest.torn("\(folder.path)/\(ShardPlan.manifestName(shard))")
      try PictureRow.read(manifest.rows, or: fault) { entry throws(LarderError) in
        if let present = try layout.confirmed(entry, read: isRead) {
          rows.append(present)
          if rows.count == Self.batch { try write() }
        } else {
          lost = (lost?.first ?? entry.name.path, (lost?.count ?? 0) + 1)
        }
      }
      manifest.trailer.count(in: &pictures)
    }
    try write()
    pictures.answers = answers
    guard let lost else { return pictures }
    let others = lost.count == 1 ? "" : " and \(lost.count - 1) more"
    throw LarderError(
      .lost,
      "cannot merge \(name): \(cache)/\(lost.first)\(others) has changed since its "
        + "shard wrote it; make a new plan, intact pictures are not fetched again"
    )
  }
}
