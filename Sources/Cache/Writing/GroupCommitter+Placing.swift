import FoundationEssentials
import GRDB
import Transport

extension GroupCommitter {
  /// Gives the files of a group their names and queues their rows.
  ///
  /// On the commit queue.
  func place(_ group: CommitGroup) {
    let loss: CacheError?
    do throws(CacheError) {
      try layout.demandHold()
      loss = nil
    } catch {
      note(error)
      loss = error
    }
    let places = group.pictures.map { loss.map(Place.failed) ?? place($0) }
    let folders = Set(zip(group.pictures, places).compactMap { $1.isRenamed ? $0.folder : nil })
    let unsynced = folders.filter { folder in
      do throws(CacheError) {
        try disk.sync(layout.folder(folder))
        try layout.syncFolderNames(on: disk)
        return false
      } catch {
        note(error)
        return true
      }
    }
    for (staged, place) in zip(group.pictures, places) {
      switch place {
      case .failed(let error):
        placed.add(refused: .refused(.disk, detail: error.description), staged.completion)
        continue
      case .renamed where unsynced.contains(staged.folder):
        placed.add(
          refused: .refused(.disk, detail: "cannot sync its folder; fetch it again"),
          staged.completion
        )
        continue
      case .renamed(let picture):
        placed.add(picture)
      case .kept:
        placed.add(PlacedBatch.Picture(staged, staged.entry.stamp))
      }
    }
    placed.add(group)
  }

  /// Where a staged picture ended up.
  private enum Place {
    case kept
    case renamed(PlacedBatch.Picture)
    case failed(CacheError)

    var isRenamed: Bool {
      if case .renamed = self { true } else { false }
    }
  }

  /// Syncs one file and gives it its name.
  ///
  /// After a failed sync the file is dropped, never synced again: the kernel may have thrown away
  /// what it could not write.
  private func place(_ staged: StagedPicture) -> Place {
    guard let file = staged.partial else { return .kept }
    let name = staged.name
    let partialName = staged.entry.partialName
    do throws(CacheError) {
      let folder = try layout.folder(name.folder)
      if let stamp = try linkEqual(staged.entry, to: name, in: folder) {
        try disk.remove(partialName, in: layout.partial)
        if staged.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
        return .renamed(PlacedBatch.Picture(staged, stamp))
      }
      try disk.sync(file)
      try disk.rename(partialName, in: layout.partial, to: name.file, in: folder)
      // What stays of the note is swept by the next run, for it has no body any more.
      if staged.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
      let picture = PlacedBatch.Picture(staged, staged.entry.stamp)
      placed.note(picture)
      return .renamed(picture)
    } catch {
      note(error)
      if staged.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
      try? disk.remove(partialName, in: layout.partial)
      return .failed(error)
    }
  }

  /// Stores equal bytes once: when another picture holds them, its file gets a second name.
  ///
  /// - Returns: the shared file's stamp, or nil when there is no such picture, its file is not as
  ///   its row says, or the file system has no links; the caller then keeps its own bytes.
  private func linkEqual(
    _ entry: PictureEntry,
    to name: PictureName,
    in folder: Folder
  ) throws(CacheError) -> FileStamp? {
    guard let digest = entry.sha256 else { return nil }
    let content = ContentDigest.prefix(digest)
    var other = placed.entry(holding: content) ?? committing?.entry(holding: content)
    if other == nil, let id = contents[content] { other = try index.pictures([id])[id] }
    guard let held = other, held.id != entry.id, held.sha256 == digest else { return nil }
    let source = try layout.folder(held.name.folder)
    let temporary = entry.partialName + "-link"
    guard let stamp = source.stamp(of: held.name.file), stamp == held.stamp,
      try disk.link(held.name.file, in: source, to: temporary, in: layout.partial)
    else { return nil }
    try disk.rename(temporary, in: layout.partial, to: name.file, in: folder)
    // Renaming one link of a file over another does nothing and leaves both names.
    try disk.remove(temporary, in: layout.partial)
    return stamp
  }
}

extension StagedPicture {
  fileprivate var folder: UInt8 { name.folder }
}

extension Index {
  /// Enters that a picture's bytes changed in a run, in a transaction that the caller holds.
  static func note(
    _ id: PictureID,
    before: [UInt8],
    after: [UInt8],
    run: Int64,
    in db: Database
  ) throws {
    try db.cachedStatement(
      sql: "INSERT OR REPLACE INTO picture_change(run, picture, before, after) VALUES (?,?,?,?)"
    ).execute(arguments: [run, id.number, Data(before), Data(after)])
  }
}
