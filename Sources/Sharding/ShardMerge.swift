import Base
import Cache
import FoundationEssentials
import Pipeline
import SystemPackage

/// Merges a planned run whose shards have all ended.
///
/// A merge is a sync that reads the plan's files instead of asking the origin. Sections and details are in the plan's
/// `documents.log`, and the pictures' results are in the manifests. The guards against mass removals, the comparison
/// with the last run, the rows and the report are the same as in any sync. Readers see the previous run until the last
/// transaction is committed. After a crash, the merge can be run again.
package struct ShardMerge {
  private let planned: PlannedRun
  private let cache: String
  private let remote: (any RemotePictures)?
  private let isRead: Bool

  /// Prepares a merge.
  ///
  /// - Parameters:
  ///   - planned: The plan.
  ///   - cache: The cache that the shards filled.
  ///   - remote: The object store that has the pictures instead of the cache's folder, if any.
  ///   - isRead: Whether to compare the SHA-256 of every file, and not only its length and date.
  package init(
    _ planned: PlannedRun,
    cache: String,
    remote: (any RemotePictures)? = nil,
    reading isRead: Bool
  ) {
    self.planned = planned
    self.cache = cache
    self.remote = remote
    self.isRead = isRead
  }

  /// Checks all manifests and their files, then commits.
  ///
  /// - Parameters:
  ///   - holder: The holder's name to write into the cache's lock.
  ///   - start: Called with the sync before it starts.
  ///   - sync: Makes a sync of the plan's catalog into the cache; it gets the plan's files as inputs.
  /// - Returns: The report.
  /// - Throws: ``LarderError`` when manifests or files are missing or wrong; ``CatalogError``.
  package func run(
    holder: String,
    start: (SyncRun) -> Void = { _ in },
    sync: (PlannedInputs) -> SyncRun
  ) throws -> SyncReport {
    try demandManifests()
    let manifests = try SettledManifests(
      planned,
      cache: cache,
      remote: remote,
      reading: isRead
    )
    let path = "\(planned.folder)/\(ShardPlan.documentsName)"
    let documents = try PlannedDocuments(path)
    try PlannedRun.demand(
      documents.sum,
      planned.plan.documents,
      ShardPlan.documentsName,
      in: planned.folder
    )
    var parts = PlannedInputs()
    parts.pictures = .settled(manifests)
    parts.requests = manifests.requests
    parts.documents = .given(documents)
    let run = sync(parts)
    start(run)
    let report = try run.run(holder: holder)
    if report.outcome != .interrupted {
      CacheLayout.removeWorkFolders(of: cache, prefix: planned.plan.run)
    }
    return report
  }

  /// Requires that every shard has a manifest.
  private func demandManifests() throws(LarderError) {
    var missing: [Int] = []
    for shard in planned.plan.shards.indices
    where try ShardManifest.trailer(of: shard, of: planned) == nil { missing.append(shard) }
    guard !missing.isEmpty else { return }
    let names = missing.map(String.init).joined(separator: ", ")
    let verb = missing.count == 1 ? "shard \(names) has" : "shards \(names) have"
    throw LarderError(
      .tryAgain,
      "cannot merge \(planned.name): \(verb) no manifest; "
        + "run \(missing.count == 1 ? "it" : "them"), then merge again"
    )
  }
}

/// The pictures' results in all manifests, found by the pictures' ids.
///
/// The lines stay in the manifests, and their offsets are on disk too, in a ``ScratchTable``.
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
  /// The lines' positions by picture id.
  private let lines: ScratchTable
  /// The number of requests that the shards made.
  let requests: Int

  private let decoder = JSONDecoder()

  /// The number of bytes to read for a line at first; a longer line is read again with more bytes.
  private static let piece = 1024

  /// Reads and checks all manifests.
  ///
  /// The manifests must be whole and belong to this plan, and the picture files must match the manifests.
  ///
  /// - Parameters:
  ///   - planned: The plan.
  ///   - cache: The cache that the shards filled.
  ///   - remote: The object store that has the pictures instead of the cache's folder, if any.
  ///   - isRead: Whether to compare the SHA-256 of every file.
  /// - Throws: ``LarderError``, also when a file cannot be read.
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
      let trailer = try ShardManifest.read(shard, of: planned) { line in
        let entry = line.picture.entry
        let other = try lines.add(entry.id, Place.line(line.offset, of: shard))
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
    var start = 0
    do {
      while start < wanted.count {
        let shard = wanted[start].shard
        let end = wanted[start...].firstIndex { $0.shard != shard } ?? wanted.count
        let file = try open(shard)
        defer { try? file.close() }
        for place in wanted[start..<end] { found[place.id] = try picture(at: place, in: file) }
        start = end
      }
    } catch let error as LarderError {
      throw error
    } catch {
      throw LarderError(.disk, "cannot read a manifest in \(planned.name): \(error)")
    }
    return found
  }

  private func open(_ shard: Int) throws -> FileDescriptor {
    let path = FilePath("\(planned.folder)/\(ShardPlan.manifestName(shard))")
    return try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
  }

  /// The result in a picture's line, with the present stamp of the picture's file.
  private func picture(at place: Place, in file: FileDescriptor) throws -> SettledPicture {
    var count = Self.piece
    var text = try file.bytes(from: place.offset, count: count)
    while !text.contains(10), text.count == count {
      count *= 4
      text = try file.bytes(from: place.offset, count: count)
    }
    let line = Data(text.prefix { $0 != 10 })
    guard var picture = try decoder.decode(PictureRow.self, from: line).settled else {
      throw Errno.ioError
    }
    // A second run of the shard may have replaced the file, so the row gets the stamp of the present file. A picture
    // that was removed since the check is noticed when its row is committed.
    picture.entry = try layout.confirmed(picture.entry, read: false) ?? picture.entry
    return picture
  }
}

extension FileDescriptor {
  /// Reads `count` bytes from an offset, or fewer if the file ends earlier.
  func bytes(from offset: Int64, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let more = try bytes.withUnsafeMutableBytes {
        try read(
          fromAbsoluteOffset: offset + Int64(filled),
          into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...])
        )
      }
      guard more > 0 else { break }
      filled += more
    }
    return Array(bytes.prefix(filled))
  }
}
