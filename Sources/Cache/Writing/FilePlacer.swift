import Base
import Dispatch
import Synchronization

/// Gives files their names: each is synced, then renamed, then the folders are synced.
struct FilePlacer {
  /// Finds the picture that holds the bytes of a digest, by the first 63 bits of it.
  typealias HeldElsewhere = (Int64) throws(LarderError) -> PictureEntry?

  let layout: CacheLayout
  let disk: any Disk
  /// Takes failures of the cache as a whole.
  let note: (LarderError) -> Void

  /// Renames the files of a group into place, and then adds the rows that wait for them.
  ///
  /// - Parameters:
  ///   - group: the group that the lanes filled.
  ///   - placed: where the pictures, refusals and rows go; also looked at for equal bytes.
  ///   - held: who holds the bytes of a digest besides, if anybody does.
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

  /// Syncs one file and gives it its name.
  ///
  /// After a failed sync the file is dropped, never synced again: the kernel may have discarded
  /// the unwritten pages.
  ///
  /// - Parameters:
  ///   - picture: the picture; its row has the stamp of the placed file afterwards.
  ///   - placed: the group of placed files, which receives this one.
  ///   - held: who holds the bytes of a digest besides.
  /// - Returns: Whether a file was renamed; it is not when the bytes in place are kept.
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
      // The next run sweeps a leftover note, because it has no body any more.
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

  /// Stores equal bytes once: when another picture holds them, its file gets a second name.
  ///
  /// - Returns: the shared file's stamp, or nil when there is no such picture, its file is not as
  ///   its row says, or the file system has no links; the caller then keeps its own bytes.
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
    // Renaming one link of a file over another does nothing and leaves both names.
    try disk.remove(temporary, in: layout.partial)
    return stamp
  }
}

extension Result<Bool, LarderError> {
  /// Whether a file was renamed.
  fileprivate var isMove: Bool { if case .success(true) = self { true } else { false } }
}

/// Puts the pictures of a group into a store, many at a time.
struct RemotePlacing {
  let layout: CacheLayout
  let disk: any Disk
  let remote: any RemotePictures
  /// Takes failures of the cache as a whole.
  let note: @Sendable (LarderError) -> Void

  /// The bytes read for requests under way; one picture always goes out, at any size.
  private static let room = ByteCount.mebibytes(32)

  /// Puts the pictures of a group, and then adds the rows that wait for them.
  ///
  /// A put is whole or did not happen, so nothing is synced. A picture that could not be put is refused, and the rest
  /// continues.
  ///
  /// - Parameters:
  ///   - group: The group that the lanes filled.
  ///   - placed: Where the pictures, refusals and rows go.
  func place(_ group: CommitGroup, in placed: inout PendingRows) {
    let places = Mutex<[Int: Result<FileStamp, LarderError>]>([:])
    let gate = ByteGate(room: Self.room)
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

  /// Removes the file in which the bytes waited; if that fails, the next run sweeps it.
  private func remove(_ picture: WrittenPicture) {
    let name = picture.entry.partialName
    if picture.hasNote { try? disk.remove(name.noteName, in: layout.partial) }
    try? disk.remove(name, in: layout.partial)
  }
}
