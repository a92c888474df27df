import Dispatch
import Synchronization
import Transport

/// Puts the pictures of a group into a store, many at a time.
struct KeptPlacing {
  let layout: CacheLayout
  let disk: any Disk
  let keeper: any PictureKeeping
  /// Takes failures of the cache as a whole.
  let note: @Sendable (CacheError) -> Void

  /// How many bytes are read for requests under way; one picture always goes out, whatever its size.
  private static let room = ByteCount.mebibytes(32)

  /// Puts the pictures of a group, and adds what waits for its rows then.
  ///
  /// A put is whole or did not happen, so nothing is synced. A picture that could not be put is refused, and the rest
  /// goes on.
  ///
  /// - Parameters:
  ///   - group: What the lanes filled.
  ///   - placed: Where the pictures, refusals and rows go.
  func place(_ group: CommitGroup, in placed: inout PlacedBatch) {
    let places = Mutex<[Int: Result<FileStamp, CacheError>]>([:])
    let gate = ByteGate(room: Self.room)
    let under = DispatchGroup()
    for (number, picture) in group.pictures.enumerated() {
      guard let file = picture.partial else { continue }
      let size = picture.entry.bytes
      gate.enter(size)
      under.enter()
      keeper.put(picture.entry, KeptBytes(file, count: size)) { result in
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

  /// Removes the file that the bytes waited in; what cannot be removed is swept by the next run.
  private func remove(_ picture: StagedPicture) {
    let name = picture.entry.partialName
    if picture.hasNote { try? disk.remove(name.noteName, in: layout.partial) }
    try? disk.remove(name, in: layout.partial)
  }
}
