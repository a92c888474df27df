import Dispatch
import Synchronization
import Transport

/// One of the queues on which bodies become files: they are hashed and written to `partial/` there.
///
/// What is submitted is done in order, and gathered into groups. Lanes share the gate that holds the transfer
/// thread back, and the committer that their groups go to.
final class IngestLane: @unchecked Sendable {
  // SAFETY: `group`, `dueAt` and `isAlarmSet` belong to `queue`, which is serial; `inbox` has a lock. All else is
  // constant.
  private var group = CommitGroup()
  /// When the group that is being filled goes off, full or not.
  private var dueAt = DispatchTime.distantFuture
  private var isAlarmSet = false

  /// What all lanes of a store have in common.
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
      groupSize = layout.keeper == nil ? CommitGroup.most / (lanes + 1) : CommitGroup.most
      self.layout = layout
      self.disk = disk
      self.committer = committer
    }
  }

  /// Work that arrived.
  enum Job: Sendable {
    case piece([UInt8], PictureSpill)
    case discard(PictureSpill)
    case leave(PictureSpill)
    case whole(ArrivedBody)
    /// Whatever else a group may hold: rows without new bytes.
    case collect(@Sendable (inout CommitGroup) -> Void)
    /// Sends off what there is and tells when that is done.
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

  private func append(_ bytes: [UInt8], to spill: PictureSpill) {
    guard spill.failure.withLock({ $0 == nil }) else { return }
    do throws(CacheError) {
      try spill.append(bytes, layout, disk)
    } catch {
      spill.failure.withLock { $0 = error }
      committer.note(error)
    }
  }

  private func leaveOnDisk(_ spill: PictureSpill) {
    let hasRoom = shared.room.withLock { room in
      room -= 1
      return room >= 0
    }
    if !hasRoom || !spill.leave() { spill.discard(layout, disk) }
  }

  /// Makes a file of a body.
  private func ingest(_ whole: ArrivedBody) {
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
    do throws(CacheError) {
      let staged = try stage(whole, type)
      collect { $0.add(staged) }
    } catch {
      whole.spill?.discard(layout, disk)
      committer.note(error)
      whole.completion(.refused(.disk, detail: error.description))
    }
  }

  private func refuse(_ whole: ArrivedBody, _ reason: FailureReason, _ words: String) {
    whole.spill?.discard(layout, disk)
    whole.completion(.refused(reason, detail: words))
  }

  /// Writes the partial file of a body whose bytes are not those held already.
  private func stage(
    _ whole: ArrivedBody,
    _ type: PictureType
  ) throws(CacheError) -> StagedPicture {
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
      return StagedPicture(
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
    return StagedPicture(
      entry: entry,
      partial: file,
      hasNote: whole.spill?.hasNote ?? false,
      before: before,
      outcome: .stored(bytes: size, wasHeld: before != nil),
      completion: whole.completion
    )
  }

  private func stamp(of entry: PictureEntry) throws(CacheError) -> FileStamp? {
    // The run began with a look at what a store keeps.
    if layout.keeper != nil { return entry.stamp }
    return try layout.folder(entry.name.folder).stamp(of: entry.name.file)
  }
}
