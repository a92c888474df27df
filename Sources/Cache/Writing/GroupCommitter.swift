import Base
import Dispatch
import GRDB
import Synchronization

/// Commits the groups of pictures that the writer queues have filled.
///
/// The steps are in an order that makes a crash at any point harmless. First, all files of a group are synced and
/// renamed. Then the folders are synced. Finally, the rows of several groups are written in one transaction. After a
/// crash, the next run may find files without rows, but a row never points to a missing file.
///
/// One queue places the files, which means that it syncs and renames them. Another queue writes the rows. The rows of
/// a full group wait a moment, because more rows will follow.
final class GroupCommitter: @unchecked Sendable {
  // SAFETY: `contents`, `placed`, `committing`, `areRowsDue`, `isAlarmSet` and `flushes` are used only on `queue`,
  // which is serial. `firstFailure` has a lock. Everything else is constant.
  /// The pictures in the cache, by the ``ContentDigest/number(of:)`` of their bytes.
  ///
  /// It is nil until the first file is placed, because many runs place no file.
  private var contents: [Int64: PictureID]?
  /// The rows to write next.
  ///
  /// The files of these rows are placed already.
  private var placed = CommitGroup()
  /// The rows that are being written; nil if no transaction is under way.
  private var committing: CommitGroup?
  /// Whether `placed` is to be written as soon as the present transaction has ended.
  private var areRowsDue = false
  private var isAlarmSet = false
  /// The closures to call when all rows are written.
  private var flushes: [@Sendable () -> Void] = []

  private let layout: CacheLayout
  private let index: Index
  private let disk: any Disk
  private let run: RunID
  /// The time for which the rows of a full group can wait for the rows of the next group.
  private let patience: DispatchTimeInterval
  private let queue = DispatchQueue(label: "larder.commit")
  private let rowQueue = DispatchQueue(label: "larder.rows")
  private let isIdle = DispatchSemaphore(value: 1)
  private let firstFailure = Mutex<LarderError?>(nil)

  /// The number of waiting rows at which a transaction begins, even if more groups will follow.
  ///
  /// The delay costs little. If a crash leaves files without rows, the next run writes their rows, and then revalidates
  /// the pictures instead of downloading them again.
  private static let rowBatch = 256
  /// The maximum number of rows that wait if writing rows is slower than placing files.
  private static let mostRows = 4 * rowBatch

  init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk,
    run: RunID,
    patience: DispatchTimeInterval
  ) {
    self.layout = layout
    self.index = index
    self.disk = disk
    self.run = run
    self.patience = patience
  }

  var failure: LarderError? { firstFailure.withLock { $0 } }

  /// Records an error that concerns the whole run.
  ///
  /// Only the first error is kept.
  func note(_ error: LarderError) {
    firstFailure.withLock { $0 = $0 ?? error }
  }

  // MARK: - On any thread but its own queues

  /// Commits a group, and waits until the files of the previous group are placed.
  ///
  /// The calling writer queue waits here before it can fill the next group. This limits the number of pictures that a
  /// crash can lose.
  ///
  /// - Parameters:
  ///   - group: The group.
  ///   - isFull: Whether the group reached its capacity. If so, its rows wait a moment for the rows of the next group.
  ///     Otherwise they are written at once.
  func send(_ group: CommitGroup, isFull: Bool) {
    isIdle.wait()
    queue.async {
      self.place(group)
      self.isIdle.signal()
    }
    // In a block of its own, so that the group and its open files are gone while rows are written.
    queue.async {
      if isFull && self.placed.count < Self.rowBatch && self.flushes.isEmpty {
        self.setAlarm()
      } else {
        self.commitRows()
      }
      // If writing rows is slower than placing files, wait until the present transaction has ended.
      if self.placed.count >= Self.mostRows { self.rowQueue.sync {} }
    }
  }

  /// Calls `completion` when all groups that were sent before this call are committed.
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
      contents = try index.contents()
    } catch {
      note(error)
      contents = [:]
    }
  }

  /// Sets a timer that writes the waiting rows if no other group arrives.
  private func setAlarm() {
    guard !isAlarmSet else { return }
    isAlarmSet = true
    queue.asyncAfter(deadline: .now() + patience) { [weak self] in
      guard let self else { return }
      self.isAlarmSet = false
      self.commitRows()
    }
  }

  /// Writes the rows of all placed files in one transaction, and then calls their completions.
  ///
  /// During a transaction, the rows of the next transaction are collected.
  private func commitRows() {
    areRowsDue = !placed.isEmpty
    guard areRowsDue, committing == nil else { return }
    areRowsDue = false
    let batch = placed
    committing = batch
    placed = CommitGroup()
    rowQueue.async {
      var failure: LarderError?
      do throws(LarderError) {
        try self.index.write { db in try batch.save(in: db, run: self.run) }
      } catch {
        // The files already have their final names. The next run finds and adopts them.
        self.note(error)
        failure = error
      }
      batch.tell(failure)
      let isHeld = failure == nil
      self.queue.async { self.committed(batch, isHeld: isHeld) }
    }
  }

  private func committed(_ batch: CommitGroup, isHeld: Bool) {
    committing = nil
    if isHeld {
      for picture in batch.pictures {
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

/// The pictures and rows that are committed together.
///
/// All files of a group are synced and renamed before any of its rows is written.
struct CommitGroup: Sendable {
  /// The maximum total number of pictures in the groups that are being filled or placed.
  ///
  /// A crash can lose at most these pictures.
  static let most = 64
  /// The number of rows without a file at which a group is full.
  private static let rowCapacity = 128

  var pictures: [WrittenPicture] = []
  var rows: [PictureEntry] = []
  var details: [CommittedDetail] = []
  var completions: [@Sendable () -> Void] = []
  private var byContent: [Int64: PictureEntry] = [:]

  var isEmpty: Bool { count == 0 && completions.isEmpty }
  var count: Int { pictures.count + rows.count + details.count }

  /// Whether the group has `capacity` pictures or `rowCapacity` rows without a file.
  func isFull(_ capacity: Int) -> Bool {
    pictures.count >= capacity || rows.count + details.count >= Self.rowCapacity
  }

  mutating func add(
    refused outcome: PictureOutcome,
    _ completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    completions.append { completion(outcome) }
  }

  /// Adds everything in a group except its pictures.
  mutating func add(rowsOf group: CommitGroup) {
    rows += group.rows
    details += group.details
    completions += group.completions
  }

  /// Records that the file of a picture has its final name, so that later pictures with equal bytes can share the
  /// file.
  mutating func note(_ picture: WrittenPicture) {
    if let digest = picture.entry.sha256 {
      byContent[ContentDigest.prefix(digest)] = picture.entry
    }
  }

  /// The row of a picture of this transaction with these bytes, given by their ``ContentDigest/number(of:)``.
  func entry(holding content: Int64) -> PictureEntry? { byContent[content] }

  /// Writes all rows in the caller's transaction.
  func save(in db: Database, run: RunID) throws {
    let writer = try PictureRowWriter(db)
    for picture in pictures {
      try writer.save(picture.entry, before: picture.before, run: run, in: db)
    }
    for entry in rows { try writer.save(entry) }
    for detail in details { try detail.save(in: db) }
  }

  /// Calls all completions.
  ///
  /// If the transaction failed, all pictures are reported as refused.
  func tell(_ failure: LarderError?) {
    for picture in pictures {
      let refusal = failure.map { PictureOutcome.refused(.disk, detail: $0.description) }
      picture.completion(refusal ?? picture.outcome)
    }
    for completion in completions { completion() }
  }
}

/// A picture whose bytes are in a file, but whose row is not written yet.
///
/// The file is in `partial/` first, and then at its final path.
struct WrittenPicture: Sendable {
  /// The complete row of the picture.
  private(set) var entry: PictureEntry
  /// The open file in `partial/`; nil after the file got its final name, or if the picture needs no new file.
  private(set) var partial: OpenFile?
  /// Whether there is a note beside the file in `partial/`; see ``PartialBody``.
  var hasNote = false
  /// The SHA-256 of the picture's previous bytes; nil if there were none or they are the same, and empty if earlier runs could
  /// not fetch the picture.
  let before: [UInt8]?
  /// The result to report when the row is written.
  let outcome: PictureOutcome
  let completion: @Sendable (PictureOutcome) -> Void

  var name: PictureName { entry.name }

  /// Records the stamp of the file at its final name, and gives up the file, which is closed with its group.
  ///
  /// If the file stayed open, the 256 pictures that can wait for their rows would need 256 descriptors.
  mutating func moveInto(_ stamp: FileStamp?) {
    entry.stamp = stamp
    partial = nil
  }
}
