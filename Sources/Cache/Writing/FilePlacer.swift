import Base
import Dispatch
import Synchronization

/// Moves the pictures of a group from `partial/` to their final names.
///
/// Each file is synced and then renamed. At the end, the folders are synced.
struct FilePlacer {
  /// Finds a picture in the cache whose bytes have the given ``ContentDigest/number(of:)``.
  typealias HeldElsewhere = (Int64) throws(LarderError) -> PictureEntry?

  let layout: CacheLayout
  let disk: any Disk
  /// Called with an error of the disk or the index, because such an error concerns the whole run.
  let note: (LarderError) -> Void

  /// Renames the files of a group into place, and then adds the rows of the group to `placed`.
  ///
  /// - Parameters:
  ///   - group: The group from a writer queue.
  ///   - placed: Receives the pictures, the refused pictures and the other rows. Its pictures are also searched for
  ///     equal bytes.
  ///   - held: Finds another picture in the cache with the same bytes.
  func place(_ group: CommitGroup, in placed: inout CommitGroup, _ held: HeldElsewhere) {
    let hold = Result { () throws(LarderError) in try layout.demandHold() }
    if case .failure(let error) = hold { note(error) }
    let places = group.pictures.map { picture in
      hold.flatMap { place(picture, &placed, held) }
    }
    let moved = places.compactMap { try? $0.get() }.filter(\.isMoved)
    let folders = Set(moved.map(\.picture.name.folder))
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
      case .success((_, true)) where unsynced.contains(picture.name.folder):
        let words = "cannot sync its folder; fetch it again"
        placed.add(refused: .refused(.disk, detail: words), picture.completion)
      case .success((let picture, _)):
        placed.pictures.append(picture)
      }
    }
    placed.add(rowsOf: group)
  }

  /// Syncs one file and renames it into place.
  ///
  /// If the sync fails, the file is removed and never synced again, because the kernel may have discarded the data
  /// that it could not write.
  ///
  /// - Parameters:
  ///   - picture: The picture.
  ///   - placed: Receives the picture. Its pictures are also searched for equal bytes.
  ///   - held: Finds another picture in the cache with the same bytes.
  /// - Returns: The picture, whose row has the stamp of the file at the final name, and whether a file was renamed. None
  ///   was if the picture needs no new file, because its bytes are in the cache already.
  private func place(
    _ picture: WrittenPicture,
    _ placed: inout CommitGroup,
    _ held: HeldElsewhere
  ) -> Result<(picture: WrittenPicture, isMoved: Bool), LarderError> {
    guard let file = picture.partial else { return .success((picture, false)) }
    var picture = picture
    let name = picture.name
    let partialName = picture.entry.id.partialName
    do throws(LarderError) {
      let folder = try layout.folder(name.folder)
      if let stamp = try linkEqual(picture.entry, to: name, in: folder, placed, held) {
        try disk.remove(partialName, in: layout.partial)
        if picture.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
        picture.moveInto(stamp)
        return .success((picture, true))
      }
      try disk.sync(file)
      try disk.rename(partialName, in: layout.partial, to: name.file, in: folder)
      // If this fails, the next run removes the note, because the file that the note describes is no longer beside it.
      if picture.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
      picture.moveInto(picture.entry.stamp)
      placed.note(picture)
      return .success((picture, true))
    } catch {
      note(error)
      if picture.hasNote { try? disk.remove(partialName.noteName, in: layout.partial) }
      try? disk.remove(partialName, in: layout.partial)
      return .failure(error)
    }
  }

  /// If another picture has the same bytes, makes this picture's file a hard link to the other picture's file.
  ///
  /// - Returns: The stamp of the shared file; nil if the caller must rename this picture's own file into place. It is
  ///   nil if there is no such picture, if the file of that picture differs from its row, or if the file system has no
  ///   hard links.
  private func linkEqual(
    _ entry: PictureEntry,
    to name: PictureName,
    in folder: Folder,
    _ placed: CommitGroup,
    _ held: HeldElsewhere
  ) throws(LarderError) -> FileStamp? {
    guard let digest = entry.sha256 else { return nil }
    let content = ContentDigest.prefix(digest)
    var found = placed.entry(holding: content)
    if found == nil { found = try held(content) }
    guard let other = found, other.id != entry.id, other.sha256 == digest else { return nil }
    let source = try layout.folder(other.name.folder)
    let temporary = entry.id.partialName + "-link"
    guard let stamp = source.stamp(of: other.name.file), stamp == other.stamp,
      try disk.link(other.name.file, in: source, to: temporary, in: layout.partial)
    else { return nil }
    try disk.rename(temporary, in: layout.partial, to: name.file, in: folder)
    // If both names are links to the same file, `rename(2)` does nothing, and the temporary name is still there.
    try disk.remove(temporary, in: layout.partial)
    return stamp
  }
}

/// Uploads the pictures of a group to an object store, many at a time.
struct RemotePlacing {
  let layout: CacheLayout
  let disk: any Disk
  let remote: any RemotePictures
  /// Called with an error of the disk or the store, because such an error concerns the whole run.
  let note: @Sendable (LarderError) -> Void

  /// The maximum number of bytes that are uploaded at the same time.
  ///
  /// A picture with more bytes is uploaded alone.
  private static let mostBytes = ByteCount.mebibytes(32)

  /// Uploads the pictures of a group, and then adds the rows of the group to `placed`.
  ///
  /// Uploads are atomic, so nothing is synced. If an upload fails, only that picture is refused.
  ///
  /// - Parameters:
  ///   - group: The group from a writer queue.
  ///   - placed: Receives the pictures, the refused pictures and the other rows.
  func place(_ group: CommitGroup, in placed: inout CommitGroup) {
    let places = Mutex<[Int: Result<FileStamp, LarderError>]>([:])
    let gate = ByteGate(capacity: Self.mostBytes)
    let uploads = DispatchGroup()
    for (number, picture) in group.pictures.enumerated() {
      guard let file = picture.partial else { continue }
      let size = picture.entry.bytes
      gate.enter(size)
      uploads.enter()
      remote.put(picture.entry, file) { result in
        places.withLock { $0[number] = result }
        gate.leave(size)
        uploads.leave()
      }
    }
    uploads.wait()
    let results = places.withLock { $0 }
    for (number, picture) in group.pictures.enumerated() {
      if picture.partial != nil { remove(picture) }
      switch results[number] {
      case nil: placed.pictures.append(picture)
      case .success(let stamp):
        var picture = picture
        picture.moveInto(stamp)
        placed.pictures.append(picture)
        placed.note(picture)
      case .failure(let error):
        note(error)
        placed.add(refused: .refused(.disk, detail: error.description), picture.completion)
      }
    }
    placed.add(rowsOf: group)
  }

  /// Removes the file in `partial/` and its note.
  ///
  /// If that fails, the next run removes them.
  private func remove(_ picture: WrittenPicture) {
    let name = picture.entry.id.partialName
    if picture.hasNote { try? disk.remove(name.noteName, in: layout.partial) }
    try? disk.remove(name, in: layout.partial)
  }
}
