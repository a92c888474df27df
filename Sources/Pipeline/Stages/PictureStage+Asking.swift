import Cache
import Transport

extension PictureStage {
  /// Starts a batch: looks up what is held of it, adopts what a killed run left, and asks.
  func ask(_ batch: [Job]) {
    var entries: [PictureID: PictureEntry] = [:]
    do throws(CacheError) {
      let held = batch.filter(\.isHeld).map(\.id)
      if !held.isEmpty { entries = try context.index.pictures(held) }
      for job in batch where !job.isHeld {
        let identity = context.identity(of: job.url)
        if let entry = try orphans.adopt(job.id, url: job.url.text, identity: identity) {
          entries[job.id] = entry
        }
      }
    } catch {
      context.failures.note(error)
    }
    let (own, others) = batch.parted { job in
      entries[job.id].map { $0.identity == context.identity(of: job.url) } ?? true
    }
    for job in others { refuse(job) }
    context.store.announce(own.count)
    for job in own { fetch(job, held: entries[job.id]) }
  }

  /// Ends a picture whose key another one holds.
  private func refuse(_ job: Job) {
    let failure = TransferFailure(
      reason: .identityClash,
      url: job.url.redacted,
      detail: "another picture has the same key, and its file"
    )
    context.failures.note(job.id, failure)
    finish(job, .failed)
  }

  private func fetch(_ job: Job, held: PictureEntry?) {
    var request = Request(picture: job.url, from: context.named)
    // A run that may end before all is done must not spend itself on details every time.
    request.priority = context.options.onlyDue ? .detail : .image
    request.bodyLimit = context.options.pictureLimit
    let asked = context.now()
    if case .revalidate(let condition) = held?.freshness(
      at: asked,
      for: context.pictureTraits(job.url),
      onlyDue: context.options.onlyDue
    ) {
      request.condition = condition
    }
    let sink = context.store.sink(id: job.id, url: context.identity(of: job.url))
    let fetch = PictureFetch(id: job.id, url: job.url, held: held, sink: sink, asked: asked) {
      [self] end in finish(job, end)
    }
    // SAFETY of the group: the transport completes every fetch exactly once, and every path of
    // `answers` calls `ended`, and so finish(_:_:).
    context.transport.fetch(request, into: sink) { [context, answers] result in
      answers.take(result, of: fetch)
      context.store.conclude()
    }
  }
}

extension [PictureStage.Job] {
  /// Those of which a condition holds, and the others.
  fileprivate func parted(_ holds: (PictureStage.Job) -> Bool) -> (Self, Self) {
    (filter(holds), filter { !holds($0) })
  }
}
