import Base
import Cache
import Dispatch
import Synchronization
import Transport

/// The stage of a run that brings every picture of the catalog up to date.
///
/// A picture that several items show is handled once.
///
/// Pictures are added, and usually requested, as soon as their section or detail is decoded. (A section is a list of
/// items. A detail is the document about one item, with more data than the item has in the list.) `group` waits for all
/// pictures. Each host has its own queue, so that a slow host does not delay the others.
final class PictureStage: Sendable {
  /// Waits for the pictures.
  ///
  /// It is entered once for each picture that needs a request, and left when the picture is on disk or has failed.
  let group = WorkGroup()

  /// A picture that needs a request.
  struct Job: Sendable {
    let id: PictureID
    let url: WebURL
    let isHeld: Bool
    let priority: PicturePriority
  }

  /// A picture that needs a request, before its place in a queue is known.
  typealias DuePicture = (id: PictureID, url: WebURL)

  private struct Work {
    var isOpen: Bool
    var seen = PictureSet()
    var ahead: Set<PictureID> = []
    var tally = SyncReport.Pictures()
    var lines: [HostPort: LimitedQueue<Job>] = [:]
    /// The numbers of pictures and of finished pictures that are not yet reported as progress.
    var untold = (total: 0, done: 0)
  }

  /// The states of some pictures, which are looked up outside the lock.
  private typealias States = [PictureID: PictureState]

  let context: RunContext
  let strays: StrayFiles
  private let known: KnownPictures
  private let planned: (@Sendable ([DuePicture]) -> Void)?
  private let since: UnixTime?
  private let ended: @Sendable (PictureID, FetchedPicture) -> Void
  let stored: @Sendable (PictureID) -> Void
  private let state: Mutex<Work>

  /// The maximum number of pictures of one host that are in progress.
  ///
  /// A picture is in progress from its request until its row is written.
  ///
  /// The number is large enough that the transport never waits for a row to be written, and small enough to limit the
  /// memory for requests.
  private static let window = 512
  /// The same limit for an unattended run, which is one of `larder warm`.
  ///
  /// This limit is smaller, because a more valuable picture that is added later cannot overtake a picture in progress.
  private static let warmWindow = 64
  /// The number of URLs to look up in the index at once.
  private static let batch = 1024

  /// Makes the stage for the pictures of one run.
  ///
  /// - Parameters:
  ///   - context: The values that all stages of the run share.
  ///   - known: The states of pictures in the index.
  ///   - strays: The files in the cache that no row of the index names. If a picture's file is among them, the picture
  ///     needs no request.
  ///   - planned: Called with pictures instead of requesting them; nil to request them.
  ///   - since: In a merge of shards, the time of their plan. A cached picture needs no request if the origin has
  ///     answered for it since then, or if it was fresh then.
  ///   - ended: Called with each picture that needed a request, and its result.
  ///   - stored: Called with each picture that has new bytes, when they are on disk.
  init(
    _ context: RunContext,
    known: KnownPictures,
    strays: StrayFiles,
    planned: (@Sendable ([DuePicture]) -> Void)? = nil,
    since: UnixTime? = nil,
    ended: @escaping @Sendable (PictureID, FetchedPicture) -> Void = { _, _ in },
    stored: @escaping @Sendable (PictureID) -> Void
  ) {
    self.known = known
    (self.planned, self.since) = (planned, since)
    self.ended = ended
    self.stored = stored
    self.context = context
    self.strays = strays
    state = Mutex(Work(isOpen: !context.options.onlyDue))
  }

  /// The counts so far.
  var tally: SyncReport.Pictures { state.withLock { $0.tally } }
  /// The pictures that were added.
  var seen: PictureSet { state.withLock { $0.seen } }

  /// Starts the requests of an unattended run, the most valuable first.
  ///
  /// Call it when all sections have added their pictures.
  func release() {
    let lines = state.withLock { state in
      state.isOpen = true
      return Array(state.lines.values)
    }
    for line in lines { line.open() }
  }

  /// Requests the pictures of a section that was just decoded, while its items are still being written to the index.
  ///
  /// ``add(_:isChanged:)`` counts these pictures later. In an unattended run, this function does nothing, because such
  /// a run first has to know the priority of every picture.
  func askAhead(_ references: [PictureReference]) {
    guard !context.options.onlyDue else { return }
    var due: [DuePicture] = []
    let now = context.now()
    let ids = references.map(\.address.id)
    guard let known = known(of: ids) else { return }
    counting { state in
      let seen = state.seen.members(ids)
      for (id, reference) in zip(ids, references) {
        guard let url = reference.url, !seen.contains(id), !isFresh(id, at: now, known),
          state.ahead.insert(id).inserted
        else { continue }
        begin(&state)
        due.append((id, url))
      }
    }
    bring(due, known, isChanged: true)
  }

  /// Adds the pictures of a section or detail, and requests those that need it.
  ///
  /// Their rows in the index have the URLs.
  ///
  /// - Parameters:
  ///   - ids: The pictures.
  ///   - isChanged: Whether the shop has just sent the section or detail.
  /// - Throws: ``LarderError`` if the index cannot be read, or a picture has no row. The pictures that were not found
  ///   then fail.
  func add(_ ids: [PictureID], isChanged: Bool) throws(LarderError) {
    let now = context.now()
    guard let known = known(of: ids) else { return }
    let asked = counting { state in count(ids, known, at: now, &state) }
    // Every picture that was counted must be finished, even after an error.
    var left = asked.count
    defer { for _ in 0..<left { finish(nil, .failed) } }
    for batch in stride(from: 0, to: asked.count, by: Self.batch) {
      let batch = Array(asked[batch..<min(batch + Self.batch, asked.count)])
      let rows = try context.index.pictureURLs(batch)
      var due: [DuePicture] = []
      for id in batch {
        guard let row = rows[id] else { continue }
        left -= 1
        do throws(TransferFailure) {
          due.append((id, try url(of: row, rests: rests(id, at: now, known))))
        } catch {
          context.failures.note(id, error)
          finish(nil, .failed)
        }
      }
      bring(due, known, isChanged: isChanged)
      guard rows.count == batch.count else { throw context.index.lostPicture() }
    }
  }

  /// The URL at which a picture is requested.
  ///
  /// - Parameters:
  ///   - row: The picture's URL, and the reason of its last failure.
  ///   - rests: Whether this run skips the picture, because it failed recently.
  /// - Returns: The URL.
  /// - Throws: The failure to report if the picture is not requested.
  private func url(
    of row: (url: String, failure: String?),
    rests: Bool
  ) throws(TransferFailure) -> WebURL {
    guard rests else { return try context.transport.parse(row.url, relativeTo: nil) }
    throw TransferFailure(
      reason: FailureReason(rawValue: row.failure ?? ""),
      url: (try? context.transport.parse(row.url, relativeTo: nil))?.redacted ?? row.url,
      detail: "not requested again yet, because it failed recently"
    )
  }

  /// Looks up the states of pictures; nil if the index cannot be read.
  ///
  /// In that case, the run ends.
  private func known(of ids: [PictureID]) -> States? {
    do throws(LarderError) {
      return try known.states(of: ids)
    } catch {
      context.failures.note(error)
      return nil
    }
  }

  /// Counts references to pictures.
  ///
  /// Returns the pictures that need a request; the group is entered for each of them.
  private func count(
    _ ids: [PictureID],
    _ known: States,
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

  /// Runs `body` under the lock, and reports the changed counts as progress when the lock is released.
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

  private func begin(_ state: inout Work) {
    group.enter()  // Left in finish(_:_:), which ends every request.
    state.untold.total += 1
  }

  /// Whether this run skips a picture because the picture failed recently, for a reason that is likely to last.
  private func rests(_ id: PictureID, at now: UnixTime, _ known: States) -> Bool {
    if case .rest = quiet(known[id], at: now) { true } else { false }
  }

  private func isFresh(_ id: PictureID, at now: UnixTime, _ known: States) -> Bool {
    if let since, let state = known[id], state.isHeld,
      state.checked >= since || state.freshness(at: since) != nil
    {
      return true
    }
    if case .fresh = quiet(known[id], at: now) { return true }
    return false
  }

  private func quiet(_ state: PictureState?, at now: UnixTime) -> Freshness? {
    state?.quiet(at: now, onlyDue: context.options.onlyDue)
  }

  /// Requests the pictures, or passes them to a plan.
  private func bring(_ due: [DuePicture], _ known: States, isChanged: Bool) {
    if let planned {
      planned(due)
      for _ in due { finish(nil, .unfinished) }
      return
    }
    var jobs: [HostPort: [Job]] = [:]
    for (id, url) in due {
      let state = known[id]
      let priority = PicturePriority(of: state, isChanged: isChanged)
      jobs[url.hostPort, default: []].append(
        Job(id: id, url: url, isHeld: state?.isHeld ?? false, priority: priority)
      )
    }
    for (host, jobs) in jobs { line(of: host).add(jobs) }
  }

  private func line(of host: HostPort) -> LimitedQueue<Job> {
    state.withLock { state in
      if let line = state.lines[host] { return line }
      var limit = Self.window
      var order: (@Sendable (Job, Job) -> Bool)?
      if context.options.onlyDue {
        limit = Self.warmWindow
        order = { $0.priority < $1.priority }
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

  /// Finishes a picture.
  ///
  /// Counts its result, lets the next picture of its host start, and leaves the group.
  func finish(_ job: Job?, _ end: FetchedPicture) {
    if let job { ended(job.id, end) }
    let line = job.flatMap { job in state.withLock { $0.lines[job.url.hostPort] } }
    count(end)
    line?.leave()
    group.leave()
  }

  private func count(_ end: FetchedPicture) {
    state.withLock { end.count(in: &$0.tally) }
    context.progress.update {
      $0.pictures.done += 1
      $0.bytes += end.bytes.count
      if end == .failed { $0.failed += 1 }
    }
  }
}

extension PictureStage {
  /// Starts a batch of pictures.
  ///
  /// Looks up the cached ones, adopts files that a killed run left, and requests the rest.
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
    var own: [Job] = []
    for job in batch {
      if let entry = entries[job.id], entry.identity != context.identity(of: job.url) {
        refuse(job)
      } else {
        own.append(job)
      }
    }
    context.store.announce(own.count)
    for job in own { fetch(job, held: entries[job.id]) }
  }

  /// Reports a picture as failed because another picture has the same key.
  private func refuse(_ job: Job) {
    let failure = TransferFailure(
      reason: .identityClash,
      url: job.url.redacted,
      detail: "another picture has the same key and file"
    )
    context.failures.note(job.id, failure)
    finish(job, .failed)
  }

  private func fetch(_ job: Job, held: PictureEntry?) {
    var request = context.named.pictureRequest(for: job.url)
    // In an unattended run, pictures have the same priority as details, because otherwise a deadline could cut off the
    // pictures in every run.
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
    let fetch = PictureFetch(job: job, held: held, sink: sink, asked: asked)
    // SAFETY of the group: the transport completes every fetch exactly once, and every path of take(_:of:) calls
    // finish(_:_:) once.
    context.transport.fetch(request, into: sink) { [self] result in
      take(result, of: fetch)
      context.store.conclude()
    }
  }
}

/// The priority of a picture in an unattended run.
///
/// Such a run can end before it has requested all pictures.
///
/// Pictures with smaller values are requested first. These are pictures that were never requested, then cached pictures
/// of items that have just changed, then the rest. Among pictures with the same rank, the one with the oldest check is
/// first. Pictures that one run did not reach are therefore early in the next run.
struct PicturePriority: Comparable, Sendable {
  /// 0 for a picture that was never requested, 1 for a picture of an item that has just changed, 2 for the others.
  var rank: Int
  /// The time of the last answer about the picture; 0 if there was none.
  var seen: UnixTime

  /// The priority of a picture.
  ///
  /// - Parameters:
  ///   - state: The picture's state; nil if it was never requested.
  ///   - isChanged: Whether an item that shows the picture has just changed.
  init(of state: PictureState?, isChanged: Bool) {
    seen = state?.checked ?? 0
    switch state {
    case nil: rank = 0
    // The picture has a row, but was never requested.
    case let state? where !state.isHeld && state.checked == 0: rank = 0
    case let state? where state.isHeld && isChanged: rank = 1
    default: rank = 2
    }
  }

  /// Orders priorities by rank, then by the time of the last answer.
  static func < (left: PicturePriority, right: PicturePriority) -> Bool {
    (left.rank, left.seen) < (right.rank, right.seen)
  }
}
