import Base
import Cache
import Dispatch
import Glibc
import Imaging
import Synchronization
import SystemPackage

/// The stage of a run that makes a square version of every picture.
///
/// It has one worker for each processor, and works while other pictures are still being fetched.
///
/// If a picture is damaged, or too large to decode, it gets no square. It is reported once, and not tried again until
/// its bytes change. The run does not fail because of it. The square of a GIF is a PNG.
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
  private let state: Mutex<Work>
  private let group = DispatchGroup()
  private let queue = DispatchQueue(label: "larder.squares", attributes: .concurrent)
  private let most = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// Prepares squares of `side` pixels.
  ///
  /// Once the run is over, no further square is begun, and the squares in progress are aborted if possible.
  init(_ context: RunContext, side: Int, disk: any Disk) throws(LarderError) {
    self.context = context
    order = PictureOrder(Crop(size: side))
    store = SquareStore(context.layout, index: context.index, disk: disk, side: side)
    var known: [PictureID: SquareEntry] = [:]
    for entry in try context.index.squares(side: side) { known[entry.picture] = entry }
    self.known = known
    state = Mutex(Work(tally: SyncReport.Squares(side: side)))
  }

  /// Adds pictures whose files are in the cache.
  ///
  /// A picture can be added several times, but is handled once.
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

  /// Adds all pictures of the catalog, including those that needed no request, and waits for their squares.
  ///
  /// - Parameter pictures: The catalog's pictures.
  /// - Returns: The counts of squares.
  /// - Throws: ``LarderError`` when the index cannot be written.
  func finish(_ pictures: [PictureID]) throws(LarderError) -> SyncReport.Squares {
    add(pictures)
    group.wait()
    try store.flush()
    return state.withLock { state in
      state.tally.failures.sort { $0.path < $1.path }
      return state.tally
    }
  }

  private func work() {
    while let id = next() {
      guard !context.isOver() else {
        state.withLock { $0.tally.unfinished += 1 }
        continue
      }
      context.failures.noting { () throws(LarderError) in
        guard let picture = try context.index.pictures([id])[id], picture.isHeld else { return }
        try look(at: picture)
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
        isStopped: context.isOver
      )
      // A disk error ends the run, as for the pictures themselves.
      context.failures.noting { () throws(LarderError) in
        try store.store(square.bytes, of: picture)
        state.withLock { $0.tally.made += 1 }
      }
    } catch {
      if error.code == .stopped { return state.withLock { $0.tally.unfinished += 1 } }
      // If a library or a worker process is missing, that is not a fault of the picture, and the next run tries again.
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
}

extension PictureWorking {
  /// Makes the square of a picture in the cache.
  ///
  /// - Parameters:
  ///   - order: The crop to apply.
  ///   - picture: The picture's row. The bytes of the file must have the SHA-256 in the row.
  ///   - cache: The path of the cache.
  ///   - isStopped: Called repeatedly while the square is made. If it returns true, the work is aborted where that is
  ///     possible.
  /// - Returns: The square.
  /// - Throws: ``LarderError`` when no square can be made, for example of a damaged picture.
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

  /// Makes the square of a picture whose bytes are in memory.
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
        "cannot crop \(path): it differs from the fetched picture; repair the cache and sync again"
      )
    }
    let input = PictureInput.bytes(bytes, name: path)
    let square = try make(order, of: input, for: nil, isStopped: isStopped)
    guard !square.isDamaged else {
      throw LarderError(
        .damagedPicture,
        "cannot crop \(path): part of it is missing or damaged; ask the shop to fix it"
      )
    }
    return square
  }
}
