import Base
import Cache
import FoundationEssentials
import Pipeline
import SystemPackage

extension PlannedRun {
  /// Merges the results of all shards: checks all manifests and the picture files, then commits the run.
  ///
  /// A merge is a sync that reads the plan's files instead of sending requests. The sections and details are in
  /// `documents.log`, and the results for the pictures are in the manifests. Everything else is the same as in any
  /// sync, for example the guards against mass removals, the comparison with the last run, and the report.
  ///
  /// Readers of the cache see the previous run until the last transaction is committed. After a crash, the merge can be
  /// run again.
  ///
  /// - Parameters:
  ///   - cache: The path of the cache that the shards filled.
  ///   - remote: The object store that contains the pictures, if they are not in the cache's folder.
  ///   - isRead: Whether to compare the SHA-256 of every file, and not only its length and date.
  ///   - holder: The name to write into the cache's lock.
  ///   - sync: Makes a sync of the plan's catalog into the cache. It is called with the plan's files as inputs.
  /// - Returns: The report.
  /// - Throws: ``LarderError`` if manifests or picture files are missing or wrong; ``CatalogError``.
  package func merge(
    cache: String,
    remote: (any RemotePictures)? = nil,
    reading isRead: Bool,
    holder: String,
    sync: (PlannedInputs) -> SyncRun
  ) throws -> SyncReport {
    try demandManifests()
    let manifests = try SettledManifests(self, cache: cache, remote: remote, reading: isRead)
    let documents = try PlannedDocuments("\(folder)/\(ShardPlan.documentsName)")
    try Self.demand(documents.sum, plan.documents, ShardPlan.documentsName, in: folder)
    var parts = PlannedInputs()
    parts.pictures = .settled(manifests)
    parts.requests = manifests.requests
    parts.documents = .given(documents)
    let run = sync(parts)
    let report = try run.run(holder: holder)
    if report.outcome != .interrupted {
      CacheLayout.removeWorkFolders(of: cache, prefix: plan.run)
    }
    return report
  }

  /// Throws if a shard has no manifest.
  private func demandManifests() throws(LarderError) {
    var missing: [Int] = []
    for shard in plan.shards.indices
    where try ShardManifest.trailer(of: shard, of: self) == nil { missing.append(shard) }
    guard !missing.isEmpty else { return }
    let names = missing.map(String.init).joined(separator: ", ")
    let verb = missing.count == 1 ? "shard \(names) has" : "shards \(names) have"
    throw LarderError(
      .tryAgain,
      "cannot merge \(name): \(verb) no manifest; "
        + "run \(missing.count == 1 ? "it" : "them"), then merge again"
    )
  }
}

/// The results for the pictures in all manifests of a plan.
///
/// A manifest is the file with the results of one shard; see ``ShardManifest``. The results stay in the manifests,
/// where each picture has one line. The positions of the lines are on disk too, in a ``ScratchTable``.
final class SettledManifests: ImportedPictures {
  /// The position of a picture's line.
  private struct Place {
    let id: PictureID
    /// The number of the shard in the high bits, and the line's offset in the low 40 bits.
    let line: Int64

    var shard: Int { Int(line >> 40) }
    var offset: Int64 { line & (1 << 40 - 1) }

    static func line(_ offset: Int64, of shard: Int) -> Int64 { Int64(shard) << 40 | offset }
  }

  private let planned: PlannedRun
  private let layout: CacheLayout
  /// The position of each picture's line, as ``Place/line``.
  private let lines: ScratchTable
  /// The number of requests that the shards sent.
  let requests: Int

  private let decoder = JSONDecoder()

  /// Reads and checks all manifests.
  ///
  /// Each manifest must be complete and belong to this plan. The picture files must match the manifests.
  ///
  /// - Parameters:
  ///   - planned: The plan.
  ///   - cache: The path of the cache that the shards filled.
  ///   - remote: The object store that contains the pictures, if they are not in the cache's folder.
  ///   - isRead: Whether to compare the SHA-256 of every file.
  /// - Throws: ``LarderError``, also if a file cannot be read.
  init(
    _ planned: PlannedRun,
    cache: String,
    remote: (any RemotePictures)?,
    reading isRead: Bool
  ) throws {
    let layout = try CacheLayout(creating: cache, remote: remote)
    let lines = try ScratchTable()
    var twice: PictureID?
    var lost: (first: String, count: Int)?
    var requests = 0
    for shard in planned.plan.shards.indices {
      let trailer = try ShardManifest.read(shard, of: planned) { offset, picture in
        let entry = picture.entry
        let other = try lines.add(entry.id, Place.line(offset, of: shard))
        twice = twice ?? other
        guard try layout.confirmed(entry, read: isRead) == nil else { return }
        lost = (lost?.first ?? entry.name.path, (lost?.count ?? 0) + 1)
      }
      requests += trailer?.requests ?? 0
    }
    if let lost {
      let others = lost.count == 1 ? "" : " and \(lost.count - 1) more"
      throw LarderError(
        .lost,
        "cannot merge \(planned.name): \(remote?.name ?? cache)/\(lost.first)\(others) has changed since its "
          + "shard wrote it; make a new plan, intact pictures are not fetched again"
      )
    }
    twice = try twice ?? lines.insertPending()
    self.planned = planned
    self.layout = layout
    self.lines = lines
    self.requests = requests
    if let twice, let url = try pictures([twice])[twice]?.entry.url {
      throw LarderError(
        .data,
        "cannot merge \(planned.name): \(url) is in two manifests; make a new plan"
      )
    }
  }

  func members(_ ids: [PictureID]) throws(LarderError) -> Set<PictureID> {
    Set(try lines.numbers(of: ids).map(\.id))
  }

  func mightContain(_ path: String) throws(LarderError) -> Bool {
    guard let id = PictureName.id(at: path) else { return false }
    return try !lines.numbers(of: [id]).isEmpty
  }

  func pictures(_ ids: [PictureID]) throws(LarderError) -> [PictureID: SettledPicture] {
    let wanted = try lines.numbers(of: ids).map { Place(id: $0.id, line: $0.number) }
      .sorted { $0.line < $1.line }
    var found: [PictureID: SettledPicture] = [:]
    var manifest: (shard: Int, reader: LineReader)?
    do {
      for place in wanted {
        if manifest?.shard != place.shard {
          let path = "\(planned.folder)/\(ShardPlan.manifestName(place.shard))"
          manifest = (place.shard, try LineReader(path, piece: 1024))
        }
        found[place.id] = try manifest.map { try picture(at: place.offset, in: $0.reader) }
      }
    } catch let error as LarderError {
      throw error
    } catch {
      throw LarderError(.disk, "cannot read a manifest in \(planned.name): \(error)")
    }
    return found
  }

  /// Reads the result in a picture's line, and gives it the present date and inode of the picture's file.
  private func picture(at offset: Int64, in manifest: LineReader) throws -> SettledPicture {
    manifest.seek(to: offset)
    guard let line = try manifest.line(),
      var picture = try decoder.decode(PictureRow.self, from: Data(line)).settled
    else { throw Errno.ioError }
    // It is possible that a second run of the shard replaced the file after the manifest was written, so the row gets
    // the date and inode of the present file. If the file was removed, this is noticed when the row is committed.
    picture.entry = try layout.confirmed(picture.entry, read: false) ?? picture.entry
    return picture
  }
}
