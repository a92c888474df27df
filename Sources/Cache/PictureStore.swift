import Dispatch
import Synchronization
import Transport

/// How a picture's place in the cache changed, told once the change is durable.
public enum PictureOutcome: Sendable, Equatable {
  /// New or changed bytes are in place. `wasHeld` tells which: whether others were held before.
  case stored(bytes: Int64, wasHeld: Bool)
  /// The origin sent bytes equal to those held; nothing was rewritten.
  case same(bytes: Int64)
  /// The bytes could not be kept.
  case refused(FailureReason, detail: String)
}

/// The pictures of a cache while a run fills it: bytes become files, in groups.
///
/// Each body is hashed and written to `partial/` on one queue; a second queue syncs a group of
/// files, renames them, syncs their folders and commits their rows in one transaction. A crash
/// loses at most the group being written and the one being committed: 64 pictures, none of them
/// older than 250 ms. All state belongs to one of the two queues, as its comment says.
public final class PictureStore: Sendable {
  private let layout: CacheLayout
  private let index: Index
  private let disk: any Disk
  private let committer: GroupCommitter
  private let partials: PartialBodies
  private let gate = ByteGate(room: 4 << 20)

  private let queue = DispatchQueue(label: "larder.ingest")
  private let inbox = Mutex<[Job]>([])
  private let announced = Atomic<Int>(0)

  /// Work that arrived, in order.
  private enum Job: Sendable {
    case piece([UInt8], PictureSpill)
    case discard(PictureSpill)
    case leave(PictureSpill)
    case whole(Whole)
    case row(@Sendable (inout CommitGroup) -> Void)
    case flush(@Sendable () -> Void)
  }

  /// A body that has arrived in full.
  private struct Whole: Sendable {
    let entry: @Sendable () -> PictureEntry
    let type: PictureType?
    let rest: [UInt8]
    let spill: PictureSpill?
    let provesEnd: Bool
    let previous: PictureEntry?
    let completion: @Sendable (PictureOutcome) -> Void
  }

  /// How many bodies this run leaves for the next at most.
  private let room = Mutex(PartialBodies.most)

  /// Makes the store of an open cache.
  ///
  /// - Parameters:
  ///   - layout: its folders.
  ///   - index: its index.
  ///   - disk: where the bytes go.
  ///   - run: the run that changes are entered under.
  ///   - states: what is held now, to find equal bytes.
  ///   - partials: what earlier runs left unfinished.
  ///   - patience: how long a group may wait to be filled while more is announced.
  public init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk = SystemDisk(),
    run: Int64,
    states: [PictureID: PictureState],
    partials: PartialBodies? = nil,
    patience: DispatchTimeInterval = .milliseconds(125)
  ) {
    self.layout = layout
    self.partials = partials ?? PartialBodies(layout)
    self.index = index
    self.disk = disk
    self.committer = GroupCommitter(
      layout,
      index: index,
      disk: disk,
      run: run,
      states: states,
      ingest: queue,
      patience: patience
    )
  }

  /// A sink for the body of one picture, which goes on with what an earlier run left of it.
  public func sink(id: PictureID, url: String) -> PictureSink {
    PictureSink(id: id, url: url, store: self, resuming: partials.take(id))
  }

  /// Removes what earlier runs left unfinished and no sink took up.
  public func sweepPartials() {
    partials.sweep()
  }

  /// Keeps what `sink` received, once its transfer has ended well.
  ///
  /// - Parameters:
  ///   - sink: the sink of the transfer.
  ///   - entry: makes the row to write, on the store's queue, because the transfer thread has no
  ///     time to read headers; the store fills in what the bytes say.
  ///   - previous: what was held before, if anything.
  ///   - completion: called on a queue of the store when the picture is durable, or refused.
  public func keep(
    _ sink: PictureSink,
    as entry: @escaping @Sendable () -> PictureEntry,
    replacing previous: PictureEntry?,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    let (type, rest, spill, provesEnd) = sink.finish()
    gate.enter(Int64(rest.count))
    submit(
      .whole(
        Whole(
          entry: entry,
          type: type,
          rest: rest,
          spill: spill,
          provesEnd: provesEnd,
          previous: previous,
          completion: completion
        )
      )
    )
  }

  /// Writes a row without new bytes: a 304, or a failure.
  ///
  /// Committed with the next group.
  public func keep(
    row entry: @escaping @Sendable () -> PictureEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    submit(.row { $0.add(row: entry(), completion: completion) })
  }

  /// Writes an item's detail and its document with the next group.
  public func keep(
    _ detail: DetailEntry,
    catalog: Int64,
    document: DocumentEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    submit(.row { $0.add(detail, catalog: catalog, document: document, completion: completion) })
  }

  /// Says that so many requests are under way whose outcomes will be kept; any thread.
  public func announce(_ count: Int) {
    announced.add(count, ordering: .relaxed)
  }

  /// Says that what came of one announced request was handed over, or that nothing did.
  ///
  /// After the last, what has gathered is committed at once: no group waits for more to fill it
  /// when nothing more is on its way.
  public func settle() {
    let left = announced.subtract(1, ordering: .relaxed).newValue
    if left == 0 { flush {} }
  }

  /// Commits what has arrived so far, then calls `completion`, on a queue of the store.
  public func flush(_ completion: @escaping @Sendable () -> Void) {
    submit(.flush(completion))
  }

  /// The first thing that went wrong with the index or the disk as a whole, if anything: the run
  /// can then end early with its status.
  public var failure: CacheError? { committer.failure }

  // MARK: - Called by sinks, on the transfer thread

  /// Hands on a piece of a large body; false when the disk refused an earlier one.
  func spill(_ bytes: [UInt8], into spill: PictureSpill) -> Bool {
    gate.enter(Int64(bytes.count))
    submit(.piece(bytes, spill))
    return spill.failure.withLock { $0 == nil }
  }

  func discard(_ spill: PictureSpill) {
    submit(.discard(spill))
  }

  /// Leaves what came of a body for the next run.
  func leave(_ spill: PictureSpill) {
    submit(.leave(spill))
  }

  // MARK: - On the ingest queue

  private func submit(_ job: Job) {
    switch job {
    case .whole, .row: committer.expect()
    case .piece, .discard, .leave, .flush: break
    }
    let isFirst = inbox.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    // One block drains all that gathered meanwhile: a hop a picture would cost more than its hash.
    if isFirst { queue.async { self.drain() } }
  }

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
        gate.leave(Int64(bytes.count))
      case .discard(let spill):
        spill.discard(layout, disk)
      case .leave(let spill):
        leaveOnDisk(spill)
      case .whole(let whole):
        ingest(whole)
        gate.leave(Int64(whole.rest.count))
      case .row(let add):
        committer.collect(add)
      case .flush(let completion):
        committer.flush(completion)
      }
    }
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
    let hasRoom = room.withLock { room in
      room -= 1
      return room >= 0
    }
    if !hasRoom || !spill.leave() { spill.discard(layout, disk) }
  }

  private func ingest(_ whole: Whole) {
    guard let type = whole.type else {
      return refuse(whole, .notAPicture, "the body is no picture")
    }
    if !whole.provesEnd {
      var ending = whole.spill?.ending ?? PictureEnding()
      ending.append(whole.rest)
      guard ending.isWhole(type) else {
        return refuse(whole, .truncated, "no length was told, and the picture's end did not come")
      }
    }
    do throws(CacheError) {
      let staged = try stage(whole, type)
      committer.collect { $0.add(staged) }
    } catch {
      whole.spill?.discard(layout, disk)
      committer.note(error)
      committer.forgo()
      whole.completion(.refused(.disk, detail: error.description))
    }
  }

  private func refuse(_ whole: Whole, _ reason: FailureReason, _ words: String) {
    whole.spill?.discard(layout, disk)
    committer.forgo()
    whole.completion(.refused(reason, detail: words))
  }

  /// Hashes the body and, when its bytes are not those held already, writes its partial file.
  private func stage(_ whole: Whole, _ type: PictureType) throws(CacheError) -> StagedPicture {
    let digest: [UInt8]
    let size: Int64
    if let spill = whole.spill {
      if let failure = spill.failure.withLock({ $0 }) { throw failure }
      try spill.append(whole.rest, layout, disk)
      (digest, size) = (spill.digest(), spill.size)
    } else {
      (digest, size) = (ContentDigest.sha256(whole.rest), Int64(whole.rest.count))
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
        name: entry.name,
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
      try disk.append(whole.rest.span.bytes, to: file)
    }
    if let modified = entry.lastModified { try disk.setModified(modified, of: file) }
    entry.stamp = try file.stamp()
    // Equal bytes whose file was lost meanwhile are written again, but they are no change.
    let before = whole.previous?.sha256.flatMap { $0 == digest ? nil : $0 }
    return StagedPicture(
      entry: entry,
      name: entry.name,
      partial: file,
      hasNote: whole.spill?.hasNote ?? false,
      before: before,
      outcome: .stored(bytes: size, wasHeld: before != nil),
      completion: whole.completion
    )
  }

  private func stamp(of entry: PictureEntry) throws(CacheError) -> FileStamp? {
    try layout.folder(entry.name.folder).stamp(of: entry.name.file)
  }
}
