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
  /// The picture was received. `isChange` is true if it replaces different bytes in the cache.
  case fetched(bytes: ByteCount, isChange: Bool)
  /// The server confirmed that the cached version is current.
  case revalidated
  /// The request failed, and the cached version is used, because its `stale-if-error` directive allows that. (RFC 5861,
  /// section 4)
  case excused
  /// The picture could not be fetched.
  case failed
  /// The run ended before the answer.
  case unfinished

  /// The number of bytes that were received.
  var bytes: ByteCount { if case .fetched(let bytes, _) = self { bytes } else { 0 } }

  /// Adds the result to the counts of a report.
  package func count(in tally: inout SyncReport.Pictures) {
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

// The answers to requests. Every path through these functions finishes the picture once, when its row is on disk or the
// picture has failed.
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
        let words = OriginMessage(in: fetch.sink.refused, isRefusal: true, expectsJSON: false)
      {
        failure.detail = context.secrets.applied(to: words.description)
      }
      // After a temporary failure, the received part of the body is kept, so that the next run need not fetch it again.
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

  /// Keeps the cached bytes, and updates the header fields of their row after a 304.
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

  /// Handles the result of the store after it has checked and written new bytes.
  ///
  /// Called on a queue of the store.
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

  /// Records a failure in the picture's row.
  ///
  /// Bytes in the cache are kept.
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
        // A picture that is not in the cache can already have a row, with the time of the picture's first failure.
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
  /// Makes a row for a picture that is not in the cache yet.
  fileprivate func entry(_ job: PictureStage.Job) -> PictureEntry {
    PictureEntry(id: job.id, url: job.url.text, identity: identity(of: job.url))
  }
}
