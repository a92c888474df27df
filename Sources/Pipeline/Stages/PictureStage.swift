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

  private struct State {
    var isOpen: Bool
    var states: [PictureID: PictureState]
    var seen: Set<PictureID> = []
    /// What was asked for before it was counted.
    var ahead: Set<PictureID> = []
    var tally = SyncReport.Images()
    var lines: [HostPort: WorkLine<Job>] = [:]
    /// What waits to be settled: no host is asked, so nothing but the identity is held.
    var settling: WorkLine<PictureID>?
    /// What was counted and progress is not told of yet.
    var untold = (total: 0, done: 0)
  }

  let context: RunContext
  let orphans: OrphanFiles
  private let source: PictureSource
  private let ended: @Sendable (PictureID, PictureEnd) -> Void
  let stored: @Sendable (PictureID) -> Void
  private let answers: PictureAnswers
  private let state: Mutex<State>

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
  ///   - states: what the index knows of each picture.
  ///   - orphans: files without a row, which pictures may adopt.
  ///   - source: where pictures come from.
  ///   - ended: told of each picture that was asked for, once it has ended.
  ///   - stored: told of each picture whose bytes are new, once they are durable.
  init(
    _ context: RunContext,
    states: [PictureID: PictureState],
    orphans: OrphanFiles,
    source: PictureSource = .origins,
    ended: @escaping @Sendable (PictureID, PictureEnd) -> Void = { _, _ in },
    stored: @escaping @Sendable (PictureID) -> Void
  ) {
    self.source = source
    self.ended = ended
    self.stored = stored
    self.context = context
    self.orphans = orphans
    answers = PictureAnswers(context, stored: stored)
    state = Mutex(State(isOpen: !context.options.onlyDue, states: states))
  }

  /// What was done so far.
  var tally: SyncReport.Images { state.withLock { $0.tally } }
  /// Every picture that was referred to.
  var seen: Set<PictureID> { state.withLock { $0.seen } }

  /// Starts the pictures of an unattended run, the most valuable first, once all sections have listed theirs.
  func release() {
    let (lines, settling) = state.withLock { state in
      state.isOpen = true
      return (Array(state.lines.values), state.settling)
    }
    for line in lines { line.open() }
    settling?.open()
  }

  /// Asks for the pictures of a section that was just decoded, while its listing is being kept.
  ///
  /// ``add(_:)`` counts them once that stands. An unattended run waits until it knows what matters most.
  func askAhead(_ references: [PictureReference]) {
    guard !context.options.onlyDue else { return }
    var jobs: [HostPort: [Job]] = [:]
    let now = context.now()
    counting { state in
      for reference in references {
        let id = reference.id
        guard case .success(let url) = reference.url, !state.seen.contains(id),
          !isFresh(id, at: now, state), state.ahead.insert(id).inserted
        else { continue }
        begin(&state)
        jobs[url.hostPort, default: []].append(job(id, url, state.states[id], isChanged: true))
      }
    }
    enqueue(jobs)
  }

  /// Adds references whose URLs are at hand: a section or detail just decoded.
  func add(_ references: [PictureReference]) {
    var jobs: [HostPort: [Job]] = [:]
    var refused: [(id: PictureID, failure: TransferFailure)] = []
    var resting: [PictureID] = []
    let now = context.now()
    counting { state in
      for reference in references where count(reference.id, at: now, &state) {
        let id = reference.id
        switch reference.url {
        case .success where rests(id, at: now, state):
          resting.append(id)
        case .success(let url):
          jobs[url.hostPort, default: []].append(job(id, url, state.states[id], isChanged: true))
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
    enqueue(jobs)
  }

  /// Where the URLs of pictures stand that have no row in the index: calls its second argument with those of
  /// the wanted pictures; what it gives beyond is passed over.
  typealias URLSource = (
    _ wanted: Set<PictureID>, _ found: (PictureID, String) -> Void
  ) throws(CacheError) -> Void

  /// Adds the references of a section or detail that did not change, or is too large to be held, by identity only.
  ///
  /// - Parameters:
  ///   - ids: the pictures.
  ///   - urls: the URLs of those that are new.
  /// - Throws: ``CacheError`` when the index cannot be read; the pictures whose URLs are not known then have failed.
  func add(_ ids: [PictureID], urls: URLSource) throws(CacheError) {
    let now = context.now()
    let (due, resting) = counting { state in
      let asked = ids.filter { count($0, at: now, &state) }
      let due = asked.filter { !rests($0, at: now, state) }
      return (due, asked.filter { rests($0, at: now, state) })
    }
    context.noteResting(resting)
    for _ in resting { finish(nil, .failed) }
    // Whatever is thrown, each that was counted ends.
    var unnamed = Set(due)
    defer { for _ in unnamed { finish(nil, .failed) } }
    for batch in stride(from: 0, to: due.count, by: Self.batch) {
      let batch = Array(due[batch..<min(batch + Self.batch, due.count)])
      let known = try context.index.pictureURLs(batch)
      add(batch.compactMap { id in known[id].map { (id, $0) } })
      unnamed.subtract(known.keys)
    }
    guard !unnamed.isEmpty else { return }
    var found: [(PictureID, String)] = []
    defer { add(found) }
    try urls(unnamed) { id, url in
      guard unnamed.remove(id) != nil else { return }
      found.append((id, url))
      guard found.count == Self.batch else { return }
      add(found)
      found = []
    }
    add(unnamed.map { ($0, "") })
    unnamed = []
  }

  /// Adds pictures that were counted and whose URLs were looked up.
  private func add(_ found: [(id: PictureID, url: String)]) {
    let known = state.withLock { state in found.map { state.states[$0.id] } }
    var jobs: [HostPort: [Job]] = [:]
    for ((id, text), known) in zip(found, known) {
      do throws(TransferFailure) {
        let url = try context.transport.parse(text, relativeTo: nil)
        jobs[url.hostPort, default: []].append(job(id, url, known, isChanged: false))
      } catch {
        context.failures.note(id, error)
        finish(nil, .failed)
      }
    }
    enqueue(jobs)
  }

  /// Counts a reference, and says whether it needs a request; enters the group if so.
  private func count(_ id: PictureID, at now: UnixTime, _ state: inout State) -> Bool {
    state.tally.referenced += 1
    guard state.seen.insert(id).inserted else { return false }
    state.tally.unique += 1
    if state.ahead.remove(id) != nil { return false }
    if isFresh(id, at: now, state) {
      state.tally.fresh += 1
      state.untold.total += 1
      state.untold.done += 1
      return false
    }
    begin(&state)
    return true
  }

  /// Counts under the lock, and tells of it behind the lock.
  private func counting<Value>(_ body: (inout State) -> Value) -> Value {
    let (value, news) = state.withLock { state in
      let value = body(&state)
      defer { state.untold = (0, 0) }
      return (value, state.untold)
    }
    if news.total > 0 {
      context.progress.update {
        $0.pictures.total += news.total
        $0.pictures.done += news.done
      }
    }
    return value
  }

  /// Enters the group for a picture that needs a request.
  private func begin(_ state: inout State) {
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
  private func rests(_ id: PictureID, at now: UnixTime, _ state: State) -> Bool {
    if case .rest = quiet(state.states[id], at: now) { true } else { false }
  }

  private func isFresh(_ id: PictureID, at now: UnixTime, _ state: State) -> Bool {
    // What no shard was to ask for was fresh when the run was planned, or is kept by a guard.
    if case .settled(let pictures) = source {
      return !pictures.has(id) && state.states[id]?.isHeld == true
    }
    if case .fresh = quiet(state.states[id], at: now) { return true }
    return false
  }

  private func quiet(_ known: PictureState?, at now: UnixTime) -> Freshness? {
    known?.quiet(at: now, onlyDue: context.options.onlyDue)
  }

  private func enqueue(_ jobs: [HostPort: [Job]]) {
    if case .settled(let pictures) = source {
      let line = line(settling: pictures)
      return line.add(jobs.values.flatMap { $0.map(\.id) })
    }
    for (host, jobs) in jobs { line(of: host).add(jobs) }
  }

  private func line(of host: HostPort) -> WorkLine<Job> {
    state.withLock { state in
      if let line = state.lines[host] { return line }
      var limit = Self.window
      var order: (@Sendable (Job, Job) -> Bool)?
      if context.options.onlyDue {
        limit = Self.warmWindow
        order = { $0.value < $1.value }
      }
      let line = WorkLine<Job>(
        limit: limit,
        queue: context.starts,
        isOpen: state.isOpen,
        order: order
      ) { [weak self] batch in self?.start(batch) }
      state.lines[host] = line
      return line
    }
  }

  private func line(settling pictures: any SettledPictures) -> WorkLine<PictureID> {
    state.withLock { state in
      if let line = state.settling { return line }
      let line = WorkLine<PictureID>(
        limit: Self.window,
        queue: context.starts,
        isOpen: state.isOpen
      ) { [weak self] batch in self?.settle(batch, of: pictures) }
      state.settling = line
      return line
    }
  }

  /// Starts a batch: where pictures come from their origins, looks up what is held of it, adopts what a killed run
  /// left, and asks.
  private func start(_ batch: [Job]) {
    switch source {
    case .origins: ask(batch)
    case .named(let tell):
      for job in batch {
        tell(job.id, job.url)
        finish(job, .unfinished)
      }
    case .settled(let pictures): settle(batch.map(\.id), of: pictures)
    }
  }

  private func ask(_ batch: [Job]) {
    var entries: [PictureID: PictureEntry] = [:]
    do throws(CacheError) {
      let held = batch.filter(\.isHeld).map(\.id)
      if !held.isEmpty { entries = try context.index.pictures(held) }
      for job in batch where !job.isHeld {
        if let entry = try orphans.adopt(job.id, url: job.url.text) { entries[job.id] = entry }
      }
    } catch {
      context.failures.note(error)
    }
    context.store.announce(batch.count)
    for job in batch { fetch(job, held: entries[job.id]) }
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
    let sink = context.store.sink(id: job.id, url: job.url.text)
    // A file that was adopted without its row has no response headers.
    let adopted = held.flatMap { $0.response == nil ? AdoptedSink(sink, bytes: $0.bytes) : nil }
    let fetch = PictureFetch(id: job.id, url: job.url, held: held, sink: sink, asked: asked) {
      [self] end in finish(job, end)
    }
    // SAFETY of the group: the transport completes every fetch exactly once, and every path of
    // `answers` calls `ended`, and so finish(_:_:).
    context.transport.fetch(request, into: adopted ?? sink) { [context, answers] result in
      if let head = adopted?.head, let held, case .failure(let refusal) = result {
        answers.assume(held, head, of: fetch, attempts: refusal.attempts)
      } else {
        answers.take(result, of: fetch)
      }
      context.store.conclude()
    }
  }

  /// Ends one request: counts it, lets the next of its host start, leaves the group.
  func finish(_ job: Job?, _ end: PictureEnd) {
    if let job { ended(job.id, end) }
    let line = job.flatMap { job in state.withLock { $0.lines[job.url.hostPort] } }
    count(end)
    line?.leave()
    group.leave()
  }

  /// The same of a picture that another run brought.
  func finish(settled id: PictureID, _ end: PictureEnd) {
    ended(id, end)
    count(end)
    state.withLock { $0.settling }?.leave()
    group.leave()
  }

  private func count(_ end: PictureEnd) {
    let failed = state.withLock { state in
      let before = state.tally.failed
      end.count(in: &state.tally)
      return state.tally.failed - before
    }
    context.progress.update {
      $0.pictures.done += 1
      $0.bytes += end.bytes
      $0.failed += failed
    }
  }
}
