import Base
import Dispatch
import Synchronization
import Transport

/// A queue that hashes pictures, writes them to `partial/` and collects them into groups.
///
/// It does its jobs in the order in which they were submitted. All writer queues of a ``PictureStore`` send their
/// groups to the same committer. They also share one ``ByteGate``, which makes the transfer thread wait if too many
/// bytes wait to be written.
final class WriterQueue: @unchecked Sendable {
  // SAFETY: `group`, `dueAt` and `isAlarmSet` are used only on `queue`, which is serial. `inbox` has a lock.
  // Everything else is constant.
  private var group = CommitGroup()
  /// The time at which the present group is committed even if it is not full.
  private var dueAt = DispatchTime.distantFuture
  private var isAlarmSet = false

  /// The objects that all writer queues of a store share.
  final class Shared: Sendable {
    let layout: CacheLayout
    let disk: any Disk
    let committer: GroupCommitter
    let gate = ByteGate(capacity: .mebibytes(2))
    let buffers = BufferPool(size: PictureSink.pieceSize)
    /// The number of pictures at which a group is full.
    let groupSize: Int
    /// The time for which a group can wait until it is full.
    let patience: DispatchTimeInterval

    init(
      _ layout: CacheLayout,
      _ disk: any Disk,
      _ committer: GroupCommitter,
      _ patience: DispatchTimeInterval,
      queues: Int
    ) {
      self.patience = patience
      // An object store takes a while to answer each upload, so let a group have many pictures.
      groupSize = layout.remote == nil ? CommitGroup.most / (queues + 1) : CommitGroup.most
      self.layout = layout
      self.disk = disk
      self.committer = committer
    }
  }

  enum Job: Sendable {
    /// Appends a piece to the file of a large picture.
    case piece([UInt8], PartialPicture)
    /// Removes the file of a picture.
    case discard(PartialPicture)
    /// Keeps the file of an unfinished download for the next run.
    case leave(PartialPicture)
    /// Checks a complete picture, writes its file and adds it to the present group.
    indirect case whole(ReceivedPicture)
    /// Adds something else to the present group, such as a row without new bytes.
    case collect(@Sendable (inout CommitGroup) -> Void)
    /// Sends the present group to the committer, and then calls the closure.
    case flush(@Sendable () -> Void)
  }

  private let shared: Shared
  private let queue = DispatchQueue(label: "larder.ingest")
  private let inbox = Mutex<[Job]>([])
  private let waiting = Atomic<Int>(0)

  private var layout: CacheLayout { shared.layout }
  private var disk: any Disk { shared.disk }
  private var committer: GroupCommitter { shared.committer }

  init(_ shared: Shared) {
    self.shared = shared
  }

  /// The number of submitted jobs that are not done yet.
  var backlog: Int { waiting.load(ordering: .relaxed) }

  /// Submits a job from any thread.
  ///
  /// If too many bytes wait in all queues together, this call blocks.
  func submit(_ job: Job) {
    switch job {
    case .piece(let bytes, _): shared.gate.enter(ByteCount(bytes.count))
    case .whole(let body): shared.gate.enter(ByteCount(body.rest.count))
    case .collect, .discard, .leave, .flush: break
    }
    waiting.add(1, ordering: .relaxed)
    let isFirst = inbox.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    // One block handles all jobs that have arrived, because a block for each picture would take more time than hashing
    // the picture.
    if isFirst { queue.async { self.drain() } }
  }

  // MARK: - On the serial queue

  private func drain() {
    var jobs = inbox.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    jobs.reverse()
    // Remove each job from the array, so that a picture's memory is freed as soon as the picture is written.
    while let job = jobs.popLast() {
      switch job {
      case .piece(let bytes, let partial):
        append(bytes, to: partial)
        shared.gate.leave(ByteCount(bytes.count))
        shared.buffers.give(bytes)
      case .discard(let partial):
        partial.discard(layout, disk)
      case .leave(let partial):
        if !partial.leave() { partial.discard(layout, disk) }
      case .whole(let body):
        ingest(body)
        shared.gate.leave(ByteCount(body.rest.count))
        shared.buffers.give(body.rest)
      case .collect(let add):
        collect(add)
      case .flush(let sent):
        send()
        sent()
      }
      waiting.subtract(1, ordering: .relaxed)
    }
  }

  /// Adds something to the present group, and commits the group if it is full.
  private func collect(_ add: (inout CommitGroup) -> Void) {
    let wasEmpty = group.isEmpty
    add(&group)
    if group.isFull(shared.groupSize) {
      send()
    } else if wasEmpty {
      dueAt = .now() + shared.patience
      setAlarm()
    }
  }

  /// Sets a timer for the time at which the present group is to be committed.
  ///
  /// One timer serves many groups. Most groups are full long before it fires, and a timer for each group would take as
  /// much processor time as writing the rows of the group.
  private func setAlarm() {
    guard !isAlarmSet else { return }
    isAlarmSet = true
    queue.asyncAfter(deadline: dueAt) { [weak self] in
      guard let self else { return }
      self.isAlarmSet = false
      guard !self.group.isEmpty else { return }
      if .now() < self.dueAt { self.setAlarm() } else { self.send() }
    }
  }

  private func send() {
    guard !group.isEmpty else { return }
    let gathered = group
    group = CommitGroup()
    committer.send(gathered, isFull: gathered.isFull(shared.groupSize))
  }

  private func append(_ bytes: [UInt8], to partial: PartialPicture) {
    guard partial.failure.withLock({ $0 == nil }) else { return }
    do throws(LarderError) {
      try partial.append(bytes, layout, disk)
    } catch {
      partial.failure.withLock { $0 = error }
      committer.note(error)
    }
  }

  /// Checks a complete picture and adds it to the group.
  private func ingest(_ whole: ReceivedPicture) {
    guard let type = whole.type else {
      return refuse(whole, .notAPicture, "the body is not a picture")
    }
    if !whole.provesEnd {
      var ending = whole.partial?.ending ?? PictureEnding()
      ending.append(whole.rest)
      guard ending.isWhole(type) else {
        return refuse(whole, .truncated, "no length was given, and the picture's end is missing")
      }
    }
    do throws(LarderError) {
      let staged = try stage(whole, type)
      collect { $0.pictures.append(staged) }
    } catch {
      whole.partial?.discard(layout, disk)
      committer.note(error)
      whole.completion(.refused(.disk, detail: error.description))
    }
  }

  private func refuse(_ whole: ReceivedPicture, _ reason: FailureReason, _ words: String) {
    whole.partial?.discard(layout, disk)
    whole.completion(.refused(reason, detail: words))
  }

  /// Writes the file of a picture to `partial/`, unless the same bytes are already in the cache.
  private func stage(
    _ whole: ReceivedPicture,
    _ type: PictureType
  ) throws(LarderError) -> WrittenPicture {
    let rest = whole.rest
    let digest: [UInt8]
    let size: ByteCount
    if let partial = whole.partial {
      if let failure = partial.failure.withLock({ $0 }) { throw failure }
      try partial.append(rest, layout, disk)
      (digest, size) = (partial.digest(), partial.size)
    } else {
      (digest, size) = (ContentDigest.sha256(rest), ByteCount(rest.count))
    }
    var entry = whole.entry()
    entry.sha256 = digest
    entry.bytes = size
    entry.type = type
    if let previous = whole.previous, previous.sha256 == digest,
      let stamp = try stamp(of: previous), stamp == previous.stamp
    {
      whole.partial?.discard(layout, disk)
      entry.stamp = stamp
      return WrittenPicture(
        entry: entry,
        partial: nil,
        before: nil,
        outcome: .same(bytes: size),
        completion: whole.completion
      )
    }
    let file: OpenFile
    if let partial = whole.partial?.file {
      file = partial
    } else {
      file = try disk.create(entry.id.partialName, in: layout.partial)
      try disk.append(rest.span.bytes, to: file)
    }
    if let modified = entry.lastModified { try disk.setModified(modified, of: file) }
    entry.stamp = try file.stamp()
    // If the file was lost, the same bytes are written again. This does not count as a change of the picture.
    // If an earlier run could not fetch the picture, that run told of a picture that is not held.
    let before = whole.previous.flatMap { old in
      old.sha256.map { $0 == digest ? nil : $0 } ?? (old.failure == nil ? nil : [])
    }
    return WrittenPicture(
      entry: entry,
      partial: file,
      hasNote: whole.partial?.hasNote ?? false,
      before: before,
      outcome: .stored(bytes: size, wasHeld: before?.isEmpty == false),
      completion: whole.completion
    )
  }

  private func stamp(of entry: PictureEntry) throws(LarderError) -> FileStamp? {
    // If the pictures are in an object store, the run has compared all rows with the store's list at its start, so the
    // row is right.
    if layout.remote != nil { return entry.stamp }
    return try layout.folder(entry.name.folder).stamp(of: entry.name.file)
  }
}

/// A picture that was received completely, with everything that is needed to commit it.
struct ReceivedPicture: Sendable {
  /// Makes the row to write.
  ///
  /// It is called on the writer queue, because the transfer thread has no time to parse header fields.
  let entry: @Sendable () -> PictureEntry
  /// The type, detected from the first bytes; nil if the bytes are not a picture or are too few.
  let type: PictureType?
  /// The bytes that were not passed to the writer queue in earlier pieces.
  let rest: [UInt8]
  /// The file with the earlier pieces; nil if there were none.
  let partial: PartialPicture?
  /// The writer queue of the earlier pieces; nil if there were none.
  let queue: WriterQueue?
  /// Whether the framing of the response proves that the body is complete.
  let provesEnd: Bool
  /// The row of the picture before this transfer; nil if there was none.
  let previous: PictureEntry?
  /// Called when the picture is durable or refused.
  let completion: @Sendable (PictureOutcome) -> Void
}

/// Blocks the transfer thread while too many received bytes wait to be written (back-pressure).
///
/// Only one thread is allowed to enter, and it may have to wait. Any thread is allowed to leave. The waiting thread is
/// woken when half of the capacity is free, so that it is not woken for every picture.
///
/// A body that has entered must leave exactly once, with the same number of bytes. A violation ends the process.
/// Otherwise, surplus leaves would remove the limit on memory, and missing leaves would block the transfers forever.
final class ByteGate: Sendable {
  /// The number of bytes that have entered, and whether a thread is blocked.
  struct Occupancy {
    private let capacity: ByteCount
    private var waiting: ByteCount = 0
    /// The number of bytes with which the blocked thread wants to enter; nil if no thread is blocked.
    private var blocked: ByteCount?

    /// Makes an empty gate with a capacity in bytes.
    init(capacity: ByteCount) {
      self.capacity = capacity
    }

    /// Adds `bytes`; returns whether the caller has to wait.
    mutating func enter(_ bytes: ByteCount) -> Bool {
      precondition(bytes >= 0, "a negative number of bytes enters")
      precondition(blocked == nil, "a second thread enters while one waits")
      waiting += bytes
      blocked = waiting > capacity && waiting > bytes ? bytes : nil
      return blocked != nil
    }

    /// Subtracts `bytes`; returns whether the blocked thread can continue.
    mutating func leave(_ bytes: ByteCount) -> Bool {
      precondition(bytes >= 0, "a negative number of bytes leaves")
      precondition(bytes <= waiting - (blocked ?? 0), "more bytes leave than have entered")
      waiting -= bytes
      guard let blocked, waiting - blocked <= ByteCount(capacity.count / 2) else { return false }
      self.blocked = nil
      return true
    }
  }

  private let occupancy: Mutex<Occupancy>
  private let opened = DispatchSemaphore(value: 0)

  /// Makes an empty gate with a capacity in bytes.
  init(capacity: ByteCount) {
    occupancy = Mutex(Occupancy(capacity: capacity))
  }

  /// Adds `bytes`, and waits while the capacity is exceeded.
  ///
  /// If nothing else has entered, a body of any size can enter at once.
  func enter(_ bytes: ByteCount) {
    if occupancy.withLock({ $0.enter(bytes) }) { opened.wait() }
  }

  /// Subtracts `bytes`.
  func leave(_ bytes: ByteCount) {
    if occupancy.withLock({ $0.leave(bytes) }) { opened.signal() }
  }
}

/// A pool of reusable buffers for the pieces of large pictures.
///
/// Without the pool, `malloc` would map a new block of this size each time, with 64 page faults and zeroed pages. A
/// run of large pictures would take 6 % more processor time.
final class BufferPool: Sendable {
  /// The capacity of a buffer in bytes.
  private let size: Int
  /// The maximum number of free buffers to keep.
  ///
  /// This is enough for 64 simultaneous transfers.
  private static let most = 64
  private let free = Mutex<[[UInt8]]>([])

  /// Makes a pool of buffers of this size.
  init(size: Int) {
    self.size = size
  }

  var count: Int { free.withLock { $0.count } }

  /// Takes an empty buffer from the pool, or makes one.
  func take() -> [UInt8] {
    var piece = free.withLock { $0.popLast() } ?? []
    // If another array still shares the buffer, this allocates a new one.
    piece.removeAll(keepingCapacity: true)
    piece.reserveCapacity(size)
    return piece
  }

  /// Gives a buffer back to the pool.
  ///
  /// Smaller buffers are not kept, because they are cheap to allocate.
  func give(_ piece: [UInt8]) {
    guard piece.capacity >= size else { return }
    free.withLock { pieces in
      if pieces.count < Self.most { pieces.append(piece) }
    }
  }
}
