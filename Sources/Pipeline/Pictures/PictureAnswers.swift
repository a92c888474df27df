import Base
import Cache
import Catalog
import Transport

/// A request for a picture that was sent and is not yet answered.
struct PictureFetch: Sendable {
  let job: PictureStage.Job
  /// The cached version at the time of the request, if any.
  let held: PictureEntry?
  /// The sink that receives the picture's body.
  let sink: PictureSink
  /// The time of the request.
  let asked: UnixTime
}

/// The result of a request for a picture.
package enum FetchedPicture: Sendable, Equatable {
  /// A body was received; `isChange` is true when it replaces different bytes.
  case fetched(bytes: ByteCount, isChange: Bool)
  /// The origin confirmed the cached version.
  case revalidated
  /// The cached version is used after an error, as its origin allows with `stale-if-error`. (RFC 5861, section 4)
  case excused
  /// The picture could not be fetched.
  case failed
  /// The run ended before the answer.
  case unfinished

  /// The number of body bytes.
  var bytes: ByteCount { if case .fetched(let bytes, _) = self { bytes } else { 0 } }

  /// Adds the result to a tally.
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

// The answers to requests. Every path finishes the picture once, when its result is durable or it has failed.
extension PictureStage {
  /// Handles the outcome of a transfer, on the transfer thread.
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

  /// Passes new bytes to the store.
  private func commit(_ fetch: PictureFetch, _ response: Response) {
    let now = context.now
    let head = response.head
    let attempts = response.attempts
    let traits = context.pictureTraits(fetch.job.url)
    context.store.commit(
      fetch.sink,
      as: { [context] in
        var entry = context.entry(fetch.job)
        entry.enter(head, asked: fetch.asked, answered: now(), traits: traits)
        return entry
      },
      replacing: fetch.held,
      connectionIsOpen: response.connectionIsOpen
    ) { [self] outcome in finish(fetch, outcome, attempts: attempts) }
  }

  /// Keeps the cached bytes, with the caching fields as renewed by a 304.
  private func renew(_ fetch: PictureFetch, _ response: Response) {
    let now = context.now
    let head = response.head
    let url = fetch.job.url
    let traits = context.pictureTraits(url)
    context.failures.count(attempts: response.attempts)
    fetch.sink.restart()
    guard let held = fetch.held else {
      return fail(fetch, .notModified(url.redacted, attempts: response.attempts))
    }
    context.store.commit(
      row: {
        var entry = held.renewed(by: head, asked: fetch.asked, answered: now(), traits: traits)
        entry.url = url.text
        return entry
      },
      completion: { [self] in finish(fetch.job, .revalidated) }
    )
  }

  /// Reports the store's result for new bytes, on a queue of the store.
  private func finish(_ fetch: PictureFetch, _ outcome: PictureOutcome, attempts: Int) {
    switch outcome {
    case .stored(let bytes, let wasHeld):
      context.failures.count(attempts: attempts)
      stored(fetch.job.id)
      finish(fetch.job, .fetched(bytes: bytes, isChange: wasHeld))
    case .same(let bytes):
      context.failures.count(attempts: attempts)
      finish(fetch.job, .fetched(bytes: bytes, isChange: false))
    case .refused(let reason, let detail):
      let failure = TransferFailure(
        reason: reason,
        url: fetch.job.url.redacted,
        detail: detail,
        attempts: attempts
      )
      fail(fetch, failure)
    }
  }

  /// Records a failure in the picture's row; cached bytes are kept.
  private func fail(_ fetch: PictureFetch, _ failure: TransferFailure) {
    let job = fetch.job
    let traits = context.pictureTraits(job.url)
    if let held = fetch.held, held.excuses(failure, at: context.now(), for: traits) {
      context.failures.count(attempts: failure.attempts)
      return finish(job, .excused)
    }
    context.failures.note(job.id, failure)
    guard !failure.endedWithRun else { return finish(job, .unfinished) }
    let now = context.now()
    context.store.commit(
      row: { [context] in
        // A picture without cached bytes may already have a row, with the time of its first failure.
        let known = fetch.held ?? (try? context.index.pictures([job.id]))?[job.id]
        var entry = known ?? context.entry(job)
        entry.url = job.url.text
        let end = failure.refusalExpiry(at: now)
        entry.fail(for: failure.reason, at: now, saidUntil: end)
        return entry
      },
      completion: { [self] in finish(job, .failed) }
    )
  }
}

extension RunContext {
  /// A new row for a picture without bytes.
  fileprivate func entry(_ job: PictureStage.Job) -> PictureEntry {
    PictureEntry(id: job.id, url: job.url.text, identity: identity(of: job.url))
  }
}

/// The source of a run's pictures.
package enum PictureSource: Sendable {
  /// Requests to the origins.
  case origins
  /// No requests: the closure is called with each picture that would be requested. Used to plan shards.
  case named(@Sendable (PictureID, WebURL) -> Void)
  /// The results of other runs, which have already put the files into the cache. Used to merge shards.
  case settled(any ImportedPictures)
}

/// The results that shards had for a run's pictures.
///
/// A shard is a part of a large sync: a separate run that fetches some of the pictures.
package protocol ImportedPictures: Sendable {
  /// The pictures among `ids` that a shard had to fetch.
  ///
  /// - Throws: ``LarderError`` when the results cannot be read.
  func members(_ ids: [PictureID]) throws(LarderError) -> Set<PictureID>

  /// Whether a shard may have had to fetch the picture whose file has this path in a cache. False is certain; true
  /// may be wrong.
  ///
  /// - Throws: ``LarderError`` when the results cannot be read.
  func mightContain(_ path: String) throws(LarderError) -> Bool

  /// The results for pictures; pictures that no shard had to fetch are left out.
  ///
  /// - Throws: ``LarderError`` when the results cannot be read.
  func pictures(_ ids: [PictureID]) throws(LarderError) -> [PictureID: SettledPicture]
}

/// The sources of a run's documents and pictures: the origins in a normal sync, or the results of shards in a merge.
package struct PlannedInputs: Sendable {
  /// The source of documents.
  package var documents = DocumentOrigin.origins
  /// The source of pictures.
  package var pictures = PictureSource.origins
  /// The states of pictures before the run; nil to use the states in the cache's index.
  package var states: KnownPictures?
  /// The pictures that other runs fetched; nil unless ``pictures`` is `.settled`.
  var settled: (any ImportedPictures)? {
    if case .settled(let pictures) = pictures { pictures } else { nil }
  }
  /// The number of requests that other runs made for this one.
  package var requests = 0

  /// The sources of a normal sync.
  package init() {}
}

/// The result of another run for a picture.
package struct SettledPicture: Sendable, Equatable {
  /// The picture's row in the index.
  package var entry: PictureEntry
  /// The result of the picture's request.
  package var end: FetchedPicture
  /// The SHA-256 of the bytes that the cache had before; nil if the request did not change them.
  package var before: [UInt8]?
  /// The failure, if any.
  package var failure: SyncReport.Failure?

  /// Makes a result from its parts.
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
  /// Another picture has the same key, which is the hash of its identity.
  package static let identityClash = FailureReason(rawValue: "identity-clash")
  /// The plan that is being merged does not contain the document or picture.
  package static let notPlanned = FailureReason(rawValue: "not-planned")
}

extension PictureStage {
  /// The number of pictures in one transaction.
  ///
  /// With millions of pictures, the number must be large, so that a page of the index is written once for several
  /// pictures.
  static let settledAtOnce = 1 << 19
  /// The number of pictures in memory at once.
  private static let settledBatch = 1024

  /// Writes the results of other runs for pictures in one transaction; finishes every picture.
  func settle(_ ids: [PictureID], of pictures: any ImportedPictures) {
    let ids = ids.sorted()
    var missing: [PictureID] = []
    var start = 0
    do throws(LarderError) {
      try context.store.enter { () throws(LarderError) in
        let batch = Array(ids[start..<min(start + Self.settledBatch, ids.count)])
        guard !batch.isEmpty, !context.hasStopped() else { return nil }
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

  /// Reports a picture before its row is committed.
  ///
  /// If the commit fails, the whole run fails.
  private func note(_ picture: SettledPicture) {
    strays.pass(picture.entry)
    if let failure = picture.failure { context.failures.note(failure, of: picture.entry.id) }
    if picture.isFetched { stored(picture.entry.id) }
  }

  /// Fails pictures that are in no shard of the plan.
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
