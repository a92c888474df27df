import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// The values that all stages of one run share, such as the catalog, the cache, the transport and the options.
///
/// The stages fetch sections, details and pictures. A section is a list of items. A detail is the document about one
/// item, with more data than the item has in a section.
struct RunContext: Sendable {
  /// The checked input of the run.
  let request: RunRequest
  let entry: CatalogEntry
  /// The run's number.
  let number: RunID
  let transport: any Fetching
  let layout: CacheLayout
  let index: Index
  let store: PictureStore
  let progress: ProgressMeter
  /// The queue that decodes responses, one after the other.
  ///
  /// The transport's thread does not decode, because that would delay other transfers.
  let work: DispatchQueue
  /// The queue that starts requests.
  ///
  /// It is separate from ``work``, so that the pictures of the first section are requested while other sections are
  /// still being decoded.
  let starts: DispatchQueue
  /// Decides which sections and details are requested, and which requests are conditional.
  let needs: RevalidationPolicy
  let failures: FailureLog
  /// Whether the run was ended early.
  let hasStopped: @Sendable () -> Bool
  /// Whether the run was ended early or its deadline has passed.
  ///
  /// If so, no further response is decoded.
  let isOver: @Sendable () -> Bool

  var catalog: CatalogFile { request.catalog }
  var options: SyncOptions { request.options }
  var now: @Sendable () -> UnixTime { request.now }
  var named: NamedOrigins { request.named }
  var credentials: Headers { request.credentials }
  var secrets: RunSecrets { request.secrets }
  /// The values of `${NAME}` in the URLs of the catalog file.
  var variables: URLSecrets { request.addresses.variables }
  /// The catalog file's `base`, if it is a URL: the base of relative picture URLs, and of all relative URLs in local
  /// documents.
  var localBase: WebURL? { request.addresses.localBase }

  /// Records a run that starts now in the index, and makes its state.
  ///
  /// - Parameters:
  ///   - request: The checked input of the run.
  ///   - run: The run.
  ///   - layout: The cache.
  ///   - index: The index to read and write.
  ///   - partials: The unfinished downloads of earlier runs.
  ///   - failures: The log for the failures of all stages.
  /// - Throws: ``LarderError`` when the index cannot be written.
  init(
    _ request: RunRequest,
    of run: SyncRun,
    _ layout: CacheLayout,
    _ index: Index,
    partials: PartialBodies? = nil,
    failures: FailureLog = FailureLog()
  ) throws(LarderError) {
    let (catalog, transport) = (request.catalog, run.transport)
    let hasStopped = { @Sendable in transport.hasStopped }
    let (deadline, now) = (request.options.deadline, request.now)
    let isOver = { @Sendable in
      hasStopped() || deadline.map { now().seconds >= $0.seconds } ?? false
    }
    self.request = request
    entry = try index.catalog(named: catalog.name, currency: catalog.currency)
    number = try index.beginRun(catalog: entry.id, at: now())
    self.transport = request.transport(over: transport, isOver: isOver)
    self.layout = layout
    self.index = index
    store = PictureStore(layout, index: index, disk: run.disk, run: number, partials: partials)
    progress = run.progress
    work = DispatchQueue(label: "larder.work")
    starts = DispatchQueue(label: "larder.starts")
    needs = RevalidationPolicy(request, over: self.transport)
    self.failures = failures
    self.hasStopped = hasStopped
    self.isOver = isOver
  }
}

/// The failures of all stages.
///
/// The log keeps the first thousand failures of each stage in the order of their URLs, and counts the rest by reason.
/// It keeps a thousand unfinished requests of each stage, and counts the rest.
/// It can be used on any thread.
final class FailureLog: Sendable {
  private struct Entries {
    var stages: [SyncReport.Stage: FailureRows] = [:]
    var unfinished: [SyncReport.Stage: [SyncReport.Unfinished]] = [:]
    var unfinishedOmitted: [SyncReport.Stage: Int] = [:]
    var limit: FailureReason?
    var attempts = 0
    var cacheFailure: LarderError?

    mutating func add(_ failure: SyncReport.Failure, _ picture: PictureID?, most: Int) {
      let row = FailureRows.Row(picture: picture, failure: failure)
      stages[failure.stage, default: FailureRows()].add(row, most: most)
    }
  }

  private let state = Mutex(Entries())
  private let most: Int

  /// An empty log.
  ///
  /// - Parameter most: The number of failures of each stage that are kept in full.
  init(most: Int = SyncReport.mostFailures) {
    self.most = most
  }

  /// Records a failed transfer, as unfinished if it failed because the run ended.
  ///
  /// - Parameters:
  ///   - stage: The stage that made the request.
  ///   - id: The section's key or the item's id.
  ///   - failure: The failure.
  ///   - picture: The picture, if the request was for one; the item that shows it is looked up at the end of the run.
  func note(
    _ stage: SyncReport.Stage,
    id: String?,
    _ failure: TransferFailure,
    of picture: PictureID? = nil
  ) {
    state.withLock { state in
      state.attempts += failure.attempts
      if failure.endedWithRun {
        if failure.reason != .cancelled { state.limit = failure.reason }
        if state.unfinished[stage]?.count ?? 0 < most {
          state.unfinished[stage, default: []].append(.init(stage: stage, url: failure.url))
        } else {
          state.unfinishedOmitted[stage, default: 0] += 1
        }
      } else {
        state.add(SyncReport.Failure(stage, id, failure), picture, most: most)
      }
    }
  }

  /// Counts requests that were never sent, because the run ended.
  func note(unfinished stage: SyncReport.Stage, _ count: Int) {
    state.withLock { $0.unfinishedOmitted[stage, default: 0] += count }
  }

  /// The failures of pictures, as far as they are kept in full.
  var pictureFailures: [PictureID: SyncReport.Failure] {
    let rows = state.withLock { $0.stages[.picture]?.first(most).rows ?? [] }
    let pairs = rows.compactMap { row in row.picture.map { ($0, row.failure) } }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Records a failure of data that was received, for example because it cannot be read.
  ///
  /// Its requests are counted elsewhere.
  ///
  /// - Parameters:
  ///   - stage: The stage that made the requests.
  ///   - id: The section's key or the item's id.
  ///   - url: The URL or path without secrets.
  ///   - reason: The reason.
  ///   - attempts: The number of requests.
  ///   - words: The explanation.
  ///   - remedy: An option of the next sync that would help.
  func note(
    _ stage: SyncReport.Stage,
    id: String?,
    _ url: String,
    for reason: FailureReason = .undecodable,
    attempts: Int = 1,
    _ words: String,
    remedy: SyncReport.Remedy? = nil
  ) {
    let failure = SyncReport.Failure(
      stage: stage,
      id: id,
      url: url,
      reason: reason.rawValue,
      attempts: attempts,
      detail: words,
      remedy: remedy
    )
    state.withLock { $0.add(failure, nil, most: most) }
  }

  /// Counts the requests of a transfer that is not recorded as a failure.
  ///
  /// The transfer was a success, or its status was an expected one, such as 404 for a detail.
  func count(attempts: Int) {
    state.withLock { $0.attempts += attempts }
  }

  /// Records an error of the cache.
  ///
  /// The first such error ends the run.
  func note(_ error: LarderError) {
    state.withLock { $0.cacheFailure = $0.cacheFailure ?? error }
  }

  /// Calls `work`, and records its error.
  func noting(_ work: () throws(LarderError) -> Void) {
    do throws(LarderError) { try work() } catch { note(error) }
  }

  /// The first error of the cache.
  var cacheFailure: LarderError? { state.withLock { $0.cacheFailure } }

  /// The number of requests so far, including retries.
  var requests: Int { state.withLock { $0.attempts } }

  /// The limit that ended the run, such as `deadline`; nil if none did.
  var limit: FailureReason? { state.withLock { $0.limit } }

  /// The unfinished requests that are kept, sorted by stage and URL, and the numbers of the others.
  var unfinished: (listed: [SyncReport.Unfinished], omitted: [SyncReport.Stage: Int]) {
    let (listed, omitted) = state.withLock { ($0.unfinished, $0.unfinishedOmitted) }
    let sorted = SyncReport.Stage.allCases.flatMap { stage in
      (listed[stage] ?? []).sorted { $0.url < $1.url }
    }
    return (sorted, omitted)
  }

  /// The failures, sorted by stage and URL.
  ///
  /// - Parameter owners: The id of an item that shows the picture, for each failed picture.
  /// - Returns: The failures that are kept in full, and the number of the others by stage and reason.
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

/// The failures of one stage: rows for the first ones in the order of their URLs, and counts of the others by reason.
private struct FailureRows {
  struct Row {
    var picture: PictureID?
    var failure: SyncReport.Failure
  }

  private(set) var rows: [Row] = []
  private(set) var omitted: [String: Int] = [:]

  mutating func add(_ row: Row, most: Int) {
    rows.append(row)
    // The rows are trimmed only when they reach twice the limit, because each trim sorts them.
    if rows.count / 2 >= most { self = first(most) }
  }

  /// Keeps the first `most` rows in the order of their URLs, and adds the others to the counts.
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
  /// Whether the request failed because the run ended.
  ///
  /// Such a failure says nothing about the document or picture.
  var endedWithRun: Bool {
    [.cancelled, .deadline, .bytesLimit, .keepFree].contains(reason)
  }
}
