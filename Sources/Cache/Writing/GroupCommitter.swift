import Base
import Dispatch
import FoundationEssentials
import GRDB
import Synchronization

/// Commits the groups of pictures from the writer queues: places their files on one queue (syncs and renames them), and
/// writes their rows on another queue.
///
/// This sequence makes any crash harmless. All files of a group are synced, then renamed, then the folders are synced.
/// Then the rows of a few groups are committed in one transaction. The rows of a full group wait a moment, because more
/// rows will follow. After a crash, the next run finds files without rows; a row never points to a missing file.
final class GroupCommitter: @unchecked Sendable {
  // SAFETY: `contents`, `placed`, `committing`, `areRowsDue`, `isAlarmSet` and `flushes` belong to `queue`, which is
  // serial. `firstFailure` has a lock. Everything else is constant.
  /// The held pictures by the first 63 bits of their SHA-256; nil until the first file is placed, because many runs
  /// place no file.
  private var contents: [Int64: PictureID]?
  /// The rows of groups whose files are placed.
  private var placed = PendingRows()
  /// The rows that are being written.
  private var committing: PendingRows?
  /// Whether the rows of the placed files are to be committed once no other rows are being written.
  private var areRowsDue = false
  private var isAlarmSet = false
  /// Called once all rows are committed.
  private var flushes: [@Sendable () -> Void] = []

  private let layout: CacheLayout
  private let index: Index
  private let disk: any Disk
  private let run: RunID
  /// The held pictures at the start of the run.
  private let states: PictureStates?
  /// How long the rows of a full group may wait for the rows of the next group.
  private let patience: DispatchTimeInterval
  /// The queue on which files are placed.
  private let queue = DispatchQueue(label: "larder.commit")
  /// The queue on which rows are written, while the next files are placed.
  private let rowQueue = DispatchQueue(label: "larder.rows")
  private let isIdle = DispatchSemaphore(value: 1)
  private let firstFailure = Mutex<LarderError?>(nil)

  /// The number of rows at which a transaction begins, even if more groups follow.
  ///
  /// After a crash, files without rows are adopted. So the delay costs no download, only a revalidation.
  private static let rowBatch = 256
  /// The maximum number of rows that may wait when the index is slower than the files.
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

  /// Records an error that concerns the whole run; only the first is kept.
  func note(_ error: LarderError) {
    firstFailure.withLock { $0 = $0 ?? error }
  }

  // MARK: - On any thread but its own queues

  /// Commits a group; blocks until the files of the previous group are placed.
  ///
  /// The writer queue that would fill the next group waits here too, which limits the loss in a crash.
  ///
  /// - Parameters:
  ///   - group: The group from the writer queue.
  ///   - isFull: Whether the group reached its capacity. If so, its rows wait a moment for the rows of the next group;
  ///     otherwise they are committed at once.
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
      // Back-pressure: the index is slower than the files, so wait until it has written its rows.
      if self.placed.count >= Self.mostRows { self.rowQueue.sync {} }
    }
  }

  /// Writes rows in a separate transaction; their files already have their final names.
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

  /// Calls `completion` once all groups sent so far are committed.
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

  /// Fills `contents` before the first file is placed.
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

  /// Sets a timer that commits the waiting rows, in case no further group arrives.
  private func setAlarm() {
    guard !isAlarmSet else { return }
    isAlarmSet = true
    queue.asyncAfter(deadline: .now() + patience) { [weak self] in
      guard let self else { return }
      self.isAlarmSet = false
      self.commitRows()
    }
  }

  /// Commits the rows of all placed files in one transaction, then calls their completions.
  ///
  /// While a transaction is under way, the rows of the next transaction are collected.
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
        // The files already have their final names; the next run finds and adopts them.
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

/// The pictures and rows that are committed together; all files are synced and renamed before any row is written.
struct CommitGroup: Sendable {
  /// The maximum number of pictures in all groups that are being filled or placed, and so the maximum that a crash can
  /// lose.
  static let most = 64
  /// The number of rows without files that makes a group full.
  private static let rowCapacity = 128

  var pictures: [WrittenPicture] = []
  var rows: [PictureEntry] = []
  var details: [(detail: DetailEntry, catalog: CatalogID, document: DocumentEntry)] = []
  var completions: [@Sendable () -> Void] = []

  var isEmpty: Bool { count == 0 }
  var count: Int { pictures.count + rows.count + details.count }

  /// Whether the group has `capacity` pictures, or `rowCapacity` rows.
  func isFull(_ capacity: Int) -> Bool {
    pictures.count >= capacity || rows.count + details.count >= Self.rowCapacity
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

/// A picture whose bytes are on disk, first in `partial/`, then at the final path, and whose row is not committed yet.
///
/// A class, so that passing it costs only one retain.
final class WrittenPicture: @unchecked Sendable {
  // SAFETY: A writer queue makes the object. Afterwards `entry` and `partial` change on the commit queue only, before
  // the picture joins a ``PendingRows``; the row queue reads them after that. Everything else is constant.

  /// The complete row to write.
  private(set) var entry: PictureEntry
  /// The open partial file, until it has its final name; nil when the existing file is kept.
  private(set) var partial: OpenFile?
  /// The final name of the file.
  let name: PictureName
  /// Whether there is a note beside the partial file; see ``PartialBody``.
  let hasNote: Bool
  /// The SHA-256 of the previous bytes, if they differ.
  let before: [UInt8]?
  /// The result to report once the row is committed.
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

  /// Records the stamp of the placed file, and closes the file.
  ///
  /// If the files stayed open, the 256 pictures that may wait for their rows would hold 256 descriptors.
  func moveInto(_ stamp: FileStamp?) {
    entry.stamp = stamp
    partial = nil
  }
}

/// The pictures and rows of the next transaction; the pictures' files already have their final names.
struct PendingRows: Sendable {
  /// The pictures, and the rows.
  private(set) var contents = CommitGroup()
  private var refused: [(PictureOutcome, @Sendable (PictureOutcome) -> Void)] = []
  private var byContent: [Int64: WrittenPicture] = [:]

  var isEmpty: Bool { contents.isEmpty && refused.isEmpty }
  var count: Int { contents.count }

  mutating func add(_ picture: WrittenPicture) {
    contents.pictures.append(picture)
  }

  mutating func add(
    refused outcome: PictureOutcome,
    _ completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    refused.append((outcome, completion))
  }

  /// Adds the contents of a group except its pictures.
  mutating func add(rowsOf group: CommitGroup) {
    contents.rows += group.rows
    contents.details += group.details
    contents.completions += group.completions
  }

  /// Records that a picture's file has its final name, so that later pictures with equal bytes can link to the file.
  mutating func note(_ picture: WrittenPicture) {
    if let digest = picture.entry.sha256 { byContent[ContentDigest.prefix(digest)] = picture }
  }

  /// The picture of this batch with these bytes, given by the first 63 bits of their SHA-256.
  func entry(holding content: Int64) -> PictureEntry? {
    byContent[content]?.entry
  }

  /// Writes all rows, in the caller's transaction.
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

  /// Calls all completions; if the transaction failed, all pictures are refused.
  func tell(_ failure: LarderError?) {
    for picture in contents.pictures {
      let refusal = failure.map { PictureOutcome.refused(.disk, detail: $0.description) }
      picture.completion(refusal ?? picture.outcome)
    }
    for (outcome, completion) in refused { completion(outcome) }
    for completion in contents.completions { completion() }
  }
}
