import Base
import Dispatch
import Synchronization
import Transport

/// A queue that hashes bodies and writes them to `partial/`, and collects them into groups.
///
/// It does the work in the order of submission. The queues of a ``PictureStore`` share the gate that limits the
/// transfer thread, and the committer of their groups.
final class WriterQueue: @unchecked Sendable {
  // SAFETY: `group`, `dueAt` and `isAlarmSet` belong to `queue`, which is serial; `inbox` has a lock. Everything else
  // is constant.
  private var group = CommitGroup()
  /// The time at which the present group is committed, full or not.
  private var dueAt = DispatchTime.distantFuture
  private var isAlarmSet = false

  /// The state that all writer queues of a store share.
  final class Shared: Sendable {
    let layout: CacheLayout
    let disk: any Disk
    let committer: GroupCommitter
    let gate = ByteGate(capacity: .mebibytes(2))
    let buffers = BufferPool(size: PictureSink.pieceSize)
    /// The number of pictures that makes a group full.
    let groupSize: Int
    /// How long a group may wait to be filled.
    let patience: DispatchTimeInterval
    /// The number of unfinished bodies that this run may still leave for the next run.
    let partialsLeft = Mutex(PartialBodies.most)

    init(
      _ layout: CacheLayout,
      _ disk: any Disk,
      _ committer: GroupCommitter,
      _ patience: DispatchTimeInterval,
      queues: Int
    ) {
      self.patience = patience
      // An object store takes a while to answer each upload, so a group has many pictures.
      groupSize = layout.remote == nil ? CommitGroup.most / (queues + 1) : CommitGroup.most
      self.layout = layout
      self.disk = disk
      self.committer = committer
    }
  }

  /// A piece of work.
  enum Job: Sendable {
    /// Appends bytes to the partial file of a large body.
    case piece([UInt8], PartialPicture)
    /// Removes the partial file of a body.
    case discard(PartialPicture)
    /// Keeps the partial file of a body for the next run.
    case leave(PartialPicture)
    /// Checks a complete body, writes its partial file and adds it to a group.
    case whole(ReceivedPicture)
    /// Adds other contents to a group, such as rows without new bytes.
    case collect(@Sendable (inout CommitGroup) -> Void)
    /// Passes the present group to the committer, then calls the closure.
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

  /// The number of submitted jobs that are not done.
  var backlog: Int { waiting.load(ordering: .relaxed) }

  /// Submits work, from any thread; blocks while too many bytes wait in all queues.
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
    // One block handles all jobs that have arrived: a dispatch for each picture would cost more than its hash.
    if isFirst { queue.async { self.drain() } }
  }

  // MARK: - On the serial queue

  private func drain() {
    var jobs = inbox.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    jobs.reverse()
    // Popped instead of iterated, so that each body is freed as soon as it is written.
    while let job = jobs.popLast() {
      switch job {
      case .piece(let bytes, let partial):
        append(bytes, to: partial)
        shared.gate.leave(ByteCount(bytes.count))
        shared.buffers.give(bytes)
      case .discard(let partial):
        partial.discard(layout, disk)
      case .leave(let partial):
        leaveOnDisk(partial)
      case .whole(let body):
        ingest(body)
        let rest = body.takeRest()
        shared.gate.leave(ByteCount(rest.count))
        shared.buffers.give(rest)
      case .collect(let add):
        collect(add)
      case .flush(let sent):
        send()
        sent()
      }
      waiting.subtract(1, ordering: .relaxed)
    }
  }

  /// Adds to the present group, and commits it when it is full.
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
  /// One timer serves many groups: most groups are full long before it fires, and a timer for each group would cost as
  /// much as the group's rows.
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

  private func leaveOnDisk(_ partial: PartialPicture) {
    let mayLeave = shared.partialsLeft.withLock { left in
      left -= 1
      return left >= 0
    }
    if !mayLeave || !partial.leave() { partial.discard(layout, disk) }
  }

  /// Checks a complete body and adds it to the group.
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

  /// Writes the partial file of a body, unless its bytes are held already.
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
      file = try disk.create(entry.partialName, in: layout.partial)
      try disk.append(rest.span.bytes, to: file)
    }
    if let modified = entry.lastModified { try disk.setModified(modified, of: file) }
    entry.stamp = try file.stamp()
    // Equal bytes whose file was lost are written again, but do not count as a change.
    let before = whole.previous?.sha256.flatMap { $0 == digest ? nil : $0 }
    return WrittenPicture(
      entry: entry,
      partial: file,
      hasNote: whole.partial?.hasNote ?? false,
      before: before,
      outcome: .stored(bytes: size, wasHeld: before != nil),
      completion: whole.completion
    )
  }

  private func stamp(of entry: PictureEntry) throws(LarderError) -> FileStamp? {
    // If the pictures are in an object store, the run compared all rows with the store's list at its start.
    if layout.remote != nil { return entry.stamp }
    return try layout.folder(entry.name.folder).stamp(of: entry.name.file)
  }
}

/// The complete body of a picture, with the data to commit it.
///
/// A class, so that passing it costs only one retain.
final class ReceivedPicture: @unchecked Sendable {
  // SAFETY: `rest` is used by one thread at a time: the one that made it, then its writer queue. Everything else is
  // constant.

  /// Makes the row to write; called on the writer queue, because the transfer thread has no time to parse headers.
  let entry: @Sendable () -> PictureEntry
  /// The type detected from the first bytes; nil if they are no picture, or too few.
  let type: PictureType?
  /// The bytes that were not passed on in pieces.
  private(set) var rest: [UInt8]
  /// The partial file with the earlier pieces, if any.
  let partial: PartialPicture?
  /// The writer queue of the earlier pieces; nil when there were none.
  let queue: WriterQueue?
  /// Whether the framing of the response proves that the body is complete.
  let provesEnd: Bool
  /// The version held before, if any.
  let previous: PictureEntry?
  /// Called when the picture is durable, or refused.
  let completion: @Sendable (PictureOutcome) -> Void

  init(
    entry: @escaping @Sendable () -> PictureEntry,
    type: PictureType?,
    rest: [UInt8],
    partial: PartialPicture?,
    queue: WriterQueue?,
    provesEnd: Bool,
    previous: PictureEntry?,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    self.entry = entry
    self.type = type
    self.rest = rest
    self.partial = partial
    self.queue = queue
    self.provesEnd = provesEnd
    self.previous = previous
    self.completion = completion
  }

  /// Moves the bytes out.
  func takeRest() -> [UInt8] {
    let bytes = rest
    rest = []
    return bytes
  }
}

/// Back-pressure: blocks the transfer thread while too many received bytes wait to be written.
///
/// Only one thread may enter, and it may have to wait; any thread may leave. The waiting thread is woken once half of
/// the capacity is free, so that it does not wake for every picture.
///
/// Each body that enters must leave exactly once, with the same number of bytes. A violation ends the process: surplus
/// leaves would remove the limit on memory, and missing leaves would block the transfers for ever.
final class ByteGate: Sendable {
  /// The number of bytes inside, and the blocked thread if there is one.
  struct Occupancy {
    private let capacity: ByteCount
    private var waiting: ByteCount = 0
    /// The bytes of the blocked thread, which cannot leave before it continues.
    private var blocked: ByteCount?

    /// Makes a gate with this capacity.
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

    /// Subtracts `bytes`; returns whether the blocked thread may continue.
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

  /// Makes a gate with a capacity of `room` bytes.
  init(capacity: ByteCount) {
    occupancy = Mutex(Occupancy(capacity: capacity))
  }

  /// Adds `bytes`, and waits while there is no room.
  ///
  /// A body of any size may enter when nothing else is inside.
  func enter(_ bytes: ByteCount) {
    if occupancy.withLock({ $0.enter(bytes) }) { opened.wait() }
  }

  /// Subtracts `bytes`.
  func leave(_ bytes: ByteCount) {
    if occupancy.withLock({ $0.leave(bytes) }) { opened.signal() }
  }
}

/// A buffer pool for the pieces of large bodies.
///
/// `malloc` maps a new block of this size each time, with 64 page faults and zeroed pages. Without the pool, a run of
/// large pictures takes 6 % more processor time.
final class BufferPool: Sendable {
  /// The capacity of a buffer in bytes.
  private let size: Int
  /// The maximum number of free buffers to keep, enough for 64 simultaneous transfers.
  private static let most = 64
  private let free = Mutex<[[UInt8]]>([])

  /// Makes a pool of buffers of this size.
  init(size: Int) {
    self.size = size
  }

  /// The number of free buffers.
  var count: Int { free.withLock { $0.count } }

  /// Returns an empty buffer.
  func take() -> [UInt8] {
    var piece = free.withLock { $0.popLast() } ?? []
    // If the buffer were still shared, this would allocate a new one.
    piece.removeAll(keepingCapacity: true)
    piece.reserveCapacity(size)
    return piece
  }

  /// Returns a buffer to the pool; smaller buffers are cheap to allocate and are not kept.
  func give(_ piece: [UInt8]) {
    guard piece.capacity >= size else { return }
    free.withLock { pieces in
      if pieces.count < Self.most { pieces.append(piece) }
    }
  }
}
