import FoundationEssentials
import GRDB
import Transport

extension GroupCommitter {
  /// Commits a group, then tells everybody in it. On the commit queue.
  func commit(_ group: CommitGroup) {
    var here: [Int64: PictureEntry] = [:]
    let placed = group.pictures.map { place($0, &here) }
    let folders = Set(zip(group.pictures, placed).compactMap { $1.isRenamed ? $0.folder : nil })
    let unsynced = folders.filter { folder in
      do throws(CacheError) {
        try disk.sync(layout.folder(folder))
        return false
      } catch {
        note(error)
        return true
      }
    }

    var outcomes: [PictureOutcome] = []
    var entries: [(entry: PictureEntry, before: [UInt8]?)] = []
    for (staged, place) in zip(group.pictures, placed) {
      switch place {
      case .failed(let error):
        outcomes.append(.refused(.disk, detail: error.description))
      case .renamed where unsynced.contains(staged.folder):
        outcomes.append(.refused(.disk, detail: "cannot sync its folder; fetch it again"))
      case .kept, .renamed:
        var entry = staged.entry
        if case .renamed(let stamp) = place { entry.stamp = stamp }
        entries.append((entry, place.isRenamed ? staged.before : nil))
        outcomes.append(staged.outcome)
      }
    }

    do throws(CacheError) {
      try index.write { db in
        for (entry, before) in entries {
          try Index.save(entry, in: db)
          if let before, let after = entry.sha256 {
            try Index.note(entry.id, before: before, after: after, run: run, in: db)
          }
        }
        for entry in group.rows { try Index.save(entry, in: db) }
        for (detail, catalog, document) in group.details {
          try Index.save(document, in: db)
          try Index.save(detail, catalog: catalog, in: db)
        }
      }
      for (entry, _) in entries {
        if let digest = entry.sha256 { contents[ContentDigest.prefix(digest)] = entry.id }
      }
    } catch {
      // The files are in place all the same; the next run finds and adopts them.
      note(error)
      outcomes = outcomes.map { _ in .refused(.disk, detail: error.description) }
    }

    for (staged, outcome) in zip(group.pictures, outcomes) { staged.completion(outcome) }
    for completion in group.completions { completion() }
  }

  /// Where a staged picture ended up.
  private enum Place {
    case kept
    case renamed(FileStamp?)
    case failed(CacheError)

    var isRenamed: Bool {
      if case .renamed = self { true } else { false }
    }
  }

  /// Syncs one file and gives it its name. After a failed sync the file is dropped, never synced
  /// again: the kernel may have thrown away what it could not write.
  ///
  /// `here` holds what this group placed already, by content, ahead of its rows.
  private func place(_ staged: StagedPicture, _ here: inout [Int64: PictureEntry]) -> Place {
    guard let file = staged.partial else { return .kept }
    let name = staged.entry.name
    let partialName = staged.entry.partialName
    do throws(CacheError) {
      let folder = try layout.folder(name.folder)
      if let stamp = try linkEqual(staged.entry, to: name, in: folder, here) {
        try disk.remove(partialName, in: layout.partial)
        return .renamed(stamp)
      }
      try disk.sync(file)
      try disk.rename(partialName, in: layout.partial, to: name.file, in: folder)
      if let digest = staged.entry.sha256 { here[ContentDigest.prefix(digest)] = staged.entry }
      return .renamed(staged.entry.stamp)
    } catch {
      note(error)
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
    in folder: Folder,
    _ here: [Int64: PictureEntry]
  ) throws(CacheError) -> FileStamp? {
    guard let digest = entry.sha256 else { return nil }
    let content = ContentDigest.prefix(digest)
    var other = here[content]
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
  fileprivate var folder: UInt8 { entry.name.folder }
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
