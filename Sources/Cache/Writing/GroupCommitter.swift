import Base
import Dispatch
import FoundationEssentials
import GRDB
import Synchronization

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
  private var placed = PendingRows()
  /// Groups whose rows are being written.
  private var committing: PendingRows?
  /// Whether the placed files are to be committed as soon as no other rows are being written.
  private var areRowsDue = false
  private var isAlarmSet = false
  /// Called once nothing waits for its rows.
  private var flushes: [@Sendable () -> Void] = []

  private let layout: CacheLayout
  private let index: Index
  private let disk: any Disk
  private let run: RunID
  /// The held pictures at the start of the run.
  private let states: PictureStates?
  /// How long the rows of full groups may wait for more.
  private let patience: DispatchTimeInterval
  /// Where files are placed.
  private let queue = DispatchQueue(label: "larder.commit")
  /// Where rows are written, while the next files are placed.
  private let rowQueue = DispatchQueue(label: "larder.rows")
  private let isIdle = DispatchSemaphore(value: 1)
  private let firstFailure = Mutex<LarderError?>(nil)

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

  var failure: LarderError? { firstFailure.withLock { $0 } }

  /// Remembers the first failure of the cache as a whole.
  func note(_ error: LarderError) {
    firstFailure.withLock { $0 = $0 ?? error }
  }

  // MARK: - On any thread but its own queues

  /// Takes a group; blocks until the files of the one before are placed.
  ///
  /// The lane that would fill the next group waits here too, which bounds the loss in a crash.
  ///
  /// - Parameters:
  ///   - group: the group that the lane gathered.
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
    _ next: () throws(LarderError) -> [PictureStore.PlacedRow]?
  ) throws(LarderError) {
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
    if let remote = layout.remote {
      return RemotePlacing(layout: layout, disk: disk, remote: remote, note: note)
        .place(group, in: &placed)
    }
    let placer = FilePlacer(layout: layout, disk: disk, note: note)
    findContents()
    placer.place(group, in: &placed) { [committing, contents, index] content throws(LarderError) in
      if let entry = committing?.entry(holding: content) { return entry }
      guard let id = contents?[content] else { return nil }
      return try index.pictures([id])[id]
    }
  }

  /// Finds out which picture has which bytes, before the first file is placed.
  private func findContents() {
    guard contents == nil else { return }
    do throws(LarderError) {
      let states = try states?.read().states ?? [:]
      var contents = [Int64: PictureID](minimumCapacity: states.count)
      for (id, state) in states where state.isHeld { contents[state.content] = id }
      self.contents = contents
    } catch {
      note(error)
      contents = [:]
    }
  }

  /// Commits the waiting pictures once they have waited long enough, because no others may arrive.
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
    placed = PendingRows()
    rowQueue.async {
      var failure: LarderError?
      do throws(LarderError) {
        try self.index.write { db in try batch.save(in: db, run: self.run) }
      } catch {
        // The files are in place regardless; the next run finds and adopts them.
        self.note(error)
        failure = error
      }
      batch.tell(failure)
      let isHeld = failure == nil
      self.queue.async { self.committed(batch, isHeld: isHeld) }
    }
  }

  private func committed(_ batch: PendingRows, isHeld: Bool) {
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

/// The pictures that become durable together: their files are synced and renamed before any of their rows is
/// written.
struct CommitGroup: Sendable {
  /// The most pictures that may be in groups at once, filling or being placed; a crash loses no more.
  static let most = 64
  /// How many rows without bytes make a group full.
  private static let rowCapacity = 128

  var pictures: [WrittenPicture] = []
  var rows: [PictureEntry] = []
  var details: [(detail: DetailEntry, catalog: CatalogID, document: DocumentEntry)] = []
  var completions: [@Sendable () -> Void] = []

  var isEmpty: Bool { count == 0 }
  var count: Int { pictures.count + rows.count + details.count }

  /// Whether `capacity` pictures are in it, or many rows.
  func isFull(_ capacity: Int) -> Bool {
    pictures.count >= capacity || rows.count + details.count >= Self.rowCapacity
  }

  mutating func add(_ picture: WrittenPicture) {
    pictures.append(picture)
  }

  mutating func add(row: PictureEntry, completion: @escaping @Sendable () -> Void) {
    rows.append(row)
    completions.append(completion)
  }

  mutating func add(
    _ detail: DetailEntry,
    catalog: CatalogID,
    document: DocumentEntry,
    completion: @escaping @Sendable () -> Void
  ) {
    details.append((detail, catalog, document))
    completions.append(completion)
  }
}

/// A picture whose bytes are on the disk: in `partial/` first, then at their final path, waiting for their
/// row.
///
/// A class: passing it costs one retain.
final class WrittenPicture: @unchecked Sendable {
  // SAFETY: `entry` and `partial` change on the commit queue only, before the picture joins a ``PendingRows``. Its lane
  // made it before, and the row queue reads it after. All else is constant.

  /// The row to write, complete.
  private(set) var entry: PictureEntry
  /// The file with the bytes until it is in place; nil when the existing file is kept.
  private(set) var partial: OpenFile?
  /// Where the file goes.
  let name: PictureName
  /// Whether there is a note beside the partial file.
  let hasNote: Bool
  /// The SHA-256 of the bytes held before, if any.
  let before: [UInt8]?
  /// The result to report once it is durable.
  let outcome: PictureOutcome
  /// Called with the result.
  let completion: @Sendable (PictureOutcome) -> Void

  init(
    entry: PictureEntry,
    partial: OpenFile?,
    hasNote: Bool = false,
    before: [UInt8]?,
    outcome: PictureOutcome,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    self.entry = entry
    name = entry.name
    self.partial = partial
    self.hasNote = hasNote
    self.before = before
    self.outcome = outcome
    self.completion = completion
  }

  /// Records the stamp of the placed file, and closes it: 256 pictures may wait for their rows, and would hold as
  /// many descriptors.
  func moveInto(_ stamp: FileStamp?) {
    entry.stamp = stamp
    partial = nil
  }
}

/// Pictures whose files are in place, and rows, that wait for one transaction together.
struct PendingRows: Sendable {
  /// The pictures whose files are in place, and the rows.
  private(set) var contents = CommitGroup()
  private var refused: [(PictureOutcome, @Sendable (PictureOutcome) -> Void)] = []
  private var byContent: [Int64: WrittenPicture] = [:]

  var isEmpty: Bool { contents.isEmpty && refused.isEmpty }
  var count: Int { contents.count }

  mutating func add(_ picture: WrittenPicture) {
    contents.add(picture)
  }

  mutating func add(
    refused outcome: PictureOutcome,
    _ completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    refused.append((outcome, completion))
  }

  /// Adds the other contents of a group, besides pictures.
  mutating func add(rowsOf group: CommitGroup) {
    contents.rows += group.rows
    contents.details += group.details
    contents.completions += group.completions
  }

  /// Notes that a picture's file is in place, ahead of its row, for those with equal bytes.
  mutating func note(_ picture: WrittenPicture) {
    if let digest = picture.entry.sha256 { byContent[ContentDigest.prefix(digest)] = picture }
  }

  /// The picture of this batch that holds these bytes, ahead of its row.
  func entry(holding content: Int64) -> PictureEntry? {
    byContent[content]?.entry
  }

  /// Writes everything, in a transaction that the caller holds.
  func save(in db: Database, run: RunID) throws {
    var writer = try PictureRowWriter(db)
    for picture in contents.pictures {
      try writer.save(picture.entry, before: picture.before, run: run, in: db)
    }
    for entry in contents.rows { try writer.save(entry) }
    for (detail, catalog, document) in contents.details {
      try document.insert(db)
      try DetailRow(catalog: catalog, detail: detail).insert(db)
    }
  }

  /// Tells everybody how it ended; a failure of the transaction refuses all pictures.
  func tell(_ failure: LarderError?) {
    for picture in contents.pictures {
      let refusal = failure.map { PictureOutcome.refused(.disk, detail: $0.description) }
      picture.completion(refusal ?? picture.outcome)
    }
    for (outcome, completion) in refused { completion(outcome) }
    for completion in contents.completions { completion() }
  }
}
