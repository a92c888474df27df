import Base
import Dispatch
import Glibc
import Synchronization
import Transport

/// The result of committing a picture, which is reported when the picture is durable.
package enum PictureOutcome: Sendable, Equatable {
  /// The bytes of a new or changed picture were stored.
  ///
  /// `wasHeld` is true if the cache had other bytes of the picture before.
  case stored(bytes: ByteCount, wasHeld: Bool)
  /// The origin sent the same bytes as are in the cache, so no file was written.
  case same(bytes: ByteCount)
  /// The bytes could not be stored.
  case refused(FailureReason, detail: String)
}

/// Commits the pictures that a run receives to the cache, in groups.
///
/// A few writer queues hash the pictures and write them to `partial/`. One queue syncs and renames the files of a
/// group, and then syncs their folders. Another queue writes the rows of several groups in one transaction. A crash
/// loses at most the groups that are being filled or placed. These are at most 64 pictures, and none of them is older
/// than 250 ms.
package final class PictureStore: Sendable {
  private let committer: GroupCommitter
  private let partials: PartialBodies?
  private let queues: [WriterQueue]
  /// The buffers for the pieces of large pictures.
  let buffers: BufferPool
  private let announced = Atomic<Int>(0)
  private let turn = Atomic<Int>(0)

  /// The maximum number of writer queues.
  ///
  /// More queues would only wait while the files of a group are renamed.
  private static let mostQueues = 4
  /// The number of waiting jobs in a writer queue at which the next queue is used too.
  private static let shortBacklog = 32

  /// Makes the store of a run.
  ///
  /// - Parameters:
  ///   - layout: The cache's folders.
  ///   - index: The cache's index.
  ///   - disk: The file system, which tests replace.
  ///   - run: The run for which changes of pictures are recorded.
  ///   - partials: The unfinished downloads of earlier runs; nil to resume none.
  ///   - patience: The time for which a group can wait until it is full, and for which the rows of a full group can
  ///     wait for more rows.
  ///   - queues: The number of writer queues. Pass nil to use one for each processor, but at most four.
  package init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk = SystemDisk(),
    run: RunID,
    partials: PartialBodies? = nil,
    patience: DispatchTimeInterval = .milliseconds(125),
    queues: Int? = nil
  ) {
    self.partials = partials
    let committer = GroupCommitter(
      layout,
      index: index,
      disk: disk,
      run: run,
      patience: patience
    )
    self.committer = committer
    let count = max(1, queues ?? min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), Self.mostQueues))
    let shared = WriterQueue.Shared(layout, disk, committer, patience, queues: count)
    buffers = shared.buffers
    self.queues = (0..<count).map { _ in WriterQueue(shared) }
  }

  /// Makes a sink that receives one picture.
  ///
  /// If an earlier run left an unfinished download of the picture, the sink resumes it.
  package func sink(id: PictureID, url: String) -> PictureSink {
    PictureSink(id: id, url: url, store: self, resuming: partials?.take(id))
  }

  /// Removes the unfinished downloads of earlier runs that no sink resumed.
  package func sweepPartials() {
    partials?.sweep()
  }

  /// Commits the picture that `sink` received, after a successful transfer.
  ///
  /// - Parameters:
  ///   - sink: The sink of the transfer.
  ///   - entry: Makes the row to write. It is called on a writer queue, because the transfer thread has no time to
  ///     parse header fields. The store sets the fields of the row that depend on the bytes.
  ///   - previous: The row of the picture before this transfer; nil if there was none.
  ///   - connectionIsOpen: Whether the connection is still open; see ``Response/connectionIsOpen``.
  ///   - completion: Called on a queue of the store when the picture is durable or refused.
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
    // Use the queue that writes the earlier pieces of the picture, so that this part follows them.
    (body.queue ?? freeQueue).submit(.whole(body))
  }

  /// Commits a row without new bytes, for example after a 304 or a failure.
  ///
  /// The row is part of the next group.
  package func commit(
    row entry: @escaping @Sendable () -> PictureEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    collect(completion) { $0.rows.append(entry()) }
  }

  /// Commits the detail of an item, and the row of its document, as part of the next group.
  ///
  /// `completion` is called on a queue of the store when the rows are durable.
  package func commit(
    _ detail: CommittedDetail,
    completion: @escaping @Sendable () -> Void
  ) {
    collect(completion) { $0.details.append(detail) }
  }

  private func collect(
    _ completion: @escaping @Sendable () -> Void,
    _ add: @escaping @Sendable (inout CommitGroup) -> Void
  ) {
    freeQueue.submit(
      .collect { group in
        add(&group)
        group.completions.append(completion)
      }
    )
  }

  /// Announces a number of requests whose results will be committed.
  ///
  /// This is thread-safe.
  package func announce(_ count: Int) {
    announced.add(count, ordering: .relaxed)
  }

  /// Reports that an announced request has ended, whether or not its result was passed to `commit`.
  ///
  /// After the last announced request, the waiting pictures are committed at once, because no more can arrive.
  package func conclude() {
    let left = announced.subtract(1, ordering: .relaxed).newValue
    if left == 0 { flush {} }
  }

  /// Commits all pictures that were passed to `commit` so far, and then calls `completion` on a queue of the store.
  private func flush(_ completion: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for queue in queues {
      group.enter()
      queue.submit(.flush { group.leave() })
    }
    group.notify(queue: .global()) { [committer] in committer.flush(completion) }
  }

  /// Commits all pictures that were passed to `commit` so far, and waits for the end.
  package func flush() {
    let flushed = DispatchSemaphore(value: 0)
    flush { flushed.signal() }
    flushed.wait()
  }

  /// The first error of the index or the disk, after which the run can end early; nil if there was no error.
  package var failure: LarderError? { committer.failure }

  /// The writer queue for the next large picture.
  ///
  /// The queues are used in turn.
  func nextQueue() -> WriterQueue {
    queues[turn.add(1, ordering: .relaxed).oldValue % queues.count]
  }

  /// The first writer queue that has few waiting jobs.
  ///
  /// The queues are not used in turn, because one busy queue takes less processor time than two queues that are woken
  /// for every picture.
  private var freeQueue: WriterQueue {
    queues.first { $0.backlog < Self.shortBacklog } ?? queues.min { $0.backlog < $1.backlog }
      ?? queues[0]
  }
}
