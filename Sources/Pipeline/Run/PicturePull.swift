import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// The pictures of a list that a run has fetched.
package struct FetchedList: Sendable {
  /// The pictures, in the list's order.
  package var pictures: [SettledPicture] = []
  /// The number of pictures that were not requested, or not completely received, before the run ended.
  package var unfinished = 0
  /// The number of requests.
  package var requests: Int
}

extension SyncRun {
  /// Fetches a list of pictures into the cache, and waits until each is on disk or has failed.
  ///
  /// A shard is such a list: one machine's part of a large sync. The server also fetches pictures on demand this way.
  /// Several runs can fetch lists into one cache at the same time.
  ///
  /// The run takes no lock and does not write the cache's index. It only puts files into place, by renaming them, and
  /// returns the rows for the index. Another run later writes these rows.
  ///
  /// - Parameters:
  ///   - known: The rows of the pictures in the cache's index. No URL is allowed to occur twice.
  ///   - room: The name of the run's work folder, unique among the runs that use the cache.
  /// - Returns: The results.
  /// - Throws: ``LarderError``, or ``CatalogError`` when the catalog file is wrong.
  package func fetch(_ known: [PictureEntry], in room: String) throws -> FetchedList {
    defer { CacheLayout.removeWorkFolders(of: cache, prefix: room) }
    do {
      return try perform(known, in: room)
    } catch {
      throw LarderError.ending(error, "fetch the pictures of \(catalog.name)")
    }
  }

  private func perform(_ known: [PictureEntry], in room: String) throws -> FetchedList {
    let request = try request()
    let layout = try CacheLayout(creating: cache, workFolder: room, remote: remote)
    let index = try Index()
    let strays = try layout.recoverShard(known, index)
    let context = try RunContext(
      request,
      of: self,
      layout,
      index,
      failures: FailureLog(most: .max)
    )
    let ends = Mutex<[PictureID: FetchedPicture]>([:])
    let stage = try PictureStage(
      context,
      strays: strays,
      ended: { id, end in ends.withLock { $0[id] = end } },
      stored: { _ in }
    )
    try stage.add(.pictures(known.map(\.id)))
    stage.group.wait()
    context.store.flush()
    if let failure = context.failures.cacheFailure ?? context.store.failure { throw failure }
    var results = ends.withLock { $0 }
    for id in try stage.due.untaken() { results[id] = .unfinished }
    return try list(known, results, context)
  }

  private func list(
    _ known: [PictureEntry],
    _ ends: [PictureID: FetchedPicture],
    _ context: RunContext
  ) throws(LarderError) -> FetchedList {
    let rows = try context.index.pictures(known.map(\.id))
    let failures = context.failures.pictureFailures
    var list = FetchedList(requests: context.failures.requests)
    for entry in known {
      let failure = failures[entry.id]
      // A picture without a result was not requested, because it is fresh or its URL cannot be fetched.
      let end = ends[entry.id] ?? (failure == nil ? .excused : .failed)
      if end == .unfinished { list.unfinished += 1 }
      let row = rows[entry.id] ?? entry
      list.pictures.append(SettledPicture(entry: row, end: end, failure: failure))
    }
    return list
  }
}

/// The result of a run that fetches a list of pictures, for one picture.
package struct SettledPicture: Sendable, Equatable {
  /// The picture's row, to be written to the index.
  package var entry: PictureEntry
  /// The result of the picture's request.
  package var end: FetchedPicture
  /// The failure, if any.
  package var failure: SyncReport.Failure?
}

/// Fetches a picture when a client requests it from the server and the cache does not have it.
///
/// Each picture is fetched as a list of its own, so the rules for hosts, sizes, types and caching are those of a sync.
///
/// The files are put into a work folder beside the cache, or into the object store that has the cache's pictures.
/// ``PictureAdmission`` then moves them into the cache, or writes their rows alone.
package final class PicturePull: Sendable {
  /// The reason why a picture could not be fetched.
  package struct Refusal: Error, Sendable {
    /// A stable code for the reason, such as `http-404`.
    package var reason: String
    /// Whether the next request is likely to fail for the same reason.
    package var isLasting: Bool
    /// The time before which the picture should not be requested again.
    package var rest: UnixTime
    /// The row to write to the index; nil if no request was made.
    package var row: PictureEntry?
  }

  private let run: SyncRun
  private let reserve: DiskReserve?
  private let count = Atomic<Int>(0)

  /// The number of seconds to wait before another request: after a temporary failure, and after a lasting one.
  private static let (shortRest, longRest): (Int64, Int64) = (10, 60)

  /// Prepares to fetch pictures of a catalog.
  ///
  /// - Parameters:
  ///   - run: The run that fetches them. The hosts of its catalog count as named by the user. Its cache is the work
  ///     folder, which nobody else is allowed to use.
  ///   - reserve: The disk space to leave free. Pass nil to use the whole disk.
  package init(_ run: SyncRun, reserve: DiskReserve? = nil) {
    (self.run, self.reserve) = (run, reserve)
  }

  /// Cancels the current transfers, and all later ones.
  package func stop() { run.stop() }

  /// Fetches a picture, and blocks until it is on disk or has failed.
  ///
  /// - Parameters:
  ///   - picture: A row with the picture's id and URL.
  ///   - known: The picture's row in the cache's index, if any.
  /// - Returns: The row of the picture, which is in the work folder now. It is to be written to the index.
  /// - Throws: ``Refusal`` if the picture could not be fetched.
  package func fetch(
    _ picture: PictureEntry,
    known: PictureEntry?
  ) throws(Refusal) -> PictureEntry {
    let before = known ?? picture
    if let known, !known.isHeld, let reason = known.failure,
      case .rest(let end) = known.freshness(at: run.now(), for: nil, onlyDue: true)
    {
      throw Refusal(reason: reason, isLasting: true, rest: end)
    }
    guard !run.hasStopped else { throw refusal("cancelled", nil) }
    guard reserve?.isKept ?? true else { throw refusal(FailureReason.keepFree.rawValue, nil) }
    // At its end, a run removes every work folder whose name begins with its own name. The dot keeps the run `pull-1.`
    // from removing `pull-12.`.
    let room = "pull-\(count.add(1, ordering: .relaxed).newValue)."
    guard let result = try? run.fetch([before], in: room) else {
      throw refusal(FailureReason.disk.rawValue, nil)
    }
    guard let picture = result.pictures.first else { throw refusal("cancelled", nil) }
    if picture.entry.isHeld, picture.failure == nil { return picture.entry }
    let isAnswered = picture.end != .unfinished
    throw refusal(picture.failure?.reason ?? "cancelled", isAnswered ? picture.entry : nil)
  }

  private func refusal(_ reason: String, _ row: PictureEntry?) -> Refusal {
    let isLasting = FailureReason(rawValue: reason).isLasting
    let rest = run.now() + (isLasting ? Self.longRest : Self.shortRest)
    let end = max(rest, row?.expiry ?? rest)
    return Refusal(reason: reason, isLasting: isLasting, rest: end, row: row)
  }
}
