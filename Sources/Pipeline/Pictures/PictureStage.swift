import Base
import Cache
import Dispatch
import Synchronization
import Transport

/// Brings every picture that the catalog refers to up to date, each URL once.
///
/// Pictures are added as soon as their section or detail is known and start at once; `group`
/// joins them. Hosts wait in lines of their own, so a slow one holds up nobody else.
final class PictureStage: Sendable {
  /// Entered once a picture that needs a request, left when that picture is durable or failed.
  let group = WorkGroup()

  /// A picture that needs a request.
  struct Job: Sendable {
    let id: PictureID
    let url: WebURL
    let isHeld: Bool
    let value: PicturePriority
  }

  /// A picture that needs a request, before it is known who is asked.
  private typealias DuePicture = (id: PictureID, url: WebURL)

  private struct Work {
    var isOpen: Bool
    var seen = PictureSet()
    /// Pictures that were requested before they were counted.
    var ahead: Set<PictureID> = []
    var tally = SyncReport.Pictures()
    var lines: [HostPort: LimitedQueue<Job>] = [:]
    /// Pictures that wait for the results of other runs.
    var settling: [PictureID] = []
    /// The counts that were not reported as progress yet.
    var untold = (total: 0, done: 0)
  }

  /// The states of some pictures, looked up before the lock is taken.
  private struct Known {
    let states: [PictureID: PictureState]
    /// Of those that are held, which other runs had to bring all the same; nil when pictures come from elsewhere.
    var settled: Set<PictureID>?
  }

  let context: RunContext
  let strays: StrayFiles
  let hasStopped: @Sendable () -> Bool
  private let known: KnownPictures
  private let source: PictureSource
  private let ended: @Sendable (PictureID, FetchedPicture) -> Void
  let stored: @Sendable (PictureID) -> Void
  let answers: PictureAnswers
  private let state: Mutex<Work>

  /// How many pictures of a host are under way at once, from their request to their row: enough
  /// that the transport never waits for a commit, few enough that the requests stay small.
  private static let window = 512
  /// The same for an unattended run: few, because those that are under way keep their place when
  /// something more valuable comes.
  private static let warmWindow = 64
  /// How many URLs are looked up at once.
  private static let batch = 1024

  /// A stage for the pictures of one run.
  ///
  /// - Parameters:
  ///   - context: the run.
  ///   - known: the index's entries of the pictures.
  ///   - strays: files without a row, which pictures may adopt.
  ///   - source: where pictures come from.
  ///   - hasStopped: whether somebody ended the run early, so that no more of other runs' pictures are entered.
  ///   - ended: told of each picture that was asked for, once it has ended.
  ///   - stored: told of each picture whose bytes are new, once they are durable.
  init(
    _ context: RunContext,
    known: KnownPictures,
    strays: StrayFiles,
    source: PictureSource = .origins,
    hasStopped: @escaping @Sendable () -> Bool = { false },
    ended: @escaping @Sendable (PictureID, FetchedPicture) -> Void = { _, _ in },
    stored: @escaping @Sendable (PictureID) -> Void
  ) {
    self.known = known
    self.source = source
    self.hasStopped = hasStopped
    self.ended = ended
    self.stored = stored
    self.context = context
    self.strays = strays
    answers = PictureAnswers(context, stored: stored)
    state = Mutex(Work(isOpen: !context.options.onlyDue))
  }

  /// The counts so far.
  var tally: SyncReport.Pictures { state.withLock { $0.tally } }
  /// Every picture that was referred to.
  var seen: PictureSet { state.withLock { $0.seen } }

  /// Starts the pictures of an unattended run, the most valuable first, once all sections have listed theirs.
  func release() {
    let lines = state.withLock { state in
      state.isOpen = true
      return Array(state.lines.values)
    }
    for line in lines { line.open() }
  }

  /// Enters the remaining pictures of other runs, once all were added.
  func settleRest() {
    guard case .settled(let pictures) = source else { return }
    let rest = state.withLock { state in
      defer { state.settling = [] }
      return state.settling
    }
    if !rest.isEmpty { settle(rest, of: pictures) }
  }

  /// Asks for the pictures of a section that was just decoded, while its listing is being kept.
  ///
  /// ``add(_:)`` counts them once that stands. An unattended run waits until it knows all priorities.
  func askAhead(_ references: [PictureReference]) {
    guard !context.options.onlyDue else { return }
    var due: [DuePicture] = []
    let now = context.now()
    let ids = references.map(\.id)
    guard let known = known(of: ids) else { return }
    counting { state in
      let seen = state.seen.members(ids)
      for reference in references {
        let id = reference.id
        guard case .success(let url) = reference.url, !seen.contains(id),
          !isFresh(id, at: now, known), state.ahead.insert(id).inserted
        else { continue }
        begin(&state)
        due.append((id, url))
      }
    }
    bring(due, known, isChanged: true)
  }

  /// Adds references whose URLs are at hand: a section or detail just decoded.
  func add(_ references: [PictureReference]) {
    var due: [DuePicture] = []
    var refused: [(id: PictureID, failure: TransferFailure)] = []
    var resting: [PictureID] = []
    let now = context.now()
    let ids = references.map(\.id)
    guard let known = known(of: ids) else { return }
    counting { state in
      var asked = Set(count(ids, known, at: now, &state))
      for reference in references where asked.remove(reference.id) != nil {
        let id = reference.id
        switch reference.url {
        case .success where rests(id, at: now, known):
          resting.append(id)
        case .success(let url):
          due.append((id, url))
        case .failure(let failure):
          refused.append((id, failure))
        }
      }
    }
    context.noteResting(resting)
    for _ in resting { finish(nil, .failed) }
    for (id, failure) in refused {
      context.failures.note(id, failure)
      finish(nil, .failed)
    }
    bring(due, known, isChanged: true)
  }

  /// The source of URLs for pictures without a row in the index: calls its second argument with those of the
  /// wanted pictures; others are ignored.
  typealias URLSource = (
    _ wanted: Set<PictureID>, _ found: (PictureID, String) -> Void
  ) throws(LarderError) -> Void

  /// Adds references of a section or detail that did not change, or is too large to be held, by identity only.
  ///
  /// - Parameters:
  ///   - ids: the pictures.
  ///   - urls: the URLs of those that are new.
  /// - Throws: ``LarderError`` when the index cannot be read; the pictures whose URLs are not known then have failed.
  func add(_ ids: [PictureID], urls: URLSource) throws(LarderError) {
    let now = context.now()
    guard let known = known(of: ids) else { return }
    let (due, resting) = counting { state in
      let asked = count(ids, known, at: now, &state)
      let due = asked.filter { !rests($0, at: now, known) }
      return (due, asked.filter { rests($0, at: now, known) })
    }
    context.noteResting(resting)
    for _ in resting { finish(nil, .failed) }
    // A source of settled pictures knows their URLs.
    if case .settled(let pictures) = source { return hand(due, to: pictures) }
    // After any error, each counted picture ends.
    var unnamed = Set(due)
    defer { for _ in unnamed { finish(nil, .failed) } }
    for batch in stride(from: 0, to: due.count, by: Self.batch) {
      let batch = Array(due[batch..<min(batch + Self.batch, due.count)])
      let urls = try context.index.pictureURLs(batch)
      add(batch.compactMap { id in urls[id].map { (id, $0) } }, known)
      unnamed.subtract(urls.keys)
    }
    guard !unnamed.isEmpty else { return }
    var found: [(PictureID, String)] = []
    defer { add(found, known) }
    try urls(unnamed) { id, url in
      guard unnamed.remove(id) != nil else { return }
      found.append((id, url))
      guard found.count == Self.batch else { return }
      add(found, known)
      found = []
    }
    add(unnamed.map { ($0, "") }, known)
    unnamed = []
  }

  /// Adds pictures that were counted and whose URLs were looked up.
  private func add(_ found: [(id: PictureID, url: String)], _ known: Known) {
    var due: [DuePicture] = []
    for (id, text) in found {
      do throws(TransferFailure) {
        let url = try context.transport.parse(text, relativeTo: nil)
        due.append((id, url))
      } catch {
        context.failures.note(id, error)
        finish(nil, .failed)
      }
    }
    bring(due, known, isChanged: false)
  }

  /// The states of pictures; nil when the index cannot be read, which ends the run: none of them is requested then.
  private func known(of ids: [PictureID]) -> Known? {
    do throws(LarderError) {
      var known = Known(states: try known.states(of: ids))
      if case .settled(let pictures) = source {
        known.settled = try pictures.members(ids.filter { known.states[$0]?.isHeld == true })
      }
      return known
    } catch {
      context.failures.note(error)
      return nil
    }
  }

  /// Counts references, and says which pictures need a request; enters the group for each of them.
  private func count(
    _ ids: [PictureID],
    _ known: Known,
    at now: UnixTime,
    _ state: inout Work
  ) -> [PictureID] {
    state.tally.referenced += ids.count
    let new = state.seen.insert(ids)
    state.tally.total += new.count
    return new.filter { id in
      if state.ahead.remove(id) != nil { return false }
      if isFresh(id, at: now, known) {
        state.tally.fresh += 1
        state.untold.total += 1
        state.untold.done += 1
        return false
      }
      begin(&state)
      return true
    }
  }

  /// Counts under the lock, and tells of it behind the lock.
  private func counting<Value>(_ body: (inout Work) -> Value) -> Value {
    let (value, news, failure) = state.withLock { state in
      let value = body(&state)
      defer { state.untold = (0, 0) }
      return (value, state.untold, state.seen.failure)
    }
    if let failure { context.failures.note(failure) }
    if news.total > 0 {
      context.progress.update {
        $0.pictures.total += news.total
        $0.pictures.done += news.done
      }
    }
    return value
  }

  /// Enters the group for a picture that needs a request.
  private func begin(_ state: inout Work) {
    group.enter()  // Left in finish(_:_:), the only way out of a request.
    state.untold.total += 1
  }

  private func job(_ id: PictureID, _ url: WebURL, _ known: PictureState?, isChanged: Bool) -> Job
  {
    Job(
      id: id,
      url: url,
      isHeld: known?.isHeld ?? false,
      value: PicturePriority(of: known, isChanged: isChanged)
    )
  }

  /// Whether a picture is left alone that failed for a lasting reason.
  private func rests(_ id: PictureID, at now: UnixTime, _ known: Known) -> Bool {
    if case .rest = quiet(known.states[id], at: now) { true } else { false }
  }

  private func isFresh(_ id: PictureID, at now: UnixTime, _ known: Known) -> Bool {
    // A picture that no shard had to request was fresh when the run was planned, or is kept by a guard.
    if let settled = known.settled {
      return known.states[id]?.isHeld == true && !settled.contains(id)
    }
    if case .fresh = quiet(known.states[id], at: now) { return true }
    return false
  }

  private func quiet(_ state: PictureState?, at now: UnixTime) -> Freshness? {
    state?.quiet(at: now, onlyDue: context.options.onlyDue)
  }

  /// Has pictures asked for, named or entered, wherever they come from.
  private func bring(_ due: [DuePicture], _ known: Known, isChanged: Bool) {
    switch source {
    case .origins:
      var jobs: [HostPort: [Job]] = [:]
      for (id, url) in due {
        jobs[url.hostPort, default: []].append(
          job(id, url, known.states[id], isChanged: isChanged)
        )
      }
      for (host, jobs) in jobs { line(of: host).add(jobs) }
    case .named(let tell):
      for (id, url) in due { tell(id, url) }
      finish(due.map { ($0.id, .unfinished) })
    case .settled(let pictures):
      hand(due.map(\.id), to: pictures)
    }
  }

  /// Gathers pictures that other runs had to bring, and enters them when there are many.
  private func hand(_ ids: [PictureID], to pictures: any ImportedPictures) {
    let full = state.withLock { state -> [PictureID] in
      state.settling += ids
      guard state.settling.count >= Self.settledAtOnce else { return [] }
      defer { state.settling.removeAll(keepingCapacity: true) }
      return state.settling
    }
    if !full.isEmpty { settle(full, of: pictures) }
  }

  private func line(of host: HostPort) -> LimitedQueue<Job> {
    state.withLock { state in
      if let line = state.lines[host] { return line }
      var limit = Self.window
      var order: (@Sendable (Job, Job) -> Bool)?
      if context.options.onlyDue {
        limit = Self.warmWindow
        order = { $0.value < $1.value }
      }
      let line = LimitedQueue<Job>(
        limit: limit,
        queue: context.starts,
        isOpen: state.isOpen,
        order: order
      ) { [weak self] batch in self?.ask(batch) }
      state.lines[host] = line
      return line
    }
  }

  /// Ends one request: counts it, lets the next of its host start, leaves the group.
  func finish(_ job: Job?, _ end: FetchedPicture) {
    if let job { ended(job.id, end) }
    let line = job.flatMap { job in state.withLock { $0.lines[job.url.hostPort] } }
    count(CollectionOfOne(end))
    line?.leave()
    group.leave()
  }

  /// The same of pictures that no host was asked for.
  func finish(_ pictures: [(id: PictureID, end: FetchedPicture)]) {
    for (id, end) in pictures { ended(id, end) }
    count(pictures.lazy.map(\.end))
    for _ in pictures { group.leave() }
  }

  private func count(_ ends: some Collection<FetchedPicture>) {
    let failed = state.withLock { state in
      let before = state.tally.failed
      for end in ends { end.count(in: &state.tally) }
      return state.tally.failed - before
    }
    context.progress.update {
      $0.pictures.done += ends.count
      for end in ends { $0.bytes += end.bytes.count }
      $0.failed += failed
    }
  }
}

extension PictureStage {
  /// Starts a batch: looks up the held pictures, adopts files of a killed run, and requests the rest.
  func ask(_ batch: [Job]) {
    var entries: [PictureID: PictureEntry] = [:]
    do throws(LarderError) {
      let held = batch.filter(\.isHeld).map(\.id)
      if !held.isEmpty { entries = try context.index.pictures(held) }
      for job in batch where !job.isHeld {
        let identity = context.identity(of: job.url)
        if let entry = try strays.adopt(job.id, url: job.url.text, identity: identity) {
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
  /// Splits the jobs by a condition.
  fileprivate func parted(_ holds: (PictureStage.Job) -> Bool) -> (Self, Self) {
    (filter(holds), filter { !holds($0) })
  }
}

/// How much it is worth to ask for a picture before others, when not all can be asked for.
///
/// Smaller values go first: pictures that were never held, then those of items that just changed, then
/// the rest, the longest unchecked first. So pictures that did not fit into one run come first in the
/// next.
struct PicturePriority: Comparable, Sendable {
  /// 0 for new, 1 for changed, 2 for known.
  var rank: Int
  /// When the origin last said anything of it.
  var seen: UnixTime

  /// The value of a picture.
  ///
  /// - Parameters:
  ///   - state: its state; nil when it was never requested.
  ///   - isChanged: whether an item that shows it just changed.
  init(of state: PictureState?, isChanged: Bool) {
    seen = state?.checked ?? 0
    switch state {
    case nil: rank = 0
    // Noted, and never asked for.
    case let state? where !state.isHeld && state.checked == 0: rank = 0
    case let state? where state.isHeld && isChanged: rank = 1
    default: rank = 2
    }
  }

  /// Orders by rank, then by when they were seen.
  static func < (left: PicturePriority, right: PicturePriority) -> Bool {
    (left.rank, left.seen) < (right.rank, right.seen)
  }
}

extension RunContext {
  /// Reports pictures that an unattended run leaves alone as unavailable.
  func noteResting(_ ids: [PictureID]) {
    let entries = (try? index.pictures(ids)) ?? [:]
    for id in ids {
      let text = entries[id]?.url ?? ""
      let url = (try? transport.parse(text, relativeTo: nil))?.redacted ?? text
      let reason = FailureReason(rawValue: entries[id]?.failure ?? "")
      let detail = "left alone for a while after it failed"
      failures.note(id, TransferFailure(reason: reason, url: url, detail: detail))
    }
  }
}
