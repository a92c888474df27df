import Base
import Cache
import Catalog
import Transport

/// A picture that its origin is asked for.
struct PictureFetch: Sendable {
  let id: PictureID
  let url: WebURL
  /// The held version at the time of the request, if any.
  let held: PictureEntry?
  /// Where its body goes.
  let sink: PictureSink
  /// When it was asked for.
  let asked: UnixTime
  /// Called once, when the result is durable or has failed.
  let ended: @Sendable (FetchedPicture) -> Void
}

/// How a picture that needed a request ended.
package enum FetchedPicture: Sendable, Equatable {
  /// Bytes came; whether others were held before.
  case fetched(bytes: ByteCount, isChange: Bool)
  /// The origin confirms the held version.
  case revalidated
  /// The held version replaces an error, as its origin allows (`stale-if-error`). (RFC 5861, section 4)
  case excused
  /// It could not be fetched.
  case failed
  /// The run ended first.
  case unfinished

  /// How many bytes came.
  var bytes: ByteCount { if case .fetched(let bytes, _) = self { bytes } else { 0 } }

  /// Counts it.
  func count(in tally: inout SyncReport.Pictures) {
    switch self {
    case .fetched(let bytes, let isChange):
      tally.fetched += 1
      tally.bytesFetched += bytes.count
      if isChange { tally.changed += 1 }
    case .revalidated: tally.revalidated += 1
    case .excused: tally.fresh += 1
    case .failed: tally.failed += 1
    case .unfinished: break
    }
  }
}

/// Hands the results of requests for pictures to the store; every path calls the fetch's `ended`.
final class PictureAnswers: Sendable {
  private let context: RunContext
  private let stored: @Sendable (PictureID) -> Void

  /// The answers of a run; `stored` is told of each picture whose bytes are new, once they are durable.
  init(_ context: RunContext, stored: @escaping @Sendable (PictureID) -> Void) {
    self.context = context
    self.stored = stored
  }

  /// On the transfer thread: takes the outcome of a transfer.
  func take(_ result: Result<Response, TransferFailure>, of fetch: PictureFetch) {
    switch result {
    case .success(let response):
      if response.isNotModified {
        renew(fetch, response)
      } else {
        commit(fetch, response)
      }
    case .failure(var failure):
      if failure.reason == .notAPicture, failure.detail.isEmpty,
        let words = OriginMessage(inPlaceOfPicture: fetch.sink.refused)
      {
        failure.detail = context.secrets.applied(to: words.description)
      }
      // Partial bodies of temporary failures are kept, so that the next run need not fetch the same bytes
      // again.
      if RetryPolicy.mayPass(failure) || failure.endedWithRun {
        fetch.sink.leave()
      } else {
        fetch.sink.restart()
      }
      fail(fetch, failure)
    }
  }

  /// Hands new bytes to the store.
  private func commit(_ fetch: PictureFetch, _ response: Response) {
    let now = context.now
    let head = response.head
    let attempts = response.attempts
    let traits = context.pictureTraits(fetch.url)
    context.store.commit(
      fetch.sink,
      as: { [context] in
        var entry = context.entry(fetch.id, fetch.url)
        entry.enter(head, asked: fetch.asked, answered: now(), traits: traits)
        return entry
      },
      replacing: fetch.held,
      connectionIsOpen: response.connectionIsOpen
    ) { [self] outcome in finish(fetch, outcome, attempts: attempts) }
  }

  /// Keeps the held bytes, with the validity that a 304 renews.
  private func renew(_ fetch: PictureFetch, _ response: Response) {
    let now = context.now
    let head = response.head
    let traits = context.pictureTraits(fetch.url)
    context.failures.count(attempts: response.attempts)
    fetch.sink.restart()
    guard let held = fetch.held else {
      let failure = TransferFailure(
        reason: .badResponse,
        url: fetch.url.redacted,
        detail: "304 for a picture that is not held",
        attempts: response.attempts,
        status: 304
      )
      return fail(fetch, failure)
    }
    context.store.commit(
      row: {
        var entry = held.renewed(by: head, asked: fetch.asked, answered: now(), traits: traits)
        entry.url = fetch.url.text
        return entry
      },
      completion: { fetch.ended(.revalidated) }
    )
  }

  /// On a queue of the store: reports the result for the bytes.
  private func finish(_ fetch: PictureFetch, _ outcome: PictureOutcome, attempts: Int) {
    switch outcome {
    case .stored(let bytes, let wasHeld):
      context.failures.count(attempts: attempts)
      stored(fetch.id)
      fetch.ended(.fetched(bytes: bytes, isChange: wasHeld))
    case .same(let bytes):
      context.failures.count(attempts: attempts)
      fetch.ended(.fetched(bytes: bytes, isChange: false))
    case .refused(let reason, let detail):
      let failure = TransferFailure(
        reason: reason,
        url: fetch.url.redacted,
        detail: detail,
        attempts: attempts
      )
      fail(fetch, failure)
    }
  }

  /// Enters a failure in the picture's row, which keeps the bytes that it may hold.
  private func fail(_ fetch: PictureFetch, _ failure: TransferFailure) {
    let traits = context.pictureTraits(fetch.url)
    if let held = fetch.held, held.excuses(failure, at: context.now(), for: traits) {
      context.failures.count(attempts: failure.attempts)
      return fetch.ended(.excused)
    }
    context.failures.note(fetch.id, failure)
    guard !failure.endedWithRun else { return fetch.ended(.unfinished) }
    let now = context.now()
    context.store.commit(
      row: { [context] in
        // A picture without held bytes may have a row all the same, with the start of its failure.
        let known = fetch.held ?? (try? context.index.pictures([fetch.id]))?[fetch.id]
        var entry = known ?? context.entry(fetch.id, fetch.url)
        entry.url = fetch.url.text
        let end = failure.refusalExpiry(at: now)
        entry.fail(for: failure.reason, at: now, saidUntil: end)
        return entry
      },
      completion: { fetch.ended(.failed) }
    )
  }
}

extension RunContext {
  /// The row of a picture that holds nothing yet.
  fileprivate func entry(_ id: PictureID, _ url: WebURL) -> PictureEntry {
    PictureEntry(id: id, url: url.text, identity: identity(of: url))
  }
}

/// Where the pictures of a run come from.
package enum PictureSource: Sendable {
  /// Their origins.
  case origins
  /// Nowhere: those that would be asked for are named, and nothing is fetched.
  case named(@Sendable (PictureID, WebURL) -> Void)
  /// Other runs, which placed their files in the cache.
  case settled(any ImportedPictures)
}

/// The results of other runs for a run's pictures.
package protocol ImportedPictures: Sendable {
  /// Which of these pictures one of them had to bring.
  ///
  /// - Throws: ``LarderError`` when it cannot be read.
  func members(_ ids: [PictureID]) throws(LarderError) -> Set<PictureID>

  /// Whether one of them had a picture to bring whose file has this path in a cache, as far as a path tells.
  ///
  /// - Throws: ``LarderError`` when it cannot be read.
  func mightContain(_ path: String) throws(LarderError) -> Bool

  /// Their results for pictures; pictures that no shard had to fetch are left out.
  ///
  /// - Throws: ``LarderError`` when it cannot be read.
  func pictures(_ ids: [PictureID]) throws(LarderError) -> [PictureID: SettledPicture]
}

/// The replacements of a run's origins: none, in a plain sync.
package struct PlannedInputs: Sendable {
  /// Where its documents come from.
  package var documents = DocumentOrigin.origins
  /// Where its pictures come from.
  package var pictures = PictureSource.origins
  /// The pictures' states; nil for those of the cache's index.
  package var states: KnownPictures?
  /// The pictures that other runs fetched; nil when none did.
  var settled: (any ImportedPictures)? {
    if case .settled(let pictures) = pictures { pictures } else { nil }
  }
  /// The requests that other runs made for this one.
  package var requests = 0

  /// A plain sync's.
  package init() {}
}

/// The result of another run for a picture.
package struct SettledPicture: Sendable, Equatable {
  /// Its row.
  package var entry: PictureEntry
  /// How its request ended.
  package var end: FetchedPicture
  /// The SHA-256 of the bytes held before, when those are others.
  package var before: [UInt8]?
  /// Why it failed.
  package var failure: SyncReport.Failure?

  /// Makes one from its parts.
  package init(
    entry: PictureEntry,
    end: FetchedPicture,
    before: [UInt8]? = nil,
    failure: SyncReport.Failure? = nil
  ) {
    self.entry = entry
    self.end = end
    self.before = before
    self.failure = failure
  }
}

extension FailureReason {
  /// Another picture has its key.
  package static let identityClash = FailureReason(rawValue: "identity-clash")
  /// The plan that a run commits does not have it.
  package static let notPlanned = FailureReason(rawValue: "not-planned")
}

extension PictureStage {
  /// The number of pictures a transaction: large enough that each page of the index is written for several of them,
  /// when there are millions.
  static let settledAtOnce = 1 << 19
  /// How many of them memory holds.
  private static let settledBatch = 1024

  /// Enters the results of other runs for pictures, in one transaction; every picture ends.
  func settle(_ ids: [PictureID], of pictures: any ImportedPictures) {
    let ids = ids.sorted()
    var missing: [PictureID] = []
    var start = 0
    do throws(LarderError) {
      try context.store.enter { () throws(LarderError) in
        let batch = Array(ids[start..<min(start + Self.settledBatch, ids.count)])
        guard !batch.isEmpty, !hasStopped() else { return nil }
        let found = try pictures.pictures(batch)
        missing += batch.filter { found[$0] == nil }
        let settled = batch.compactMap { found[$0] }
        start += batch.count
        for picture in settled { note(picture) }
        finish(settled.map { ($0.entry.id, $0.end) })
        return settled.map { ($0.entry, $0.isFetched ? $0.before : nil) }
      }
      try refuse(missing)
    } catch {
      context.failures.note(error)
      finish(missing.map { ($0, .failed) })
    }
    finish(ids[start...].map { ($0, .unfinished) })
  }

  /// Tells of a picture whose row is being written: when that fails, the run does.
  private func note(_ picture: SettledPicture) {
    strays.pass(picture.entry)
    if let failure = picture.failure { context.failures.note(picture.entry.id, failure) }
    if picture.isFetched { stored(picture.entry.id) }
  }

  /// Ends pictures that nobody had to bring.
  private func refuse(_ ids: [PictureID]) throws(LarderError) {
    guard !ids.isEmpty else { return }
    let urls = try context.index.pictureURLs(ids)
    for id in ids {
      let url = (try? context.transport.parse(urls[id] ?? "", relativeTo: nil))?.redacted ?? ""
      context.failures.note(id, TransferFailure(reason: .notPlanned, url: url))
    }
    finish(ids.map { ($0, .failed) })
  }
}

extension SettledPicture {
  fileprivate var isFetched: Bool { if case .fetched = end { true } else { false } }
}
