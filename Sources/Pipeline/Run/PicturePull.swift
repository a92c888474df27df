import Cache
import Catalog
import Synchronization
import Transport

/// Fetches pictures that somebody asks a server for, each as a sync would: by ``PictureListRun``, with its rules for hosts,
/// sizes, types and caching.
///
/// They go into a room beside the cache; ``PictureAdmission`` takes them in.
package final class PicturePull: Sendable {
  /// What came of a picture.
  package enum Outcome: Sendable {
    /// It lies in the room, with the row that it is to have.
    case fetched(PictureEntry)
    /// It could not be had.
    case failed(Refusal)
  }

  /// Why a picture could not be had.
  package struct Refusal: Error, Sendable {
    /// The stable word for why.
    package var reason: String
    /// Whether its origin is likely to say the same next time.
    package var isLasting: Bool
    /// Until when it is not to be asked again.
    package var rest: UnixTime
    /// The row to be kept; nil when nothing was asked.
    package var row: PictureEntry?
  }

  private let catalog: CatalogFile
  private let room: String
  private let transport: any Fetching
  private let reserve: DiskReserve?
  private let environment: [String: String]
  private let options: SyncOptions
  private let now: @Sendable () -> UnixTime
  private let count = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)

  /// How long a failure stands that may pass, and one that is likely to stay, in seconds.
  private static let (shortRest, longRest): (Int64, Int64) = (10, 60)

  /// Prepares to fetch.
  ///
  /// - Parameters:
  ///   - catalog: The catalog file whose pictures they are; it says which hosts the user named.
  ///   - room: Where they go: a folder that nobody else uses.
  ///   - options: What else was asked.
  ///   - transport: How to fetch.
  ///   - reserve: The room that the disk is to keep; nil lets it fill.
  ///   - environment: Where `${NAME}` in the catalog's URLs comes from.
  ///   - now: The wall clock.
  package init(
    _ catalog: CatalogFile,
    room: String,
    options: SyncOptions = SyncOptions(),
    transport: any Fetching,
    reserve: DiskReserve? = nil,
    environment: [String: String],
    now: @escaping @Sendable () -> UnixTime
  ) {
    (self.catalog, self.room, self.options) = (catalog, room, options)
    (self.transport, self.environment, self.now) = (transport, environment, now)
    self.reserve = reserve
  }

  /// Fetches nothing more, and ends what is under way.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    transport.cancelAll()
  }

  /// Fetches a picture; blocks until it is on the device or has failed.
  ///
  /// - Parameters:
  ///   - picture: Which, and where it is.
  ///   - known: What the cache knew of it.
  /// - Returns: What came of it.
  package func fetch(_ picture: PictureEntry, known: PictureEntry?) -> Outcome {
    let before = known ?? picture
    if let known, !known.isHeld, let reason = known.failure,
      case .rest(let end) = known.freshness(at: now(), for: nil, onlyDue: true)
    {
      return .failed(Refusal(reason: reason, isLasting: true, rest: end))
    }
    guard !isStopped.load(ordering: .relaxed) else { return failed("cancelled", nil) }
    guard reserve?.isKept ?? true else { return failed(FailureReason.keepFree.rawValue, nil) }
    let run = PictureListRun(
      catalog,
      cache: room,
      // What begins with one's own name is removed, so none may begin with another's.
      room: "pull-\(count.add(1, ordering: .relaxed).newValue).",
      options: options,
      transport: transport,
      environment: environment,
      now: now
    )
    do throws(SyncError) {
      let result = try run.run([before])
      guard let picture = result.pictures.first else { return failed("cancelled", nil) }
      if picture.entry.isHeld, picture.failure == nil { return .fetched(picture.entry) }
      let isAnswered = picture.end != .unfinished
      return failed(picture.failure?.reason ?? "cancelled", isAnswered ? picture.entry : nil)
    } catch {
      return failed(FailureReason.disk.rawValue, nil)
    }
  }

  private func failed(_ reason: String, _ row: PictureEntry?) -> Outcome {
    let isLasting = FailureReason(rawValue: reason).isLasting
    let rest = now() + (isLasting ? Self.longRest : Self.shortRest)
    return .failed(
      Refusal(reason: reason, isLasting: isLasting, rest: max(rest, row?.expiry ?? rest), row: row)
    )
  }
}
