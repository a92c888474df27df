import Dispatch
import Synchronization
import Transport

/// Commits the groups that the lanes fill, on two queues of its own.
///
/// The order makes any crash harmless: every file of a group is synced, then renamed, then the
/// folders are synced, then the rows of a few groups are committed together. The rows of a full group
/// wait a moment, because more will follow. A file ahead of its row is found by the next run; a row never
/// points to bytes that are not there.
final class GroupCommitter: @unchecked Sendable {
  // SAFETY: `contents`, `placed`, `committing`, `areRowsDue`, `isAlarmSet` and `flushes` belong to `queue`, which is serial.
  // `firstFailure` has a lock. All else is constant.
  /// Which picture has bytes; nil until the first file comes, as a run that gets none asks for none.
  private var contents: [Int64: PictureID]?
  /// Groups whose files are placed and whose rows are still to be written.
  private var placed = PlacedBatch()
  /// Groups whose rows are being written.
  private var committing: PlacedBatch?
  /// Whether what is placed is to be committed as soon as no other rows are being written.
  private var areRowsDue = false
  private var isAlarmSet = false
  /// Whom to tell once nothing waits for its rows.
  private var flushes: [@Sendable () -> Void] = []

  private let layout: CacheLayout
  private let index: Index
  private let disk: any Disk
  private let run: RunID
  /// What was held when the run began.
  private let states: PictureStates?
  /// How long the rows of full groups may wait for more.
  private let patience: DispatchTimeInterval
  /// Where files are placed.
  private let queue = DispatchQueue(label: "larder.commit")
  /// Where rows are written, while the next files are placed.
  private let rowQueue = DispatchQueue(label: "larder.rows")
  private let isIdle = DispatchSemaphore(value: 1)
  private let firstFailure = Mutex<CacheError?>(nil)

  /// How many rows go into one transaction while more keep coming.
  ///
  /// Files are whole and findable without their rows, so this costs no download in a crash, only a
  /// question to the origin.
  private static let rowBatch = 256
  /// How many may wait when the index is slower than the files.
  private static let mostRows = 4 * rowBatch

  init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk,
    run: RunID,
    states: PictureStates?,
    patience: DispatchTimeInterval
  ) {
    self.layout = layout
    self.index = index
    self.disk = disk
    self.run = run
    self.patience = patience
    self.states = states
  }

  var failure: CacheError? { firstFailure.withLock { $0 } }

  /// Remembers the first failure of the cache as a whole.
  func note(_ error: CacheError) {
    firstFailure.withLock { $0 = $0 ?? error }
  }

  // MARK: - On any thread but its own queues

  /// Takes a group; blocks until the files of the one before are placed.
  ///
  /// The lane that would fill the next group waits here too, which bounds what a crash can lose.
  ///
  /// - Parameters:
  ///   - group: what the lane gathered.
  ///   - isFull: whether more arrived than the group had room for, so that its rows may wait a moment for
  ///     those of the next; otherwise little arrives, and they are committed at once.
  func send(_ group: CommitGroup, isFull: Bool) {
    isIdle.wait()
    queue.async {
      self.place(group)
      self.isIdle.signal()
      if isFull && self.placed.count < Self.rowBatch && self.flushes.isEmpty {
        self.setAlarm()
      } else {
        self.commitRows()
      }
      // The index falls behind: more rows in memory would not help it.
      if self.placed.count >= Self.mostRows { self.rowQueue.sync {} }
    }
  }

  /// Writes rows whose files are placed, in a transaction of their own.
  func enter(
    _ next: () throws(CacheError) -> [PictureStore.PlacedRow]?
  ) throws(CacheError) {
    try index.write { db in
      var writer = try PictureRowWriter(db)
      while let rows = try next() {
        for (entry, before) in rows { try writer.save(entry, before: before, run: run, in: db) }
      }
    }
  }

  /// Calls `completion` once all groups that were sent are committed.
  func flush(_ completion: @escaping @Sendable () -> Void) {
    queue.async {
      self.flushes.append(completion)
      self.commitRows()
      self.tellFlushes()
    }
  }

  // MARK: - On the commit queue

  private func place(_ group: CommitGroup) {
    if let keeper = layout.keeper {
      return KeptPlacing(layout: layout, disk: disk, keeper: keeper, note: note)
        .place(group, in: &placed)
    }
    let placer = FilePlacer(layout: layout, disk: disk, note: note)
    findContents()
    placer.place(group, in: &placed) { [committing, contents, index] content throws(CacheError) in
      if let entry = committing?.entry(holding: content) { return entry }
      guard let id = contents?[content] else { return nil }
      return try index.pictures([id])[id]
    }
  }

  /// Finds out which picture has which bytes, before the first file is placed.
  private func findContents() {
    guard contents == nil else { return }
    do throws(CacheError) {
      let states = try states?.read().states ?? [:]
      var contents = [Int64: PictureID](minimumCapacity: states.count)
      for (id, state) in states where state.isHeld { contents[state.content] = id }
      self.contents = contents
    } catch {
      note(error)
      contents = [:]
    }
  }

  /// Commits what waits now once it has waited long enough, for nothing else may arrive.
  private func setAlarm() {
    guard !isAlarmSet else { return }
    isAlarmSet = true
    queue.asyncAfter(deadline: .now() + patience) { [weak self] in
      guard let self else { return }
      self.isAlarmSet = false
      self.commitRows()
    }
  }

  /// Commits the rows of all placed files in one transaction, then tells everybody.
  ///
  /// While one transaction is under way the next one's rows gather.
  private func commitRows() {
    areRowsDue = !placed.isEmpty
    guard areRowsDue, committing == nil else { return }
    areRowsDue = false
    let batch = placed
    committing = batch
    placed = PlacedBatch()
    rowQueue.async {
      var failure: CacheError?
      do throws(CacheError) {
        try self.index.write { db in try batch.save(in: db, run: self.run) }
      } catch {
        // The files are in place all the same; the next run finds and adopts them.
        self.note(error)
        failure = error
      }
      batch.tell(failure)
      let isHeld = failure == nil
      self.queue.async { self.committed(batch, isHeld: isHeld) }
    }
  }

  private func committed(_ batch: PlacedBatch, isHeld: Bool) {
    committing = nil
    if isHeld {
      for picture in batch.contents.pictures {
        if let digest = picture.entry.sha256 {
          contents?[ContentDigest.prefix(digest)] = picture.entry.id
        }
      }
    }
    if areRowsDue { commitRows() }
    tellFlushes()
  }

  private func tellFlushes() {
    guard placed.isEmpty, committing == nil else { return }
    let due = flushes
    flushes = []
    for completion in due { completion() }
  }
}
