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
  let group = DispatchGroup()

  let context: RunContext
  let strays: StrayFiles
  /// The pictures that the run came across.
  let due: DuePictures
  private let list: (@Sendable (WebURL) -> String)?
  private let shards: ShardAnswers?
  private let ended: @Sendable (PictureID, FetchedPicture) -> Void
  let stored: @Sendable (PictureID) -> Void
  private let counts = Mutex(SyncReport.Pictures())
  /// Whether a request failed because the run ended.
  private let isOver = Atomic(false)
  private let puller: Puller

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

  /// Makes the stage for the pictures of one run.
  ///
  /// - Parameters:
  ///   - context: The values that all stages of the run share.
  ///   - strays: The files in the cache that no row of the index names. If a picture's file is among them, the picture
  ///     needs no request.
  ///   - list: Assigns the pictures that are due to lists instead of requesting them; see ``SharedSync/list``. Pass nil
  ///     to request them.
  ///   - shards: In a merge of shards, the pictures that they have fetched.
  ///   - ended: Called with each picture that was requested, and its result.
  ///   - stored: Called with each picture that has new bytes, when they are on disk.
  /// - Throws: ``LarderError`` when the index cannot be used.
  init(
    _ context: RunContext,
    strays: StrayFiles,
    list: (@Sendable (WebURL) -> String)? = nil,
    shards: ShardAnswers? = nil,
    ended: @escaping @Sendable (PictureID, FetchedPicture) -> Void = { _, _ in },
    stored: @escaping @Sendable (PictureID) -> Void
  ) throws(LarderError) {
    (self.list, self.shards) = (list, shards)
    self.ended = ended
    self.stored = stored
    self.context = context
    self.strays = strays
    let (hosts, transport) = (HostNames(of: context.transport), context.transport)
    due = try DuePictures(context.index) { url in
      guard let list else { return hosts.host(of: url) }
      return (try? transport.parse(url, relativeTo: nil)).map(list) ?? ""
    }
    let isUnattended = context.options.onlyDue
    puller = Puller(
      limit: isUnattended ? Self.warmWindow : Self.window,
      queue: context.starts,
      isOpen: !isUnattended
    )
    puller.whenFree { [weak self] host, count in self?.start(host, count) }
  }

  /// The counts so far.
  var tally: SyncReport.Pictures { counts.withLock { $0 } }

  /// Starts the requests of an unattended run, the most valuable first.
  ///
  /// Call it when all sections have added their pictures.
  func release() { puller.open() }

  /// Adds pictures, and requests those that are due.
  ///
  /// - Parameters:
  ///   - source: The pictures of a section's items or of details.
  ///   - isChanged: Whether the shop has just sent these items or details.
  /// - Throws: ``LarderError`` if the index cannot be read, or a picture has no row.
  func add(_ source: PictureSource, isChanged: Bool = false) throws(LarderError) {
    take(
      try due.see(source, by: DueRule(isChanged: isChanged, now: context.now(), shards: shards))
    )
  }

  /// Counts pictures, and lets those that are due start.
  private func take(_ seen: SeenPictures) {
    let due = seen.due.values.reduce(0, +)
    // Pictures of a list stay due. A text that is not a URL is in no list, and fails as in a plain run.
    let started = list == nil ? seen.due : seen.due.filter(\.key.isEmpty)
    let count = started.values.reduce(0, +)
    for _ in 0..<count { group.enter() }  // Left in finish(_:_:_:), which ends every request.
    counts.withLock { counts in
      counts.referenced += seen.references
      counts.total += seen.total
      counts.fresh += seen.total - due
    }
    context.progress.update {
      $0.pictures.total += seen.total
      $0.pictures.done += seen.total - count
    }
    puller.add(started)
  }

  /// Finishes a picture.
  ///
  /// Counts its result, lets the next picture of its host start, and leaves the group.
  func finish(_ id: PictureID?, _ host: String, _ end: FetchedPicture) {
    if let id { ended(id, end) }
    counts.withLock { end.count(in: &$0) }
    if end == .unfinished { isOver.store(true, ordering: .relaxed) }
    context.progress.update {
      $0.pictures.done += 1
      $0.bytes += end.bytes.count
      if end == .failed { $0.failed += 1 }
    }
    puller.leave(host)
    group.leave()
  }
}

extension PictureStage {
  /// Starts the next pictures of a host.
  ///
  /// Adopts files that a killed run left, and requests the rest. When the run is over, it only counts them.
  private func start(_ host: String, _ count: Int) {
    guard !isOver.load(ordering: .relaxed) else {
      context.failures.note(unfinished: .picture, count)
      for _ in 0..<count { finish(nil, host, .unfinished) }
      return
    }
    var due: [(entry: PictureEntry, url: WebURL)] = []
    do throws(LarderError) {
      for entry in try self.due.take(host, count) {
        do throws(TransferFailure) {
          due.append((entry, try url(of: entry)))
        } catch {
          context.failures.note(.picture, id: nil, error, of: entry.id)
          finish(nil, host, .failed)
        }
      }
    } catch {
      context.failures.note(error)
      for _ in 0..<count { finish(nil, host, .failed) }
      return
    }
    context.store.announce(due.count)
    let gone = due.map(\.entry).filter(context.layout.isGone).map(\.id)
    do throws(LarderError) { try context.index.save([], forgetting: gone) } catch {
      context.failures.note(error)
    }
    for (entry, url) in due {
      let row =
        gone.contains(entry.id)
        ? PictureEntry(id: entry.id, url: entry.url, identity: entry.identity) : adopted(entry)
      fetch(row, url, host)
    }
  }

  /// The URL at which a picture is requested.
  ///
  /// - Throws: The failure to report if the picture is not requested.
  private func url(of entry: PictureEntry) throws(TransferFailure) -> WebURL {
    guard entry.id == PictureID(url: entry.identity) else {
      throw TransferFailure(
        reason: .identityClash,
        url: context.request.addresses.redacted(entry.url),
        detail: "another picture has the same key and file"
      )
    }
    guard !entry.isHeld,
      case .rest = entry.freshness(
        at: context.now(),
        for: nil,
        onlyDue: context.options.onlyDue
      )
    else {
      let url = try context.transport.parse(entry.url, relativeTo: nil)
      guard context.variables.areKnown(in: url.text) else {
        throw TransferFailure(
          reason: .urlInvalid,
          url: url.redacted,
          detail: "it has a variable whose value is not known; give the catalog file that names it"
        )
      }
      return url
    }
    throw TransferFailure(
      reason: FailureReason(rawValue: entry.failure ?? ""),
      url: context.request.addresses.redacted(entry.url),
      detail: "not requested again yet, because it failed recently"
    )
  }

  /// The row of a picture after its file was adopted, if a killed run left one.
  private func adopted(_ entry: PictureEntry) -> PictureEntry {
    guard !entry.isHeld else { return entry }
    do throws(LarderError) {
      return try strays.adopt(entry.id, url: entry.url, identity: entry.identity) ?? entry
    } catch {
      context.failures.note(error)
      return entry
    }
  }

  private func fetch(_ entry: PictureEntry, _ url: WebURL, _ host: String) {
    var request = context.named.pictureRequest(for: url)
    // In an unattended run, pictures have the same priority as details, because otherwise a deadline could cut off the
    // pictures in every run.
    request.priority = context.options.onlyDue ? .detail : .image
    request.bodyLimit = context.options.pictureLimit
    let asked = context.now()
    if entry.isHeld,
      case .revalidate(let condition) = entry.freshness(
        at: asked,
        for: context.needs.traits(ofPicture: url, entry.identity),
        onlyDue: context.options.onlyDue
      )
    {
      request.condition = condition
    }
    let sink = context.store.sink(id: entry.id, url: entry.identity)
    let fetch = PictureFetch(entry: entry, url: url, host: host, sink: sink, asked: asked)
    // SAFETY of the group: the transport completes every fetch exactly once, and every path of take(_:of:) calls
    // finish(_:_:) once.
    context.transport.fetch(request, into: sink) { [self] result in
      take(result, of: fetch)
      context.store.conclude()
    }
  }
}
