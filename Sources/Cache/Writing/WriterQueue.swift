import Base
import Dispatch
import Synchronization
import Transport

/// One of the queues on which bodies become files: they are hashed and written to `partial/` there.
///
/// Performs the submitted work in order, and gathers it into groups. Lanes share the gate that holds the
/// transfer thread back, and the committer that their groups go to.
final class WriterQueue: @unchecked Sendable {
  // SAFETY: `group`, `dueAt` and `isAlarmSet` belong to `queue`, which is serial; `inbox` has a lock. All else is
  // constant.
  private var group = CommitGroup()
  /// When the group that is being filled goes off, full or not.
  private var dueAt = DispatchTime.distantFuture
  private var isAlarmSet = false

  /// The state that all lanes of a store share.
  final class Shared: Sendable {
    let layout: CacheLayout
    let disk: any Disk
    let committer: GroupCommitter
    let gate = ByteGate(room: .mebibytes(2))
    let pieces = PieceRoom(size: PictureSink.spillSize)
    /// How many pictures make a group full.
    let groupSize: Int
    /// How long a group may wait to be filled.
    let patience: DispatchTimeInterval
    /// How many bodies this run leaves for the next at most.
    let room = Mutex(PartialBodies.most)

    init(
      _ layout: CacheLayout,
      _ disk: any Disk,
      _ committer: GroupCommitter,
      _ patience: DispatchTimeInterval,
      lanes: Int
    ) {
      self.patience = patience
      // A store answers each put after a while, so that many go out at once.
      groupSize = layout.remote == nil ? CommitGroup.most / (lanes + 1) : CommitGroup.most
      self.layout = layout
      self.disk = disk
      self.committer = committer
    }
  }

  /// Work that arrived.
  enum Job: Sendable {
    case piece([UInt8], PartialPicture)
    case discard(PartialPicture)
    case leave(PartialPicture)
    case whole(ReceivedPicture)
    /// Other contents of a group: rows without new bytes.
    case collect(@Sendable (inout CommitGroup) -> Void)
    /// Sends off the gathered group and reports its completion.
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

  /// How much was submitted and is not done.
  var backlog: Int { waiting.load(ordering: .relaxed) }

  /// Takes work, from any thread; waits while too many bytes are at hand in all lanes.
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
    // One block drains all that gathered meanwhile: a hop a picture would cost more than its hash.
    if isFirst { queue.async { self.drain() } }
  }

  // MARK: - On the lane's queue

  private func drain() {
    var jobs = inbox.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    jobs.reverse()
    // Popped, not looped over: a body is let go as soon as it is written, not with the last.
    while let job = jobs.popLast() {
      switch job {
      case .piece(let bytes, let spill):
        append(bytes, to: spill)
        shared.gate.leave(ByteCount(bytes.count))
        shared.pieces.give(bytes)
      case .discard(let spill):
        spill.discard(layout, disk)
      case .leave(let spill):
        leaveOnDisk(spill)
      case .whole(let body):
        ingest(body)
        let rest = body.takeRest()
        shared.gate.leave(ByteCount(rest.count))
        shared.pieces.give(rest)
      case .collect(let add):
        collect(add)
      case .flush(let sent):
        send()
        sent()
      }
      waiting.subtract(1, ordering: .relaxed)
    }
  }

  /// Adds to the group that is being filled, and sends it off when it is full.
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

  /// Looks again when the present group is due.
  ///
  /// One look serves many groups: most are full long before, and a timer for each would cost as much as its rows.
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

  private func append(_ bytes: [UInt8], to spill: PartialPicture) {
    guard spill.failure.withLock({ $0 == nil }) else { return }
    do throws(LarderError) {
      try spill.append(bytes, layout, disk)
    } catch {
      spill.failure.withLock { $0 = error }
      committer.note(error)
    }
  }

  private func leaveOnDisk(_ spill: PartialPicture) {
    let hasRoom = shared.room.withLock { room in
      room -= 1
      return room >= 0
    }
    if !hasRoom || !spill.leave() { spill.discard(layout, disk) }
  }

  /// Makes a file of a body.
  private func ingest(_ whole: ReceivedPicture) {
    guard let type = whole.type else {
      return refuse(whole, .notAPicture, "the body is no picture")
    }
    if !whole.provesEnd {
      var ending = whole.spill?.ending ?? PictureEnding()
      ending.append(whole.rest)
      guard ending.isWhole(type) else {
        return refuse(whole, .truncated, "no length was given, and the picture's end is missing")
      }
    }
    do throws(LarderError) {
      let staged = try stage(whole, type)
      collect { $0.add(staged) }
    } catch {
      whole.spill?.discard(layout, disk)
      committer.note(error)
      whole.completion(.refused(.disk, detail: error.description))
    }
  }

  private func refuse(_ whole: ReceivedPicture, _ reason: FailureReason, _ words: String) {
    whole.spill?.discard(layout, disk)
    whole.completion(.refused(reason, detail: words))
  }

  /// Writes the partial file of a body whose bytes are not those held already.
  private func stage(
    _ whole: ReceivedPicture,
    _ type: PictureType
  ) throws(LarderError) -> WrittenPicture {
    let rest = whole.rest
    let digest: [UInt8]
    let size: ByteCount
    if let spill = whole.spill {
      if let failure = spill.failure.withLock({ $0 }) { throw failure }
      try spill.append(rest, layout, disk)
      (digest, size) = (spill.digest(), spill.size)
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
      whole.spill?.discard(layout, disk)
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
    if let spilled = whole.spill?.file {
      file = spilled
    } else {
      file = try disk.create(entry.partialName, in: layout.partial)
      try disk.append(rest.span.bytes, to: file)
    }
    if let modified = entry.lastModified { try disk.setModified(modified, of: file) }
    entry.stamp = try file.stamp()
    // Equal bytes whose file was lost meanwhile are written again, but they are no change.
    let before = whole.previous?.sha256.flatMap { $0 == digest ? nil : $0 }
    return WrittenPicture(
      entry: entry,
      partial: file,
      hasNote: whole.spill?.hasNote ?? false,
      before: before,
      outcome: .stored(bytes: size, wasHeld: before != nil),
      completion: whole.completion
    )
  }

  private func stamp(of entry: PictureEntry) throws(LarderError) -> FileStamp? {
    // The run began with the list of a store.
    if layout.remote != nil { return entry.stamp }
    return try layout.folder(entry.name.folder).stamp(of: entry.name.file)
  }
}

/// The body of a picture that arrived in full, and its destination.
///
/// A class: passing it costs one retain.
final class ReceivedPicture: @unchecked Sendable {
  // SAFETY: `rest` is touched by one thread at a time: the one that made it, then its lane. All else is constant.

  /// Makes the row to write, on the lane, because the transfer thread has no time to read headers.
  let entry: @Sendable () -> PictureEntry
  /// The type by the first bytes; nil if they are not a picture, or too few to tell.
  let type: PictureType?
  /// The bytes that were not handed on before.
  private(set) var rest: [UInt8]
  /// Where those went that were.
  let spill: PartialPicture?
  /// The lane that it has to follow its earlier pieces to; nil when there were none.
  let lane: WriterQueue?
  /// Whether the transport can tell that nothing is missing.
  let provesEnd: Bool
  /// The held version before, if any.
  let previous: PictureEntry?
  /// Called when it is durable, or refused.
  let completion: @Sendable (PictureOutcome) -> Void

  init(
    entry: @escaping @Sendable () -> PictureEntry,
    type: PictureType?,
    rest: [UInt8],
    spill: PartialPicture?,
    lane: WriterQueue?,
    provesEnd: Bool,
    previous: PictureEntry?,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    self.entry = entry
    self.type = type
    self.rest = rest
    self.spill = spill
    self.lane = lane
    self.provesEnd = provesEnd
    self.previous = previous
    self.completion = completion
  }

  /// Hands out the bytes, and keeps none.
  func takeRest() -> [UInt8] {
    let bytes = rest
    rest = []
    return bytes
  }
}

/// Holds the transfer thread back while too many received bytes wait to be written.
///
/// One thread enters and may wait; any other leaves. The waiting one is woken once half of the
/// room is free again, so that it does not wake for every picture.
///
/// Each body that enters leaves exactly once, with the same number of bytes. Every breach of that ends the
/// process: more that leaves than entered would let any amount of memory fill, and less would stop the
/// transfers for ever.
final class ByteGate: Sendable {
  /// The bytes inside, and the callers that wait.
  struct Occupancy {
    private let room: ByteCount
    private var waiting: ByteCount = 0
    /// The bytes of the blocked thread; it cannot leave before that thread continues.
    private var blocked: ByteCount?

    /// A gate with this capacity.
    init(room: ByteCount) {
      self.room = room
    }

    /// Counts `bytes` in, and says whether who brings them has to wait.
    mutating func enter(_ bytes: ByteCount) -> Bool {
      precondition(bytes >= 0, "a negative number of bytes enters")
      precondition(blocked == nil, "a second thread enters while one waits")
      waiting += bytes
      blocked = waiting > room && waiting > bytes ? bytes : nil
      return blocked != nil
    }

    /// Counts `bytes` out, and says whether who waits may continue.
    mutating func leave(_ bytes: ByteCount) -> Bool {
      precondition(bytes >= 0, "a negative number of bytes leaves")
      precondition(bytes <= waiting - (blocked ?? 0), "more bytes leave than have entered")
      waiting -= bytes
      guard let blocked, waiting - blocked <= ByteCount(room.count / 2) else { return false }
      self.blocked = nil
      return true
    }
  }

  private let occupancy: Mutex<Occupancy>
  private let opened = DispatchSemaphore(value: 0)

  /// A gate with room for `room` bytes.
  init(room: ByteCount) {
    occupancy = Mutex(Occupancy(room: room))
  }

  /// Counts `bytes` in, and waits while there is no room.
  ///
  /// A body of any size fits when no other waits.
  func enter(_ bytes: ByteCount) {
    if occupancy.withLock({ $0.enter(bytes) }) { opened.wait() }
  }

  /// Counts `bytes` out.
  func leave(_ bytes: ByteCount) {
    if occupancy.withLock({ $0.leave(bytes) }) { opened.signal() }
  }
}

/// Memory for the pieces in which large bodies are handed on, used again once a piece is written.
///
/// A block of a piece's size is mapped again by `malloc` each time, so that every piece would cost 64 page faults
/// and their zeroing: leaving it out costs 6 % of the processor time of a run of large pictures.
final class PieceRoom: Sendable {
  /// How many bytes a piece has room for.
  private let size: Int
  /// How many pieces are kept: those of 64 transfers that run at once.
  private static let most = 64
  private let free = Mutex<[[UInt8]]>([])

  /// A pool of pieces of this size.
  init(size: Int) {
    self.size = size
  }

  /// How many pieces wait to be used again.
  var count: Int { free.withLock { $0.count } }

  /// An empty piece.
  func take() -> [UInt8] {
    var piece = free.withLock { $0.popLast() } ?? []
    // Were it still read elsewhere, this would make a new one.
    piece.removeAll(keepingCapacity: true)
    piece.reserveCapacity(size)
    return piece
  }

  /// Keeps the memory of a piece that is written; smaller blocks are cheap and are not kept.
  func give(_ piece: [UInt8]) {
    guard piece.capacity >= size else { return }
    free.withLock { pieces in
      if pieces.count < Self.most { pieces.append(piece) }
    }
  }
}
