import Dispatch
import FoundationEssentials
import GRDB
import Synchronization
import Transport

/// Gathers what the ingest queue made ready and commits it in groups on a queue of its own.
///
/// The order makes any crash harmless: every file of a group is synced, then renamed, then the
/// folders are synced, then the rows of a few groups are committed together. A file ahead of its row
/// is found by the next run; a row never points to bytes that are not there.
final class GroupCommitter: @unchecked Sendable {
  // SAFETY: `group` and `generation` belong to the ingest queue, `contents` and `placed` to the
  // commit queue; both queues are serial. `firstFailure` has a lock, `arrived` is atomic. All else
  // is constant.
  private var group = CommitGroup()
  private var generation = 0
  var contents: [Int64: PictureID]
  var placed = PlacedBatch()
  private let arrived = Atomic<Int>(0)

  let layout: CacheLayout
  let index: Index
  let disk: any Disk
  let run: Int64
  /// How long a group may wait to be filled.
  private let patience: DispatchTimeInterval
  private let queue = DispatchQueue(label: "larder.commit")
  private let ingest: DispatchQueue
  private let isIdle = DispatchSemaphore(value: 1)
  private let firstFailure = Mutex<CacheError?>(nil)

  /// How many rows go into one transaction while more keep coming.
  ///
  /// Files are whole and findable without their rows, so this costs no download in a crash, only a
  /// question to the origin.
  static let rowBatch = 256

  init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk,
    run: Int64,
    states: [PictureID: PictureState],
    ingest: DispatchQueue,
    patience: DispatchTimeInterval
  ) {
    self.ingest = ingest
    self.patience = patience
    self.layout = layout
    self.index = index
    self.disk = disk
    self.run = run
    contents = [Int64: PictureID](minimumCapacity: states.count)
    for (id, state) in states where state.isHeld { contents[state.content] = id }
  }

  var failure: CacheError? { firstFailure.withLock { $0 } }

  /// Remembers the first failure of the cache as a whole.
  func note(_ error: CacheError) {
    firstFailure.withLock { $0 = $0 ?? error }
  }

  // MARK: - On the ingest queue

  /// Adds to the group that is being filled, and sends it off when it is full.
  func collect(_ add: (inout CommitGroup) -> Void) {
    let wasEmpty = group.isEmpty
    add(&group)
    if group.isFull {
      send()
    } else if wasEmpty {
      let due = generation
      ingest.asyncAfter(deadline: .now() + patience) { [weak self] in
        guard let self, self.generation == due else { return }
        self.send()
      }
    }
  }

  /// Sends off what there is and calls `completion` after its commit.
  func flush(_ completion: @escaping @Sendable () -> Void) {
    send()
    queue.async {
      self.commitRows()
      completion()
    }
  }

  /// Counts something that will be collected soon, or forgone; any thread.
  func expect() {
    arrived.add(1, ordering: .relaxed)
  }

  /// Takes back an ``expect()``: it came to nothing, and whoever waits for it must not.
  func forgo() {
    arrived.subtract(1, ordering: .relaxed)
    queue.async { if self.isDrained { self.commitRows() } }
  }

  private func send() {
    guard !group.isEmpty else { return }
    // One group at a time has its files placed: waiting here is what bounds the loss in a crash.
    isIdle.wait()
    let full = group
    group = CommitGroup()
    generation += 1
    queue.async {
      self.place(full)
      self.isIdle.signal()
      if self.placed.count >= Self.rowBatch || self.isDrained { self.commitRows() }
    }
  }

  /// Whether everything that arrived has its files placed: nothing more will join the batch soon.
  private var isDrained: Bool { arrived.load(ordering: .relaxed) <= placed.total }
}
