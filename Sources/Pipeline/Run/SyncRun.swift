import Base
import Cache
import Catalog
import Imaging
import Synchronization
import Transport

/// One run of `sync` or `warm`: fetches sections, details and pictures in parallel, and returns the report.
///
/// ``run(holder:)`` blocks; ``stop()`` may be called from any thread. Three dispatch groups wait for the work. Every
/// request leaves its group on success, failure and cancellation, because the transport completes each request exactly
/// once.
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

  /// The progress of the run, for a display.
  package let progress = ProgressMeter()

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - folder: The catalog file's folder, which local sections are relative to.
  ///   - cache: The cache's path; it is made when there is none.
  ///   - options: The options.
  ///   - transport: The transport that sends the requests.
  ///   - environment: The variables for `${NAME}` in the catalog's headers and URLs.
  ///   - parts: The sources of documents and pictures: the origins, or the results of shards in a merge.
  ///   - disk: The file system to write to.
  ///   - remote: The remote store of the pictures; nil for an ordinary cache, with the pictures in its folder.
  ///   - now: The clock.
  ///   - notice: Called with a message for the user, for example when the index was repaired before the run.
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

  /// Ends the run early: no further request is started, whole pictures are kept, and the report lists the unfinished
  /// requests.
  package func stop() {
    transport.stop()
  }

  /// Runs to the end and returns the report.
  ///
  /// If the index turns out to be damaged, it is renamed and rebuilt from its readable rows and the files, and the run
  /// starts over.
  ///
  /// - Parameter holder: The text for the cache's lock, shown to processes that have to wait.
  /// - Returns: The report.
  /// - Throws: ``CatalogError`` when the catalog file or the environment is wrong, ``LarderError`` when the run could
  ///   not take place for another reason.
  package func run(holder: String) throws -> SyncReport {
    do {
      do {
        return try perform(holder: holder)
      } catch let error as LarderError where error.code == .damaged {
        let words = try CacheCheck.renewIndex(of: cachePath, remote, holder: holder, at: now())
        guard let words else { throw error }
        notice(words)
        return try perform(holder: holder)
      }
    } catch {
      throw LarderError.ending(error, "sync \(catalog.name)")
    }
  }

  /// The steps of a run: check the addresses, open the cache, make the stages, run them, close.
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
      hasStopped: { [transport] in transport.hasStopped },
      progress: progress,
      notice: notice
    )
    let stages = try RunStages(opened, request.addresses, disk: disk, pictures: parts.pictures)
    return try opened.close(try stages.run(request.sections), since: began, notice: notice)
  }
}

extension LarderError {
  /// The error for an unusable address in the catalog file.
  package init(_ refusal: TransferFailure) {
    self.init(
      refusal.reason == .libraryRefused ? .unfit : .configuration,
      refusal.description,
      thing: refusal.url.isEmpty ? nil : refusal.url,
      status: refusal.status
    )
  }

  /// Translates any error during `task` into one that ends a run.
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
  /// The URL to fetch from instead of the catalog's `base`; nil to use `base`.
  package var base: String?
  /// Whether to fetch only the pictures of lists, the thumbnails.
  package var thumbnailsOnly = false
  /// Whether to skip the details, and so their pictures.
  package var noDetails = false
  /// Whether to fail on the first item that cannot be read.
  package var strict = false
  /// The number or share of unreadable items beyond which a listing is rejected.
  package var maxSkipped = SkipLimit.standard
  /// Whether to accept sudden mass removals, so that the guards keep nothing.
  package var allowRemovals = false
  /// Whether the run is unattended: it requests only stale and missing data, the most valuable first.
  package var onlyDue = false
  /// The side, in pixels, of the squares to make of pictures; nil for no squares.
  package var squareSide: Int?
  /// Decodes pictures and makes squares.
  package var pictures: any PictureWorking = PicturesHere()
  /// The time after which no body is decoded and no square is begun; squares in progress are aborted if possible.
  ///
  /// The transport has a deadline of its own for requests.
  package var deadline: UnixTime?
  /// The maximum size of one picture.
  package var pictureLimit = ByteCount.mebibytes(64)
  /// The maximum size of one JSON body.
  package var jsonLimit = ByteCount.mebibytes(1024)

  /// The defaults.
  package init() {}
}

/// The progress of a sync at one moment.
public struct SyncProgress: Sendable, Hashable {
  /// A number of finished steps and their known total, such as 12 of 94 pictures.
  public struct Count: Sendable, Hashable {
    /// The number of finished steps, failures included.
    public package(set) var done: Int
    /// The total, as far as it is known yet.
    public package(set) var total: Int

    /// Makes a count, by default 0 of 0.
    package init(done: Int = 0, total: Int = 0) {
      self.done = done
      self.total = total
    }

    /// Whether all known steps are finished.
    package var isComplete: Bool { done == total }
  }

  /// The sections' pages.
  public package(set) var sections = Count()
  /// The details of items.
  public package(set) var details = Count()
  /// The pictures, each URL counted once.
  public package(set) var pictures = Count()
  /// The bytes of fetched pictures.
  public package(set) var bytes: Int64 = 0
  /// The number of failed sections, details and pictures.
  public package(set) var failed = 0

  /// Makes a progress with all counts 0.
  package init() {}
}

/// The progress of a run, read from any thread while it runs.
package final class ProgressMeter: Sendable {
  private let state = Mutex(SyncProgress())

  /// Makes a progress with all counts 0.
  package init() {}

  /// The progress at this moment.
  package var current: SyncProgress { state.withLock { $0 } }

  func update(_ body: (inout SyncProgress) -> Void) {
    state.withLock { body(&$0) }
  }
}

/// A transport that refuses every request after ``stop()``.
///
/// `cancelAll` only cancels requests that were already submitted. Without this type, a stopped run could still submit
/// queued pictures, and pictures of sections that are being decoded.
final class StoppableTransport: Fetching {
  private let transport: any Fetching
  private let isStopped = Atomic(false)

  init(_ transport: any Fetching) {
    self.transport = transport
  }

  /// Whether ``stop()`` was called.
  var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  /// Cancels all requests, and refuses later ones.
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
    // ``stop()`` may have cancelled between the check above and the submission: cancel again.
    if hasStopped { transport.cancelAll() }
  }

  func fields(of request: Request) -> Headers { transport.fields(of: request) }

  func cancelAll() { transport.cancelAll() }
}
