import Cache
import Transport

/// What becomes of a picture's answer; every path ends in `finish(_:bytes:_:)`.
extension PictureStage {
  /// Keeps an adopted file that the origin's body has the length of.
  func assume(_ held: PictureEntry, _ head: ResponseHead, _ job: Job, _ asked: UnixTime) {
    let now = context.now
    let traits = context.pictureTraits(job.url)
    context.store.commit(
      row: { held.assumed(by: head, asked: asked, answered: now(), traits: traits) },
      completion: { [self] in
        finish(job) {
          $0.revalidated += 1
          $0.assumed += 1
        }
      }
    )
  }

  /// On the transfer thread: hands the outcome to the store.
  func arrived(
    _ result: Result<Response, TransferFailure>,
    _ job: Job,
    _ held: PictureEntry?,
    _ sink: PictureSink,
    _ asked: UnixTime
  ) {
    switch result {
    case .success(let response):
      if response.isNotModified {
        renewed(job, held, sink, response, asked)
      } else {
        commit(job, held, sink, response, asked)
      }
    case .failure(let failure):
      // Of what may come another time the next run need not fetch the same bytes again.
      if RetryPolicy.mayPass(failure) || failure.endedWithRun {
        sink.leave()
      } else {
        sink.restart()
      }
      failed(job, held, failure)
    }
  }

  /// Hands new bytes to the store.
  private func commit(
    _ job: Job,
    _ held: PictureEntry?,
    _ sink: PictureSink,
    _ response: Response,
    _ asked: UnixTime
  ) {
    let now = context.now
    let head = response.head
    let attempts = response.attempts
    let traits = context.pictureTraits(job.url)
    context.store.commit(
      sink,
      as: {
        var entry = PictureEntry(id: job.id, url: job.url.text)
        entry.enter(head, asked: asked, answered: now(), traits: traits)
        return entry
      },
      replacing: held,
      connectionIsOpen: response.connectionIsOpen
    ) { [self] outcome in settled(outcome, job, held, attempts: attempts) }
  }

  /// Keeps what is held, under the origin's new word.
  private func renewed(
    _ job: Job,
    _ held: PictureEntry?,
    _ sink: PictureSink,
    _ response: Response,
    _ asked: UnixTime
  ) {
    let now = context.now
    let head = response.head
    let traits = context.pictureTraits(job.url)
    context.failures.count(attempts: response.attempts)
    sink.restart()
    guard let held else {
      let failure = TransferFailure(
        reason: .badResponse,
        url: job.url.redacted,
        detail: "304 for a picture that is not held",
        attempts: response.attempts,
        status: 304
      )
      return failed(job, nil, failure)
    }
    context.store.commit(
      row: { held.renewed(by: head, asked: asked, answered: now(), traits: traits) },
      completion: { [self] in finish(job) { $0.revalidated += 1 } }
    )
  }

  private func settled(
    _ outcome: PictureOutcome,
    _ job: Job,
    _ held: PictureEntry?,
    attempts: Int
  ) {
    switch outcome {
    case .stored(let bytes, let wasHeld):
      context.failures.count(attempts: attempts)
      stored(job.id)
      finish(job, bytes: bytes) {
        $0.fetched += 1
        $0.bytesFetched += bytes
        if wasHeld { $0.changed += 1 }
      }
    case .same(let bytes):
      context.failures.count(attempts: attempts)
      finish(job, bytes: bytes) {
        $0.fetched += 1
        $0.bytesFetched += bytes
      }
    case .refused(let reason, let detail):
      let failure = TransferFailure(
        reason: reason,
        url: job.url.redacted,
        detail: detail,
        attempts: attempts
      )
      failed(job, held, failure)
    }
  }

  /// Enters a failure in the picture's row, which keeps the bytes that it may hold.
  private func failed(_ job: Job, _ held: PictureEntry?, _ failure: TransferFailure) {
    let traits = context.pictureTraits(job.url)
    if let held, held.excuses(failure, at: context.now(), for: traits) {
      context.failures.count(attempts: failure.attempts)
      return finish(job) { $0.fresh += 1 }
    }
    context.failures.note(job.id, failure)
    guard !failure.endedWithRun else { return finish(job) { _ in } }
    let now = context.now()
    context.store.commit(
      row: { [context] in
        // What holds no bytes may have a row all the same, which knows since when it fails.
        let known = held ?? (try? context.index.pictures([job.id]))?[job.id]
        var entry = known ?? PictureEntry(id: job.id, url: job.url.text)
        let end = failure.wordEnd(at: now)
        entry.fail(for: failure.reason.rawValue, at: now.seconds, saidUntil: end)
        return entry
      },
      completion: { [self] in finish(job) { $0.failed += 1 } }
    )
  }
}
