import Base
import Dispatch
import Glibc
import Synchronization
import Transport

/// The result of committing a picture, reported once it is durable.
package enum PictureOutcome: Sendable, Equatable {
  /// New or changed bytes are stored; `wasHeld` is true if the cache had different bytes before.
  case stored(bytes: ByteCount, wasHeld: Bool)
  /// The origin sent the bytes that were held already; no file was written.
  case same(bytes: ByteCount)
  /// The bytes could not be stored.
  case refused(FailureReason, detail: String)
}

/// Commits the pictures of a run to the cache, in groups.
///
/// A few writer queues hash bodies and write them to `partial/`. One queue syncs and renames the files of a group and
/// syncs their folders. Another queue commits the rows of several groups in one transaction. A crash loses at most the
/// groups that are being filled and placed: 64 pictures, none of them older than 250 ms.
package final class PictureStore: Sendable {
  private let committer: GroupCommitter
  private let partials: PartialBodies
  private let queues: [WriterQueue]
  /// The buffer pool for the pieces of large bodies.
  let buffers: BufferPool
  private let announced = Atomic<Int>(0)
  private let turn = Atomic<Int>(0)

  /// The maximum number of writer queues; more queues would only wait while the files of a group are renamed.
  private static let mostQueues = 4
  /// The number of waiting bodies in a writer queue at which the next queue is used too.
  private static let shortBacklog = 32

  /// Makes the store for a run on an open cache.
  ///
  /// - Parameters:
  ///   - layout: The cache's folders.
  ///   - index: The cache's index.
  ///   - disk: The file system; tests replace it.
  ///   - run: The run that changes are recorded under.
  ///   - states: The held pictures before the run, to find equal bytes; nil to skip deduplication with them.
  ///   - partials: The unfinished bodies of earlier runs.
  ///   - patience: How long a group may wait to be filled, and how long the rows of a full group may wait for more
  ///     rows.
  ///   - queues: The number of writer queues; nil for as many as there are processors, but at most four.
  package init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk = SystemDisk(),
    run: RunID,
    states: PictureStates?,
    partials: PartialBodies? = nil,
    patience: DispatchTimeInterval = .milliseconds(125),
    queues: Int? = nil
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
    let count = max(1, queues ?? min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), Self.mostQueues))
    let shared = WriterQueue.Shared(layout, disk, committer, patience, queues: count)
    buffers = shared.buffers
    self.queues = (0..<count).map { _ in WriterQueue(shared) }
  }

  /// Makes a sink for the body of one picture.
  ///
  /// If an earlier run left an unfinished body of the picture, the sink resumes it.
  package func sink(id: PictureID, url: String) -> PictureSink {
    PictureSink(id: id, url: url, store: self, resuming: partials.take(id))
  }

  /// Removes unfinished bodies of earlier runs that no sink resumed.
  package func sweepPartials() {
    partials.sweep()
  }

  /// Commits the body that `sink` received, after its transfer has succeeded.
  ///
  /// - Parameters:
  ///   - sink: The sink of the transfer.
  ///   - entry: Makes the row to write. Called on a writer queue, because the transfer thread has no time to parse
  ///     headers. The store adds the fields that depend on the bytes.
  ///   - previous: The version held before, if any.
  ///   - connectionIsOpen: See ``Response/connectionIsOpen``.
  ///   - completion: Called on a queue of the store when the picture is durable, or refused.
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
    // On the queue that writes the body's earlier pieces, so that this part follows them.
    (body.queue ?? freeQueue).submit(.whole(body))
  }

  /// Commits a row without new bytes, for a 304 or a failure.
  ///
  /// The row is part of the next group.
  package func commit(
    row entry: @escaping @Sendable () -> PictureEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    freeQueue.submit(.collect { $0.add(row: entry(), completion: completion) })
  }

  /// A row whose file has its final name, and the SHA-256 of the previous bytes if they differ.
  package typealias PlacedRow = (entry: PictureEntry, before: [UInt8]?)

  /// Writes the rows of pictures whose files other runs have placed, in one transaction; blocks.
  ///
  /// No file is changed, so no groups are needed. Give the rows in the order of their ids, so that each page of the
  /// index is written once.
  ///
  /// - Parameter next: Returns the next rows, some at a time; nil at the end. It must not use the index.
  /// - Throws: ``LarderError`` when the index cannot be written, or from `next`; in both cases no row is written.
  package func enter(_ next: () throws(LarderError) -> [PlacedRow]?) throws(LarderError) {
    try committer.enter(next)
  }

  /// Commits an item's detail and its document with the next group.
  package func commit(
    _ detail: DetailEntry,
    catalog: CatalogID,
    document: DocumentEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    freeQueue.submit(
      .collect { group in
        group.add(detail, catalog: catalog, document: document, completion: completion)
      }
    )
  }

  /// Announces requests whose results will be committed; thread-safe.
  package func announce(_ count: Int) {
    announced.add(count, ordering: .relaxed)
  }

  /// Reports that an announced request has ended: its result was passed to `commit`, or it has none.
  ///
  /// After the last announced request, the collected pictures are committed at once, because no more can arrive.
  package func conclude() {
    let left = announced.subtract(1, ordering: .relaxed).newValue
    if left == 0 { flush {} }
  }

  /// Commits all pictures received so far, and then calls `completion` on a queue of the store.
  package func flush(_ completion: @escaping @Sendable () -> Void) {
    let group = WorkGroup()
    for queue in queues {
      group.enter()
      queue.submit(.flush { group.leave() })
    }
    group.notify(queue: .global()) { [committer] in committer.flush(completion) }
  }

  /// The first error of the index or the disk, if any, so that the run can end early with it.
  package var failure: LarderError? { committer.failure }

  /// The writer queue for the next large body, in rotation.
  func nextQueue() -> WriterQueue {
    queues[turn.add(1, ordering: .relaxed).oldValue % queues.count]
  }

  /// The first writer queue with a short backlog.
  ///
  /// One busy queue costs less than two that are woken for every picture.
  private var freeQueue: WriterQueue {
    queues.first { $0.backlog < Self.shortBacklog } ?? queues.min { $0.backlog < $1.backlog }
      ?? queues[0]
  }
}
