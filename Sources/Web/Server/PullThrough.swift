import Base
import Cache
import Dispatch
import Pipeline
import Synchronization

/// Fetches requested pictures that the cache lacks, and adds them to the cache.
///
/// Concurrent requests for one picture share one fetch. A fetched picture waits in the working folder (the "room")
/// while a run holds the cache's lock.
final class PullThrough: Sendable {
  /// The result of a fetch, for all requests that wait for it.
  enum Outcome: Sendable {
    /// The picture's index row, and the place where its file is now.
    case had(PictureEntry, in: Place)
    case refused(PicturePull.Refusal)
    /// Too many fetches are under way.
    case busy
  }

  /// Where a file is: in the cache, or still in the working folder.
  enum Place: Sendable { case cache, room }

  typealias Waiter = @Sendable (Outcome) -> Void

  private struct Requests {
    var waiters: [PictureID: [Waiter]] = [:]
    /// Fetched pictures and failures that are not in the cache's index yet.
    var kept: [PictureID: PictureEntry] = [:]
    var failures: [PictureID: PictureEntry] = [:]
    var arrived: [PictureEntry] = []
    var refusals: [PictureID: PicturePull.Refusal] = [:]
    var isTrying = false
    var counts = PullCounts()
  }

  private let pull: PicturePull
  private let room: ServingFolder
  private let admission: PictureAdmission
  private let now: @Sendable () -> UnixTime
  private let state = Mutex(Requests())
  private let lanes = WorkPool(threads: 16, most: 512)
  private let remote = DispatchQueue(label: "larder.remote")
  /// The files of the working folder.
  let files: ServedFiles

  /// At most this many pictures wait in the working folder; further fetches are refused as busy.
  private static let mostKept = 1000
  /// At most this many failures are remembered; at the limit, all are forgotten.
  private static let mostRefusals = 10_000
  /// The delay before another attempt when a run holds the cache's lock.
  private static let pause = DispatchTimeInterval.milliseconds(500)

  /// Prepares to fetch into a cache.
  init(
    _ cache: String,
    remote: (any RemotePictures)? = nil,
    room: ServingFolder,
    pull: PicturePull,
    now: @escaping @Sendable () -> UnixTime
  ) {
    (self.room, self.pull, self.now) = (room, pull, now)
    admission = PictureAdmission(from: room.path, into: cache, remote: remote)
    files = ServedFiles(cache: room.path)
  }

  /// The counts so far.
  var counts: PullCounts {
    state.withLock { state in
      var counts = state.counts
      (counts.underWay, counts.unkept) = (state.waiters.count, state.kept.count)
      return counts
    }
  }

  /// Finds a picture in the working folder by its future path in the cache.
  func unkept(at path: String) -> PictureEntry? {
    state.withLock { state in
      state.kept.isEmpty ? nil : state.kept.values.first { $0.name.path == path }
    }
  }

  /// Fetches a picture; calls `waiter` exactly once, on any thread.
  func fetch(_ picture: PictureEntry, known: PictureEntry?, _ waiter: @escaping Waiter) {
    let id = picture.id
    enum Step { case tell(Outcome), wait, start }
    let step: Step = state.withLock { state in
      if let entry = state.kept[id] { return .tell(.had(entry, in: .room)) }
      if let refusal = state.refusals[id], refusal.rest > now() {
        return .tell(.refused(refusal))
      }
      if state.waiters[id] != nil {
        state.waiters[id]?.append(waiter)
        return .wait
      }
      guard state.kept.count < Self.mostKept else { return .tell(.busy) }
      state.waiters[id] = [waiter]
      return .start
    }
    switch step {
    case .tell(let outcome): waiter(outcome)
    case .wait: break
    case .start:
      let begins = lanes.begin { [self] in
        switch pull.fetch(picture, known: known) {
        case .fetched(let entry): keep(entry)
        case .failed(let refusal): refuse(id, refusal)
        }
      }
      guard !begins else { return }
      for waiter in state.withLock({ $0.waiters.removeValue(forKey: id) ?? [] }) { waiter(.busy) }
    }
  }

  /// Ends the transfers under way, and adds finished pictures to the cache.
  ///
  /// Do not use this object afterwards.
  func stop() {
    pull.stop()
    remote.sync { admit() }
    room.leave()
  }

  private func refuse(_ id: PictureID, _ refusal: PicturePull.Refusal) {
    let waiters = state.withLock { state in
      if state.refusals.count >= Self.mostRefusals { state.refusals = [:] }
      state.refusals[id] = refusal
      if let row = refusal.row { state.failures[id] = row }
      state.counts.failed += 1
      return state.waiters.removeValue(forKey: id) ?? []
    }
    for waiter in waiters { waiter(.refused(refusal)) }
    tryLater(after: .milliseconds(0))
  }

  private func keep(_ entry: PictureEntry) {
    state.withLock { state in
      state.arrived.append(entry)
      state.counts.fetched += 1
      state.counts.bytes += Int(entry.bytes.count)
    }
    remote.async { [self] in admit() }
  }

  /// Moves the pictures of the working folder into the cache, if no run holds the cache's lock.
  ///
  /// Also answers the requests that wait for these pictures.
  ///
  /// Runs on the queue `remote`.
  private func admit() {
    let (arrived, entries) = state.withLock { state in
      let arrived = state.arrived
      state.arrived = []
      for entry in arrived { state.kept[entry.id] = entry }
      return (arrived, Array(state.kept.values) + Array(state.failures.values))
    }
    guard !entries.isEmpty else { return }
    var rows: [PictureID: PictureEntry] = [:]
    do throws(LarderError) {
      for row in try admission.admit(entries) { rows[row.id] = row }
      state.withLock { state in
        for entry in entries {
          state.kept[entry.id] = nil
          state.failures[entry.id] = nil
        }
      }
    } catch {
      // A run holds the cache's lock, or the cache cannot be written. Serve the picture from the working folder until
      // the next attempt.
      tryLater(after: Self.pause)
    }
    for entry in arrived {
      let waiters = state.withLock { $0.waiters.removeValue(forKey: entry.id) ?? [] }
      let outcome: Outcome =
        rows[entry.id].map { .had($0, in: .cache) } ?? .had(entry, in: .room)
      for waiter in waiters { waiter(outcome) }
    }
  }

  private func tryLater(after pause: DispatchTimeInterval) {
    let begins = state.withLock { state in
      defer { state.isTrying = true }
      return !state.isTrying
    }
    guard begins else { return }
    remote.asyncAfter(deadline: .now() + pause) { [self] in
      state.withLock { $0.isTrying = false }
      admit()
    }
  }
}

/// Counts of fetched pictures, for `/metrics`.
struct PullCounts: Sendable {
  var fetched = 0
  var failed = 0
  var bytes = 0
  var underWay = 0
  var unkept = 0
}
