import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// The state that all stages of one run share: catalog, cache, transport and options.
struct RunContext: Sendable {
  let catalog: CatalogFile
  let entry: CatalogEntry
  let options: SyncOptions
  let transport: any Fetching
  /// The values of `${NAME}` in the catalog's URLs.
  let variables: URLSecrets
  let layout: CacheLayout
  let index: Index
  let store: PictureStore
  let progress: ProgressMeter
  /// The queue that decodes bodies, one after the other, because the transfer thread must not be delayed.
  let work: DispatchQueue
  /// The queue that starts requests.
  ///
  /// Separate from ``work``, so that the pictures of the first section are requested while the other sections are still
  /// being decoded.
  let starts: DispatchQueue
  /// The clock.
  let now: @Sendable () -> UnixTime
  /// The origins that the user named; they decide which headers a request gets, and whether its host may have a private
  /// address.
  let named: NamedOrigins
  /// The catalog file's headers with their variables expanded, for the origins of base and sections only.
  let credentials: Headers
  /// The secrets to redact in every message, in case an origin repeats one.
  let secrets: RunSecrets
  /// The header fields and credentials of requests for pictures that may select the response.
  let pictureTraits: PictureTraits
  /// Decides which documents are requested.
  let needs: RevalidationPolicy
  /// The source of documents.
  let documents: DocumentOrigin
  let failures: FailureLog
  /// Records the latest URLs of pictures; nil if a picture's identity is its whole URL.
  let newestURLs: NewestURLs?
  /// Whether the run was ended early.
  let hasStopped: @Sendable () -> Bool
  /// Whether the run was ended early or its deadline has passed; if so, no further body is decoded.
  let isOver: @Sendable () -> Bool
  /// The catalog file's `base`, if it is a URL: the base of relative picture URLs, and of all relative URLs in local
  /// documents.
  let localBase: WebURL?

  /// Makes the state of a run that starts now.
  ///
  /// - Parameters:
  ///   - request: The checked input of the run.
  ///   - entry: The catalog's row in the index.
  ///   - transport: The transport that sends the requests.
  ///   - layout: The cache.
  ///   - index: The index to read and write.
  ///   - store: The store of the pictures.
  ///   - progress: The progress meter of the run.
  ///   - documents: The source of documents.
  ///   - failures: The log for the failures of all stages.
  ///   - newestURLs: Records the latest URLs of pictures; nil if a picture's identity is its whole URL.
  ///   - hasStopped: Whether the run was ended early.
  init(
    _ request: RunRequest,
    _ entry: CatalogEntry,
    over transport: any Fetching,
    _ layout: CacheLayout,
    _ index: Index,
    _ store: PictureStore,
    progress: ProgressMeter,
    documents: DocumentOrigin = .origins,
    failures: FailureLog,
    newestURLs: NewestURLs? = nil,
    hasStopped: @escaping @Sendable () -> Bool
  ) {
    let fetching = request.transport(over: transport, isStopped: hasStopped)
    let (deadline, now) = (request.options.deadline, request.now)
    catalog = request.catalog
    self.entry = entry
    options = request.options
    self.transport = fetching
    variables = request.addresses.variables
    self.layout = layout
    self.index = index
    self.store = store
    self.progress = progress
    work = DispatchQueue(label: "larder.work")
    starts = DispatchQueue(label: "larder.starts")
    self.now = now
    named = request.named
    credentials = request.credentials
    secrets = request.secrets
    pictureTraits = PictureTraits(from: request.named, over: transport)
    needs = request.needs(over: fetching)
    self.documents = documents
    self.failures = failures
    self.newestURLs = newestURLs
    self.hasStopped = hasStopped
    isOver = { hasStopped() || deadline.map { now().seconds >= $0.seconds } ?? false }
    localBase = request.addresses.localBase
  }
}

/// Collects failures of all stages, on any thread: the first thousand of each stage, by URL, and counts of the rest.
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
  /// - Parameter most: The number of failures of each stage to keep in full.
  init(most: Int = SyncReport.mostFailures) {
    self.most = most
  }

  /// Records a failed transfer, as unfinished if it failed because the run ended.
  func note(_ stage: SyncReport.Stage, id: String?, _ failure: TransferFailure) {
    state.withLock { $0.add(stage, id, failure, most: most) }
  }

  /// Records a failed picture; the item that shows it is looked up at the end.
  func note(_ picture: PictureID, _ failure: TransferFailure) {
    state.withLock { $0.add(.picture, nil, failure, picture, most: most) }
  }

  /// Records a picture that failed in another run, which has already counted the requests.
  func note(_ picture: PictureID, _ failure: SyncReport.Failure) {
    state.withLock { $0.add(failure, picture, most: most) }
  }

  /// The failed pictures that are kept in full.
  var pictureFailures: [PictureID: SyncReport.Failure] {
    let rows = state.withLock { $0.stages[.picture]?.first(most).rows ?? [] }
    let pairs = rows.compactMap { row in row.picture.map { ($0, row.failure) } }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Records a failure that was not caused by a transfer.
  func note(_ failure: SyncReport.Failure) {
    state.withLock { $0.add(failure, most: most) }
  }

  /// Records a body that was received but could not be read.
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

  /// Counts the requests of a transfer that is not recorded as a failure: a success, or an expected answer such as a
  /// 404 for a detail.
  func count(attempts: Int) {
    state.withLock { $0.attempts += attempts }
  }

  /// Records an error of the cache itself; the first one ends the run.
  func note(_ error: LarderError) {
    state.withLock { $0.cacheFailure = $0.cacheFailure ?? error }
  }

  /// The first error of the cache itself.
  var cacheFailure: LarderError? { state.withLock { $0.cacheFailure } }

  /// The number of requests.
  var requests: Int { state.withLock { $0.attempts } }

  /// The unfinished requests, sorted by stage and URL.
  var unfinished: [SyncReport.Unfinished] {
    state.withLock { $0.unfinished }.sorted { ($0.stage.order, $0.url) < ($1.stage.order, $1.url) }
  }

  /// The failures, sorted by stage and URL, with the first thousand of each stage in full.
  ///
  /// - Parameter owners: For each failed picture, an item that shows it.
  /// - Returns: The failures, and the number of omitted ones by stage and reason.
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

/// The failures of one stage: the first ones by URL, and counts of the others by reason.
private struct FailureRows {
  struct Row {
    var picture: PictureID?
    var failure: SyncReport.Failure
  }

  private(set) var rows: [Row] = []
  private(set) var omitted: [String: Int] = [:]

  mutating func add(_ row: Row, most: Int) {
    rows.append(row)
    // Trims only at twice the limit, because each trim sorts the rows.
    if rows.count / 2 >= most { self = first(most) }
  }

  /// The first `most` rows by URL; the others are added to the counts.
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
  /// The stage's position in reports: sections first, pictures last.
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
  /// Whether the request failed because the run ended, so that the failure says nothing about the resource.
  var endedWithRun: Bool {
    [.cancelled, .deadline, .bytesLimit, .keepFree].contains(reason)
  }
}
