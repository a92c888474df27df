import Base
import Dispatch
import Glibc
import Synchronization
import Transport

/// How a picture's place in the cache changed, told once the change is durable.
package enum PictureOutcome: Sendable, Equatable {
  /// New or changed bytes are in place. `wasHeld` tells which: whether others were held before.
  case stored(bytes: ByteCount, wasHeld: Bool)
  /// The origin sent bytes equal to those held; nothing was rewritten.
  case same(bytes: ByteCount)
  /// The bytes could not be kept.
  case refused(FailureReason, detail: String)
}

/// The pictures of a cache while a run fills it: bytes become files, in groups.
///
/// Bodies are hashed and written to `partial/` on a few lanes side by side; one queue syncs a group
/// of files, renames them and syncs their folders, another commits the rows of some groups in one
/// transaction. A crash loses at most the group being written and the one being placed: 64
/// pictures, none of them older than 250 ms.
package final class PictureStore: Sendable {
  private let committer: GroupCommitter
  private let partials: PartialBodies
  private let lanes: [WriterQueue]
  /// Memory for the pieces of large bodies.
  let pieces: PieceRoom
  private let announced = Atomic<Int>(0)
  private let turn = Atomic<Int>(0)

  /// More than this many lanes would only wait for the group that is being placed.
  private static let mostLanes = 4
  /// How many bodies may wait in a lane before the next one helps.
  private static let shortBacklog = 32

  /// Makes the store of an open cache.
  ///
  /// - Parameters:
  ///   - layout: its folders.
  ///   - index: its index.
  ///   - disk: where the bytes go.
  ///   - run: the run that changes are entered under.
  ///   - states: the held pictures before the run, to find equal bytes; nil to look for none.
  ///   - partials: the partial bodies of earlier runs.
  ///   - patience: how long a group may wait to be filled, and the rows of full ones for more, while more is
  ///     announced.
  ///   - lanes: how many bodies are hashed and written at once; nil for one a processor, four at most.
  package init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk = SystemDisk(),
    run: RunID,
    states: PictureStates?,
    partials: PartialBodies? = nil,
    patience: DispatchTimeInterval = .milliseconds(125),
    lanes: Int? = nil
  ) {
    self.partials = partials ?? PartialBodies(layout)
    let committer = GroupCommitter(
      layout,
      index: index,
      disk: disk,
      run: run,
      states: states,
      patience: patience
    )
    self.committer = committer
    let count = max(1, lanes ?? min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), Self.mostLanes))
    let shared = WriterQueue.Shared(layout, disk, committer, patience, lanes: count)
    pieces = shared.pieces
    self.lanes = (0..<count).map { _ in WriterQueue(shared) }
  }

  /// A sink for the body of one picture, which resumes the part of an earlier run.
  package func sink(id: PictureID, url: String) -> PictureSink {
    PictureSink(id: id, url: url, store: self, resuming: partials.take(id))
  }

  /// Removes partial bodies of earlier runs that no sink resumed.
  package func sweepPartials() {
    partials.sweep()
  }

  /// Keeps the body that `sink` received, once its transfer has succeeded.
  ///
  /// - Parameters:
  ///   - sink: the sink of the transfer.
  ///   - entry: makes the row to write, on a lane, because the transfer thread has no time to read
  ///     headers; the store adds the fields that depend on the bytes.
  ///   - previous: the held version before, if any.
  ///   - connectionIsOpen: see ``Response/connectionIsOpen``.
  ///   - completion: called on a queue of the store when the picture is durable, or refused.
  package func commit(
    _ sink: PictureSink,
    as entry: @escaping @Sendable () -> PictureEntry,
    replacing previous: PictureEntry?,
    connectionIsOpen: Bool = true,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    let body = sink.finish(
      as: entry,
      replacing: previous,
      connectionIsOpen: connectionIsOpen,
      completion: completion
    )
    // After the pieces that were handed on, now or in an earlier attempt.
    (body.lane ?? freeLane).submit(.whole(body))
  }

  /// Writes a row without new bytes: a 304, or a failure.
  ///
  /// Committed with the next group.
  package func commit(
    row entry: @escaping @Sendable () -> PictureEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    freeLane.submit(.collect { $0.add(row: entry(), completion: completion) })
  }

  /// A row whose file is in place, and the SHA-256 of the bytes that were held before, when those are others.
  package typealias PlacedRow = (entry: PictureEntry, before: [UInt8]?)

  /// Writes the rows of pictures whose files other runs have placed, in one transaction of its own; blocks.
  ///
  /// No file is touched, so there is nothing to gather in groups. Rows in the order of their identities touch each page
  /// of the index once.
  ///
  /// - Parameter next: Makes the next rows, some at a time; nil when there are no more. It must not use the index.
  /// - Throws: ``LarderError`` when the index cannot be written, or of `next`; no row is then.
  package func enter(_ next: () throws(LarderError) -> [PlacedRow]?) throws(LarderError) {
    try committer.enter(next)
  }

  /// Writes an item's detail and its document with the next group.
  package func commit(
    _ detail: DetailEntry,
    catalog: CatalogID,
    document: DocumentEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    freeLane.submit(
      .collect { group in
        group.add(detail, catalog: catalog, document: document, completion: completion)
      }
    )
  }

  /// Announces requests whose outcomes will be kept; from any thread.
  package func announce(_ count: Int) {
    announced.add(count, ordering: .relaxed)
  }

  /// Reports that the outcome of one announced request was handed over, or that there is none.
  ///
  /// After the last, the gathered pictures are committed at once: no group waits for more when
  /// nothing more can arrive.
  package func conclude() {
    let left = announced.subtract(1, ordering: .relaxed).newValue
    if left == 0 { flush {} }
  }

  /// Commits the pictures so far, then calls `completion`, on a queue of the store.
  package func flush(_ completion: @escaping @Sendable () -> Void) {
    let group = WorkGroup()
    for lane in lanes {
      group.enter()
      lane.submit(.flush { group.leave() })
    }
    group.notify(queue: .global()) { [committer] in committer.flush(completion) }
  }

  /// The first thing that went wrong with the index or the disk as a whole, if anything: the run
  /// can then end early with its status.
  package var failure: LarderError? { committer.failure }

  /// A lane for a body that is about to be handed on in pieces: they take turns.
  func nextLane() -> WriterQueue {
    lanes[turn.add(1, ordering: .relaxed).oldValue % lanes.count]
  }

  /// The first lane that has little to do.
  ///
  /// One lane that stays awake costs less than two that are woken for every picture.
  private var freeLane: WriterQueue {
    lanes.first { $0.backlog < Self.shortBacklog } ?? lanes.min { $0.backlog < $1.backlog }
      ?? lanes[0]
  }
}
