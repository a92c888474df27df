import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// What all stages of one run share: where to fetch, where to keep, and what was asked.
struct RunContext: Sendable {
  let catalog: CatalogFile
  let entry: CatalogEntry
  let options: SyncOptions
  let transport: any Fetching & URLParsing
  /// The environment's part of the catalog's URLs.
  let variables: URLVariables
  let layout: CacheLayout
  let index: Index
  let store: PictureStore
  let progress: SyncProgress
  /// Decodes, one body after the other; the transfer thread has no time for that.
  let work: DispatchQueue
  /// Starts requests that are due.
  ///
  /// A queue beside ``work``, so that the pictures of the first section are requested while the other sections are
  /// still being decoded.
  let starts: DispatchQueue
  /// The wall clock.
  let now: @Sendable () -> UnixTime
  /// What the user named: judges every URL that the run fetches.
  let named: NamedOrigins
  /// The catalog file's headers with the environment's values, for the origins of base and sections only.
  let credentials: Headers
  /// The secrets that are hidden in every message, even where an origin repeats them.
  let secrets: RunSecrets
  /// What requests for pictures send.
  let pictureTraits: PictureTraits
  /// What decides which documents are asked for.
  let needs: DocumentNeeds
  let failures: FailureLog
  /// Where newest URLs are noted; nil where a picture's identity is its URL.
  var newestURLs: NewestURLs?
  /// What relative references in local documents are relative to: the catalog's base.
  let localBase: WebURL?
}

/// Gathers what went wrong in any stage, on any thread.
final class FailureLog: Sendable {
  private struct State {
    var failures: [SyncReport.Failure] = []
    var pictures: [(picture: PictureID, failure: SyncReport.Failure)] = []
    var unfinished: [SyncReport.Unfinished] = []
    var attempts = 0
    var cacheFailure: CacheError?
  }

  private let state = Mutex(State())

  /// Notes a failed transfer, as unfinished when it was the run that ended first.
  func note(_ stage: SyncReport.Stage, id: String?, _ failure: TransferFailure) {
    state.withLock { state in
      state.attempts += failure.attempts
      if failure.endedWithRun {
        state.unfinished.append(SyncReport.Unfinished(stage: stage, url: failure.url))
      } else {
        state.failures.append(SyncReport.Failure(stage, id, failure))
      }
    }
  }

  /// Notes a failed picture; the item that shows it is looked up at the end.
  func note(_ picture: PictureID, _ failure: TransferFailure) {
    state.withLock { state in
      state.attempts += failure.attempts
      if failure.endedWithRun {
        state.unfinished.append(SyncReport.Unfinished(stage: .image, url: failure.url))
      } else {
        state.pictures.append((picture, SyncReport.Failure(.image, nil, failure)))
      }
    }
  }

  /// Notes a picture that another run failed to have, and counted the requests for.
  func note(_ picture: PictureID, _ failure: SyncReport.Failure) {
    state.withLock { $0.pictures.append((picture, failure)) }
  }

  /// The pictures that failed, with why.
  var pictureFailures: [PictureID: SyncReport.Failure] {
    state.withLock {
      Dictionary($0.pictures.map { ($0.picture, $0.failure) }) { first, _ in first }
    }
  }

  /// Notes a failure that had no transfer.
  func note(_ failure: SyncReport.Failure) {
    state.withLock { $0.failures.append(failure) }
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
  func note(_ error: CacheError) {
    state.withLock { $0.cacheFailure = $0.cacheFailure ?? error }
  }

  /// The first failure of the cache itself.
  var cacheFailure: CacheError? { state.withLock { $0.cacheFailure } }

  /// How many requests were made.
  var requests: Int { state.withLock { $0.attempts } }

  /// What was not done, by URL.
  var unfinished: [SyncReport.Unfinished] {
    state.withLock { $0.unfinished }.sorted { ($0.stage.order, $0.url) < ($1.stage.order, $1.url) }
  }

  /// The pictures that failed.
  var failedPictures: Set<PictureID> {
    state.withLock { Set($0.pictures.map(\.picture)) }
  }

  /// Everything that failed: sections, details, pictures, each by URL.
  ///
  /// - Parameter owners: the item that shows a picture.
  /// - Returns: The failures, with the items that show failed pictures.
  func all(owners: [PictureID: String]) -> [SyncReport.Failure] {
    let (failures, pictures) = state.withLock { ($0.failures, $0.pictures) }
    let images = pictures.map { picture, failure in
      var failure = failure
      failure.id = owners[picture]
      return failure
    }
    return (failures + images).sorted { ($0.stage.order, $0.url) < ($1.stage.order, $1.url) }
  }
}

extension SyncReport.Stage {
  /// Sections first, pictures last.
  var order: Int {
    switch self {
    case .section: 0
    case .detail: 1
    case .image: 2
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
  /// Whether the run ended first, so that the failure says nothing about what was requested.
  var endedWithRun: Bool {
    reason == .cancelled || reason == .deadline || reason == .bytesLimit
  }
}
