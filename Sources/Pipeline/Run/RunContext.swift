import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// The state that all stages of one run share: source, destination, and options.
struct RunContext: Sendable {
  let catalog: CatalogFile
  let entry: CatalogEntry
  let options: SyncOptions
  let transport: any Fetching
  /// The environment's part of the catalog's URLs.
  let variables: URLSecrets
  let layout: CacheLayout
  let index: Index
  let store: PictureStore
  let progress: ProgressMeter
  /// Decodes, one body after the other; the transfer thread has no time for that.
  let work: DispatchQueue
  /// Starts requests that are due.
  ///
  /// A queue beside ``work``, so that the pictures of the first section are requested while the other sections are
  /// still being decoded.
  let starts: DispatchQueue
  /// The wall clock.
  let now: @Sendable () -> UnixTime
  /// The origins that the user named: decides about every URL that the run fetches.
  let named: NamedOrigins
  /// The catalog file's headers with the environment's values, for the origins of base and sections only.
  let credentials: Headers
  /// The secrets that are hidden in every message, even where an origin repeats them.
  let secrets: RunSecrets
  /// The traits of requests for pictures.
  let pictureTraits: PictureTraits
  /// Decides which documents are requested.
  let needs: RevalidationPolicy
  /// Where documents come from.
  let documents: DocumentOrigin
  let failures: FailureLog
  /// Where newest URLs are noted; nil where a picture's identity is its URL.
  var newestURLs: NewestURLs?
  /// Whether the run was ended early, or its deadline has come: nothing more is decoded.
  let isOver: @Sendable () -> Bool
  /// The base of relative references in local documents: the catalog's base.
  let localBase: WebURL?
}

/// Gathers failures of any stage, on any thread: of each stage the first thousand in full, by URL, and counts of the
/// rest.
final class FailureLog: Sendable {
  private struct Entries {
    var stages: [SyncReport.Stage: FailureRows] = [:]
    var unfinished: [SyncReport.Unfinished] = []
    var attempts = 0
    var cacheFailure: LarderError?

    mutating func add(_ failure: SyncReport.Failure, _ picture: PictureID? = nil, most: Int) {
      let row = FailureRows.Row(picture: picture, failure: failure)
      stages[failure.stage, default: FailureRows()].add(row, most: most)
    }

    mutating func add(
      _ stage: SyncReport.Stage,
      _ id: String?,
      _ failure: TransferFailure,
      _ picture: PictureID? = nil,
      most: Int
    ) {
      attempts += failure.attempts
      if failure.endedWithRun {
        unfinished.append(SyncReport.Unfinished(stage: stage, url: failure.url))
      } else {
        add(SyncReport.Failure(stage, id, failure), picture, most: most)
      }
    }
  }

  private let state = Mutex(Entries())
  private let most: Int

  /// An empty log.
  ///
  /// - Parameter most: How many failures of a stage are kept in full.
  init(most: Int = SyncReport.mostFailures) {
    self.most = most
  }

  /// Notes a failed transfer, as unfinished when it was the run that ended first.
  func note(_ stage: SyncReport.Stage, id: String?, _ failure: TransferFailure) {
    state.withLock { $0.add(stage, id, failure, most: most) }
  }

  /// Notes a failed picture; the item that shows it is looked up at the end.
  func note(_ picture: PictureID, _ failure: TransferFailure) {
    state.withLock { $0.add(.picture, nil, failure, picture, most: most) }
  }

  /// Notes a picture that another run failed to have, and counted the requests for.
  func note(_ picture: PictureID, _ failure: SyncReport.Failure) {
    state.withLock { $0.add(failure, picture, most: most) }
  }

  /// The pictures that failed, with why, as far as they are kept in full.
  var pictureFailures: [PictureID: SyncReport.Failure] {
    let rows = state.withLock { $0.stages[.picture]?.first(most).rows ?? [] }
    let pairs = rows.compactMap { row in row.picture.map { ($0, row.failure) } }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Notes a failure that had no transfer.
  func note(_ failure: SyncReport.Failure) {
    state.withLock { $0.add(failure, most: most) }
  }

  /// Notes a body that came and could not be read.
  func note(
    undecodable stage: SyncReport.Stage,
    id: String?,
    _ source: DocumentSource,
    _ words: String,
    remedy: SyncReport.Remedy? = nil
  ) {
    note(
      SyncReport.Failure(
        stage: stage,
        id: id,
        url: source.redacted,
        reason: FailureReason.undecodable.rawValue,
        attempts: 1,
        detail: words,
        remedy: remedy
      )
    )
  }

  /// Counts the requests of a transfer that is none of the failures: it ended well, or its failure is an answer,
  /// such as that there is no such detail.
  func count(attempts: Int) {
    state.withLock { $0.attempts += attempts }
  }

  /// Notes that the cache itself failed; the first such failure is the run's.
  func note(_ error: LarderError) {
    state.withLock { $0.cacheFailure = $0.cacheFailure ?? error }
  }

  /// The first failure of the cache itself.
  var cacheFailure: LarderError? { state.withLock { $0.cacheFailure } }

  /// How many requests were made.
  var requests: Int { state.withLock { $0.attempts } }

  /// The work that was not done, by URL.
  var unfinished: [SyncReport.Unfinished] {
    state.withLock { $0.unfinished }.sorted { ($0.stage.order, $0.url) < ($1.stage.order, $1.url) }
  }

  /// The failures: sections, details, pictures, each by URL, the first thousand of each stage.
  ///
  /// - Parameter owners: the item that shows a picture.
  /// - Returns: The failures, with the items that show failed pictures, and by stage and reason how many are left out.
  func all(
    owners: [PictureID: String]
  ) -> (failures: [SyncReport.Failure], omitted: SyncReport.FailureCounts) {
    let stages = state.withLock { $0.stages }.mapValues { $0.first(most) }
    let failures = SyncReport.Stage.allCases.flatMap { stage in
      (stages[stage]?.rows ?? []).map { row in
        var failure = row.failure
        if let picture = row.picture { failure.id = owners[picture] }
        return failure
      }
    }
    return (failures, stages.mapValues(\.omitted).filter { !$1.isEmpty })
  }
}

/// Failures of one stage: the first thousand by URL, and counts of the others by their reasons.
private struct FailureRows {
  struct Row {
    var picture: PictureID?
    var failure: SyncReport.Failure
  }

  private(set) var rows: [Row] = []
  private(set) var omitted: [String: Int] = [:]

  mutating func add(_ row: Row, most: Int) {
    rows.append(row)
    // Seldom, for each time sorts them.
    if rows.count / 2 >= most { self = first(most) }
  }

  /// The first so many; the others are counted.
  func first(_ most: Int) -> FailureRows {
    var first = self
    first.rows.sort { $0.failure.url < $1.failure.url }
    for row in first.rows.dropFirst(most) {
      first.omitted[row.failure.reason, default: 0] += 1
    }
    first.rows.removeLast(max(0, rows.count - most))
    return first
  }
}

extension SyncReport.Stage {
  /// Sections first, pictures last.
  var order: Int {
    switch self {
    case .section: 0
    case .detail: 1
    case .picture: 2
    }
  }
}

extension SyncReport.Failure {
  init(_ stage: SyncReport.Stage, _ id: String?, _ failure: TransferFailure) {
    self.init(
      stage: stage,
      id: id,
      url: failure.url,
      reason: failure.reason.rawValue,
      attempts: failure.attempts,
      detail: failure.detail.isEmpty ? nil : failure.detail,
      remedy: failure.isHostOfDataOnly ? .allowPrivateAddresses : nil
    )
  }
}

extension TransferFailure {
  /// Whether the run ended first, so that the failure is no statement about the requested resource.
  var endedWithRun: Bool {
    [.cancelled, .deadline, .bytesLimit, .keepFree].contains(reason)
  }
}
