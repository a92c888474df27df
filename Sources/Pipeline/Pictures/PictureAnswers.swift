import Base
import Cache
import Catalog
import Transport

/// A request for a picture that was sent and is not yet answered.
struct PictureFetch: Sendable {
  /// The picture's row at the time of the request.
  let entry: PictureEntry
  /// The URL that is requested.
  let url: WebURL
  /// The host whose place the request takes.
  let host: String
  /// The sink that receives the picture's body.
  let sink: PictureSink
  /// The time of the request.
  let asked: UnixTime

  /// The cached version at the time of the request, if any.
  var held: PictureEntry? { entry.isHeld ? entry : nil }
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
    let needs = context.needs
    context.store.commit(
      fetch.sink,
      as: {
        var entry = PictureEntry(
          id: fetch.entry.id,
          url: fetch.url.text,
          identity: fetch.entry.identity
        )
        let traits = needs.traits(ofPicture: fetch.url, entry.identity)
        let stored = StoredResponse(
          head,
          requestTime: fetch.asked,
          responseTime: now(),
          traits: traits
        )
        entry.enter(stored)
        return entry
      },
      replacing: fetch.entry,
      connectionIsOpen: response.connectionIsOpen
    ) { [self] outcome in finish(fetch, outcome, attempts: attempts) }
  }

  /// Keeps the cached bytes, and updates the header fields of their row after a 304.
  private func renew(_ fetch: PictureFetch, _ response: Response) {
    let now = context.now
    let head = response.head
    let url = fetch.url
    let traits = context.needs.traits(ofPicture: url, fetch.entry.identity)
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
      completion: { [self] in finish(fetch, .revalidated) }
    )
  }

  /// Handles the result of the store after it has checked and written new bytes.
  ///
  /// Called on a queue of the store.
  private func finish(_ fetch: PictureFetch, _ outcome: PictureOutcome, attempts: Int) {
    switch outcome {
    case .stored(let bytes, let wasHeld):
      context.failures.count(attempts: attempts)
      stored(fetch.entry.id)
      finish(fetch, .fetched(bytes: bytes, isChange: wasHeld))
    case .same(let bytes):
      context.failures.count(attempts: attempts)
      finish(fetch, .fetched(bytes: bytes, isChange: false))
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

  /// Records a failure in the picture's row.
  ///
  /// Bytes in the cache are kept.
  private func fail(_ fetch: PictureFetch, _ failure: TransferFailure) {
    let traits = context.needs.traits(ofPicture: fetch.url, fetch.entry.identity)
    if let held = fetch.held,
      failure.isExcused(by: held.response, at: context.now(), for: traits)
    {
      context.failures.count(attempts: failure.attempts)
      return finish(fetch, .excused)
    }
    context.failures.note(.picture, id: nil, failure, of: fetch.entry.id)
    guard !failure.endedWithRun else { return finish(fetch, .unfinished) }
    let now = context.now()
    context.store.commit(
      row: {
        var entry = fetch.entry
        entry.url = fetch.url.text
        let end = failure.refusalExpiry(at: now)
        entry.fail(for: failure.reason, at: now, saidUntil: end)
        return entry
      },
      completion: { [self] in finish(fetch, .failed) }
    )
  }

  private func finish(_ fetch: PictureFetch, _ end: FetchedPicture) {
    finish(fetch.entry.id, fetch.host, end)
  }
}
