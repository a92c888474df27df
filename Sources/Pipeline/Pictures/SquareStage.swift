import Base
import Cache
import Dispatch
import Glibc
import Imaging
import Synchronization
import SystemPackage

/// Makes a square of every picture, on as many workers as there are processors, while others
/// arrive.
///
/// A picture of which no square can be made (a damaged one, or one beyond the limits) is reported
/// once and not tried again while it stays the same; nothing else fails for it. No square is made
/// of a damaged picture, as nobody could tell it from a whole one. The square of a GIF is a PNG.
final class SquareStage: Sendable {
  private struct Work {
    var waiting: [PictureID] = []
    var seen: Set<PictureID> = []
    var workers = 0
    var tally: SyncReport.Squares
  }

  private let context: RunContext
  private let order: PictureOrder
  private let store: SquareStore
  private let known: [PictureID: SquareEntry]
  private let isOver: @Sendable () -> Bool
  private let state: Mutex<Work>
  private let group = WorkGroup()
  private let queue = DispatchQueue(label: "larder.squares", attributes: .concurrent)
  private let most = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// Prepares squares of `side` pixels; `isOver` says that no further one is to be begun, and that those under way are to
  /// be given up where they can be.
  init(
    _ context: RunContext,
    side: Int,
    disk: any Disk,
    isOver: @escaping @Sendable () -> Bool
  ) throws(LarderError) {
    self.context = context
    self.isOver = isOver
    order = PictureOrder(Crop(size: side))
    store = SquareStore(context.layout, index: context.index, disk: disk, side: side)
    var known: [PictureID: SquareEntry] = [:]
    for entry in try context.index.squares(side: side) { known[entry.picture] = entry }
    self.known = known
    state = Mutex(Work(tally: SyncReport.Squares(side: side)))
  }

  /// Adds pictures whose files are in place; each is looked at once.
  func add(_ ids: some Sequence<PictureID>) {
    let started = state.withLock { state in
      for id in ids where state.seen.insert(id).inserted { state.waiting.append(id) }
      let started = min(most - state.workers, state.waiting.count)
      state.workers += started
      return started
    }
    for _ in 0..<started {
      group.enter()
      queue.async { [self] in
        work()
        group.leave()
      }
    }
  }

  /// Sees to all of the catalog's pictures, those that no request was needed for too, and waits.
  ///
  /// - Parameter pictures: the catalog's pictures.
  /// - Returns: The counts.
  /// - Throws: ``LarderError`` when the index cannot be written.
  func finish(_ pictures: [PictureID]) throws(LarderError) -> SyncReport.Squares {
    add(pictures)
    group.join()
    try store.flush()
    return state.withLock { state in
      state.tally.failures.sort { $0.path < $1.path }
      return state.tally
    }
  }

  private func work() {
    while let id = next() {
      guard !isOver() else {
        state.withLock { $0.tally.unfinished += 1 }
        continue
      }
      do throws(LarderError) {
        guard let picture = try context.index.pictures([id])[id], picture.isHeld else { continue }
        try look(at: picture)
      } catch {
        context.failures.note(error)
      }
    }
  }

  private func next() -> PictureID? {
    state.withLock { state in
      if let id = state.waiting.popLast() { return id }
      state.workers -= 1
      return nil
    }
  }

  private func look(at picture: PictureEntry) throws(LarderError) {
    if let known = known[picture.id], try store.isCurrent(known, of: picture) {
      return state.withLock {
        if known.failure == nil { $0.tally.fresh += 1 } else { $0.tally.unfit += 1 }
      }
    }
    do throws(LarderError) {
      let square = try context.options.pictures.square(
        order,
        of: picture,
        in: context.layout.root.path,
        isStopped: isOver
      )
      try store(square.bytes, of: picture)
    } catch {
      if error.code == .stopped { return state.withLock { $0.tally.unfinished += 1 } }
      // Where a library was built without this work, or there is no process to work on it, a picture is not unfit: the next run tries again.
      if error.code != .library, error.code != .worker {
        try store.note(error.description, of: picture)
      }
      state.withLock {
        $0.tally.unfit += 1
        $0.tally.failures.append(
          SyncReport.SquareFailure(path: picture.name.path, reason: error.description)
        )
      }
    }
  }

  private func store(_ bytes: [UInt8], of picture: PictureEntry) throws(LarderError) {
    do throws(LarderError) {
      try store.store(bytes, of: picture)
      state.withLock { $0.tally.made += 1 }
    } catch {
      // An error of the disk ends the run, as it does for the pictures themselves.
      context.failures.note(error)
    }
  }
}

extension PictureWorking {
  /// Makes the square of a picture that is held.
  ///
  /// - Parameters:
  ///   - order: The crop that makes it.
  ///   - picture: The picture's row, whose bytes the file must have.
  ///   - cache: The path of the cache that holds it.
  ///   - isStopped: Asked while the square is made, where that can be given up.
  /// - Returns: The square.
  /// - Throws: ``LarderError`` when none can be made, as of a picture that is damaged: nobody could tell its square from
  ///   a whole one's.
  package func square(
    _ order: PictureOrder,
    of picture: PictureEntry,
    in cache: String,
    isStopped: () -> Bool = { false }
  ) throws(LarderError) -> EncodedPicture {
    let path = FilePath("\(cache)/\(picture.name.path)")
    let bytes = try PictureInput.bytes(of: path, order.limits)
    return try square(order, of: picture, bytes, isStopped: isStopped)
  }

  /// The same of bytes in memory.
  package func square(
    _ order: PictureOrder,
    of picture: PictureEntry,
    _ bytes: [UInt8],
    isStopped: () -> Bool = { false }
  ) throws(LarderError) -> EncodedPicture {
    let path = picture.name.path
    guard ContentDigest.sha256(bytes) == picture.sha256 else {
      throw LarderError(
        .damagedPicture,
        "cannot crop \(path): it is not what was fetched; repair the cache and sync again"
      )
    }
    let input = PictureInput.bytes(bytes, name: path)
    let square = try make(order, of: input, for: nil, isStopped: isStopped)
    guard !square.isDamaged else {
      throw LarderError(
        .damagedPicture,
        "cannot crop \(path): a part of it is missing or broken; have its shop mend it"
      )
    }
    return square
  }
}
