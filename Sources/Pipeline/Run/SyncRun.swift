import Base
import Cache
import Catalog
import Imaging
import Synchronization
import Transport

/// One run of the main job: sections, then details and pictures, all in parallel, then the report.
///
/// Blocks the thread that calls ``run()``. Three groups join the work; every request that
/// entered one leaves it on success, failure and cancellation alike, because the transport
/// completes each exactly once. ``stop()`` may be called from any thread.
package final class SyncRun: Sendable {
  private let catalog: CatalogFile
  private let folder: String
  private let cachePath: String
  private let options: SyncOptions
  private let transport: StoppableTransport
  private let disk: any Disk
  private let remote: (any RemotePictures)?
  private let environment: [String: String]
  private let parts: PlannedInputs
  private let now: @Sendable () -> UnixTime
  private let notice: @Sendable (String) -> Void

  /// How far the run is, for a display.
  package let progress = ProgressMeter()

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - catalog: the catalog.
  ///   - folder: the catalog file's folder, which local sections are relative to.
  ///   - cache: the cache's path; it is made when there is none.
  ///   - options: the options.
  ///   - transport: how to fetch.
  ///   - environment: where `${NAME}` in the catalog's headers and URLs comes from.
  ///   - parts: the replacements of origins: none, unless many machines share the run.
  ///   - disk: where bytes go.
  ///   - remote: the store that keeps the pictures instead of the cache's folder; nil for an ordinary cache.
  ///   - now: the wall clock.
  ///   - notice: called with a sentence for the user when something was repaired before the run,
  ///     or left undone after it.
  package init(
    _ catalog: CatalogFile,
    folder: String,
    cache: String,
    options: SyncOptions = SyncOptions(),
    transport: any Fetching,
    environment: [String: String] = [:],
    parts: PlannedInputs = PlannedInputs(),
    disk: any Disk = SystemDisk(),
    remote: (any RemotePictures)? = nil,
    now: @escaping @Sendable () -> UnixTime,
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.catalog = catalog
    self.folder = folder
    self.cachePath = cache
    self.options = options
    self.transport = StoppableTransport(transport)
    self.environment = environment
    self.parts = parts
    self.disk = disk
    self.remote = remote
    self.now = now
    self.notice = notice
  }

  /// Ends the run early: nothing new is started, whole pictures are kept, and the report lists the rest.
  package func stop() {
    transport.stop()
  }

  /// Runs to the end and returns the report.
  ///
  /// An index that turns out damaged is renamed and rebuilt from its readable rows and from the files,
  /// and the run begins again.
  ///
  /// - Parameter holder: the text for the cache's lock, shown to processes that have to wait.
  /// - Returns: The report.
  /// - Throws: ``LarderError``, or ``CatalogError`` when the catalog file or the environment is wrong: the run could not take
  ///   place at all.
  package func run(holder: String) throws -> SyncReport {
    do {
      do {
        return try perform(holder: holder)
      } catch let error as LarderError where error.code == .damaged {
        let renewal = IndexRenewal(cachePath, remote)
        guard let notice = try renewal.run(holder: holder, at: now()) else { throw error }
        self.notice(notice)
        return try perform(holder: holder)
      }
    } catch {
      throw LarderError.ending(error, "sync \(catalog.name)")
    }
  }

  /// The run in its steps: plan, open, wire, run, close.
  private func perform(holder: String) throws -> SyncReport {
    let began = ContinuousClock.now
    // Mistakes in the catalog file are reported before anything is created or fetched.
    let request = try RunRequest(
      catalog,
      folder: folder,
      options: options,
      environment: environment,
      parser: transport,
      now: now
    )
    let opened = try OpenedRun(
      request,
      cache: cachePath,
      holder: holder,
      disk: disk,
      remote: remote,
      transport: transport,
      parts: parts,
      isStopped: { [transport] in transport.hasStopped },
      progress: progress,
      notice: notice
    )
    let stages = try RunStages(
      opened,
      request.addresses,
      disk: disk,
      pictures: parts.pictures
    ) { [transport] in transport.hasStopped }
    let results = try stages.run(request.sections) { transport.hasStopped }
    return try opened.close(
      results,
      wasStopped: transport.hasStopped,
      since: began,
      notice: notice
    )
  }
}

extension LarderError {
  /// The error of an address in the catalog file that cannot be used.
  package init(_ refusal: TransferFailure) {
    self.init(
      refusal.reason == .libraryRefused ? .unfit : .configuration,
      refusal.description,
      thing: refusal.url.isEmpty ? nil : refusal.url,
      status: refusal.status
    )
  }

  /// The error that ends a run, from any error during `task`.
  static func ending(_ error: any Error, _ task: String) -> any Error {
    switch error {
    case is LarderError, is CatalogError: error
    case let error as TransferFailure: LarderError(error)
    default: LarderError(.disk, "cannot \(task): \(error)")
    }
  }
}

extension RunSection {
  init(_ result: SectionResult) {
    self.init(
      key: result.key,
      title: result.title,
      subtitle: result.subtitle,
      listing: result.listing,
      source: result.source.rawValue
    )
  }
}

/// The settings of a sync that are not in the catalog file.
package struct SyncOptions: Sendable {
  /// Replaces the catalog's `base`.
  package var base: String?
  /// Only the pictures of the lists.
  package var thumbnailsOnly = false
  /// No details, and so none of their pictures.
  package var noDetails = false
  /// One bad item fails the run.
  package var strict = false
  /// How many items of a listing may be unreadable before it is not taken.
  package var maxSkipped = SkipLimit.standard
  /// The shrink guard lets everything go.
  package var allowRemovals = false
  /// Request only stale and missing data, the most valuable first: an unattended run.
  package var onlyDue = false
  /// Pixels along a side of the squares that are kept beside the pictures; nil makes none.
  package var squareSide: Int?
  /// Where squares are made.
  package var pictures: any PictureWorking = PicturesHere()
  /// When no body is decoded further, and squares end, those under way too where they can be given up; the transport has
  /// the deadline of the requests.
  package var deadline: UnixTime?
  /// The most bytes of one picture.
  package var pictureLimit = ByteCount.mebibytes(64)
  /// The most bytes of one JSON body.
  package var jsonLimit = ByteCount.mebibytes(1024)

  /// The defaults.
  package init() {}
}

/// How far a sync is, at one moment.
public struct SyncProgress: Sendable, Hashable {
  /// A number done of a number known, such as 12 of 94.
  public struct Count: Sendable, Hashable {
    /// How many are done, failed ones included.
    public package(set) var done: Int
    /// How many there are, as far as is known yet.
    public package(set) var total: Int

    /// A count, nothing of nothing unless told otherwise.
    package init(done: Int = 0, total: Int = 0) {
      self.done = done
      self.total = total
    }

    /// Whether all known work is done.
    package var isComplete: Bool { done == total }
  }

  /// The sections' pages.
  public package(set) var sections = Count()
  /// The details of items.
  public package(set) var details = Count()
  /// The pictures, each URL counted once.
  public package(set) var pictures = Count()
  /// Bytes of pictures that came and were kept.
  public package(set) var bytes: Int64 = 0
  /// How many of all failed.
  public package(set) var failed = 0

  /// Nothing done of nothing.
  package init() {}
}

/// The progress of a run, read from any thread while it runs.
package final class ProgressMeter: Sendable {
  private let state = Mutex(SyncProgress())

  /// Nothing done of nothing.
  package init() {}

  /// The progress at this moment.
  package var current: SyncProgress { state.withLock { $0 } }

  func update(_ body: (inout SyncProgress) -> Void) {
    state.withLock { body(&$0) }
  }
}

/// A transport that takes nothing more once the run is to end.
///
/// `cancelAll` alone ends only requests submitted before it, while a run still has queued pictures
/// and sections in its decoders that would be submitted after it.
final class StoppableTransport: Fetching {
  private let transport: any Fetching
  private let isStopped = Atomic(false)

  init(_ transport: any Fetching) {
    self.transport = transport
  }

  /// Whether ``stop()`` was called.
  var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  /// Cancels everything, and all that comes later.
  func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    transport.cancelAll()
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try transport.parse(text, relativeTo: base)
  }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    guard !hasStopped else {
      return completion(
        .failure(TransferFailure(reason: .cancelled, url: request.url.redacted))
      )
    }
    transport.fetch(request, into: sink, completion: completion)
    // Submitted after the cancellation, yet judged before it: cancel again.
    if hasStopped { transport.cancelAll() }
  }

  func fields(of request: Request) -> Headers { transport.fields(of: request) }

  func cancelAll() { transport.cancelAll() }
}
