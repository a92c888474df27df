import Base
import Dispatch
import Synchronization

/// Moves the written pictures of a group to their final names.
///
/// Each file is synced and renamed, then the folders are synced.
struct FilePlacer {
  /// Finds a held picture (whose bytes the cache has) by the first 63 bits of its SHA-256.
  typealias HeldElsewhere = (Int64) throws(LarderError) -> PictureEntry?

  let layout: CacheLayout
  let disk: any Disk
  /// Called with errors of the disk or the index, which concern the whole run.
  let note: (LarderError) -> Void

  /// Renames the files of a group into place, then adds their rows to `placed`.
  ///
  /// - Parameters:
  ///   - group: The group from a writer queue.
  ///   - placed: Receives the pictures, refusals and rows; also searched for equal bytes.
  ///   - held: Finds another held picture with the same bytes.
  func place(_ group: CommitGroup, in placed: inout PendingRows, _ held: HeldElsewhere) {
    let loss: LarderError?
    do throws(LarderError) {
      try layout.demandHold()
      loss = nil
    } catch {
      note(error)
      loss = error
    }
    let places: [Result<Bool, LarderError>] = group.pictures.map { picture in
      loss.map { .failure($0) } ?? place(picture, &placed, held)
    }
    let folders = Set(zip(group.pictures, places).compactMap { $1.isMove ? $0.name.folder : nil })
    let unsynced = folders.filter { folder in
      do throws(LarderError) {
        try disk.sync(layout.folder(folder))
        try layout.syncFolderNames(on: disk)
        return false
      } catch {
        note(error)
        return true
      }
    }
    for (picture, place) in zip(group.pictures, places) {
      switch place {
      case .failure(let error):
        placed.add(refused: .refused(.disk, detail: error.description), picture.completion)
      case .success(true) where unsynced.contains(picture.name.folder):
        let words = "cannot sync its folder; fetch it again"
        placed.add(refused: .refused(.disk, detail: words), picture.completion)
      case .success:
        placed.add(picture)
      }
    }
    placed.add(rowsOf: group)
  }

  /// Syncs one file and renames it into place.
  ///
  /// After a failed sync the file is removed and never synced again, because the kernel may have discarded the
  /// unwritten pages.
  ///
  /// - Parameters:
  ///   - picture: The picture; its row gets the stamp of the placed file.
  ///   - placed: Receives the picture; also searched for equal bytes.
  ///   - held: Finds another held picture with the same bytes.
  /// - Returns: Whether a file was renamed; false when the existing file is kept.
  private func place(
    _ picture: WrittenPicture,
    _ placed: inout PendingRows,
    _ held: HeldElsewhere
  ) -> Result<Bool, LarderError> {
    guard let file = picture.partial else { return .success(false) }
    let name = picture.name
    let partialName = picture.entry.partialName
    do throws(LarderError) {
      let folder = try layout.folder(name.folder)
      if let stamp = try linkEqual(picture.entry, to: name, in: folder, placed, held) {
        try disk.remove(partialName, in: layout.partial)
        if picture.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
        picture.moveInto(stamp)
        return .success(true)
      }
      try disk.sync(file)
      try disk.rename(partialName, in: layout.partial, to: name.file, in: folder)
      // If this fails, the next run removes the note, which has no body any more.
      if picture.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
      picture.moveInto(picture.entry.stamp)
      placed.note(picture)
      return .success(true)
    } catch {
      note(error)
      if picture.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
      try? disk.remove(partialName, in: layout.partial)
      return .failure(error)
    }
  }

  /// Deduplicates: when another picture has the same bytes, its file gets a hard link with this picture's name.
  ///
  /// - Returns: The shared file's stamp. Nil when there is no such picture, when its file differs from its row, or when
  ///   the file system has no hard links. If the result is nil, the caller renames this picture's own file into place.
  private func linkEqual(
    _ entry: PictureEntry,
    to name: PictureName,
    in folder: Folder,
    _ placed: PendingRows,
    _ held: HeldElsewhere
  ) throws(LarderError) -> FileStamp? {
    guard let digest = entry.sha256 else { return nil }
    let content = ContentDigest.prefix(digest)
    var found = placed.entry(holding: content)
    if found == nil { found = try held(content) }
    guard let other = found, other.id != entry.id, other.sha256 == digest else { return nil }
    let source = try layout.folder(other.name.folder)
    let temporary = entry.partialName + "-link"
    guard let stamp = source.stamp(of: other.name.file), stamp == other.stamp,
      try disk.link(other.name.file, in: source, to: temporary, in: layout.partial)
    else { return nil }
    try disk.rename(temporary, in: layout.partial, to: name.file, in: folder)
    // If both names are links to one file, `rename(2)` does nothing and leaves both.
    try disk.remove(temporary, in: layout.partial)
    return stamp
  }
}

extension Result<Bool, LarderError> {
  /// Whether a file was renamed.
  fileprivate var isMove: Bool { if case .success(true) = self { true } else { false } }
}

/// Uploads the written pictures of a group to an object store, many at a time.
struct RemotePlacing {
  let layout: CacheLayout
  let disk: any Disk
  let remote: any RemotePictures
  /// Called with errors of the disk or the index, which concern the whole run.
  let note: @Sendable (LarderError) -> Void

  /// The maximum number of bytes in memory for simultaneous uploads; a larger picture is uploaded alone.
  private static let mostBytes = ByteCount.mebibytes(32)

  /// Uploads the pictures of a group, then adds their rows to `placed`.
  ///
  /// Uploads are atomic, so nothing is synced. If an upload fails, that picture is refused, and the other uploads
  /// continue.
  ///
  /// - Parameters:
  ///   - group: The group from a writer queue.
  ///   - placed: Receives the pictures, refusals and rows.
  func place(_ group: CommitGroup, in placed: inout PendingRows) {
    let places = Mutex<[Int: Result<FileStamp, LarderError>]>([:])
    let gate = ByteGate(capacity: Self.mostBytes)
    let under = DispatchGroup()
    for (number, picture) in group.pictures.enumerated() {
      guard let file = picture.partial else { continue }
      let size = picture.entry.bytes
      gate.enter(size)
      under.enter()
      remote.put(picture.entry, RemoteBytes(file, count: size)) { result in
        places.withLock { $0[number] = result }
        gate.leave(size)
        under.leave()
      }
    }
    under.wait()
    let results = places.withLock { $0 }
    for (number, picture) in group.pictures.enumerated() {
      if picture.partial != nil { remove(picture) }
      switch results[number] {
      case nil: placed.add(picture)
      case .success(let stamp):
        picture.moveInto(stamp)
        placed.add(picture)
        placed.note(picture)
      case .failure(let error):
        note(error)
        placed.add(refused: .refused(.disk, detail: error.description), picture.completion)
      }
    }
    placed.add(rowsOf: group)
  }

  /// Removes the partial file and its note; if that fails, the next run removes them.
  private func remove(_ picture: WrittenPicture) {
    let name = picture.entry.partialName
    if picture.hasNote { try? disk.remove(name.noteName, in: layout.partial) }
    try? disk.remove(name, in: layout.partial)
  }
}
