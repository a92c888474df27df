import Base
import Cache
import Dispatch
import Pipeline
import Synchronization

/// Fetches requested pictures that the cache lacks, and adds them to the cache.
///
/// Concurrent requests for one picture share one fetch. While a run of `sync` or `warm` holds the cache's lock, fetched
/// pictures wait in a working folder (the "room") and are served from there.
final class PullThrough: Sendable {
  /// The result of a fetch, for all requests that wait for it.
  enum Outcome: Sendable {
    /// The picture is in the cache, or in the working folder.
    case fetched
    case refused(PicturePull.Refusal)
    /// Too many fetches are under way.
    case busy
  }

  private struct Requests {
    /// The pictures in the working folder, which are not in the cache's index yet.
    var kept: [PictureID: PictureEntry] = [:]
    /// The failed fetches, and for each of them the time until which the origin is not asked again.
    ///
    /// A refusal has a row until the row is in the cache's index.
    var refusals: [PictureID: PicturePull.Refusal] = [:]
    /// Whether another attempt to add pictures to the cache is planned.
    var isTrying = false
    var counts = PullCounts()
  }

  private let pull: PicturePull
  private let room: ServingFolder
  private let admission: PictureAdmission
  private let now: @Sendable () -> UnixTime
  private let state = Mutex(Requests())
  private let fetching = SharedWork<PictureID, Outcome>(threads: 16, most: 512, busy: .busy)
  private let remote = DispatchQueue(label: "larder.remote")
  /// The files of the working folder.
  let files: ServedFiles
  /// The path of the working folder.
  var roomPath: String { room.path }

  /// At most this many pictures wait in the working folder.
  ///
  /// Beyond that, requests for further pictures get status 503.
  private static let mostKept = 1000
  /// At most this many failures are remembered; when there are more, all are forgotten.
  private static let mostRefusals = 10_000
  /// The time between two attempts to add pictures to the cache while a run holds its lock.
  private static let pause = DispatchTimeInterval.milliseconds(500)

  /// Prepares to fetch pictures into a cache.
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

  var counts: PullCounts {
    state.withLock { state in
      var counts = state.counts
      (counts.underWay, counts.unkept) = (fetching.count, state.kept.count)
      return counts
    }
  }

  /// The picture in the working folder that will have this path in the cache; nil if there is none.
  func unkept(at path: String) -> PictureEntry? {
    state.withLock { state in
      state.kept.isEmpty ? nil : state.kept.values.first { $0.name.path == path }
    }
  }

  /// Fetches a picture; calls `waiter` exactly once, on any thread.
  ///
  /// - Parameters:
  ///   - picture: The picture's id, the URL to request, and the URL that identifies the picture.
  ///   - known: The picture's index row, for a conditional request; nil for an unconditional request.
  ///   - waiter: Called with the result.
  func fetch(
    _ picture: PictureEntry,
    known: PictureEntry?,
    _ waiter: @escaping @Sendable (Outcome) -> Void
  ) {
    let id = picture.id
    if let outcome = settled(id) { return waiter(outcome) }
    fetching.ask(id, waiter) { [self] in
      // The fetch before this one may have ended since the check above.
      if let outcome = settled(id) { return outcome }
      guard state.withLock({ $0.kept.count < Self.mostKept }) else { return .busy }
      do throws(PicturePull.Refusal) {
        let entry = try pull.fetch(picture, known: known)
        state.withLock { state in
          state.kept[id] = entry
          state.refusals[id] = nil
          state.counts.fetched += 1
          state.counts.bytes += Int(entry.bytes.count)
        }
      } catch {
        refuse(id, error)
        return .refused(error)
      }
      // One call adds the pictures of all fetches that wait here.
      remote.sync { admit() }
      return .fetched
    }
  }

  /// The result of an earlier fetch that still counts; nil if the picture has to be fetched.
  private func settled(_ id: PictureID) -> Outcome? {
    state.withLock { state in
      if state.kept[id] != nil { return .fetched }
      if let refusal = state.refusals[id], refusal.rest > now() { return .refused(refusal) }
      return nil
    }
  }

  /// Ends the transfers under way, and adds the finished pictures to the cache.
  ///
  /// Do not use this object afterwards.
  func stop() {
    pull.stop()
    remote.sync { admit() }
    room.leave()
  }

  private func refuse(_ id: PictureID, _ refusal: PicturePull.Refusal) {
    state.withLock { state in
      if state.refusals.count >= Self.mostRefusals {
        state.refusals = state.refusals.filter { $0.value.row != nil }
      }
      state.refusals[id] = refusal
      state.counts.failed += 1
    }
    tryLater(after: .milliseconds(0))
  }

  /// Moves the pictures of the working folder into the cache, if no run holds the cache's lock.
  ///
  /// Runs on the queue `remote`.
  private func admit() {
    let entries = state.withLock { Array($0.kept.values) + $0.refusals.values.compactMap(\.row) }
    guard !entries.isEmpty else { return }
    do throws(LarderError) {
      _ = try admission.admit(entries)
      state.withLock { state in
        for entry in entries {
          // Meanwhile the picture may have been fetched, or have failed once more.
          if state.kept[entry.id] == entry { state.kept[entry.id] = nil }
          if state.refusals[entry.id]?.row == entry { state.refusals[entry.id]?.row = nil }
        }
      }
    } catch {
      // A run holds the cache's lock, or the cache cannot be written. Serve the pictures from the working folder until
      // the next attempt.
      tryLater(after: Self.pause)
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

/// The numbers of fetched pictures and their bytes, for `/metrics`.
struct PullCounts: Sendable {
  var fetched = 0
  var failed = 0
  var bytes = 0
  var underWay = 0
  /// The number of pictures in the working folder.
  var unkept = 0
}
