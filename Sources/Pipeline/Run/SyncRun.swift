import Base
import Cache
import Catalog
import Imaging
import Synchronization
import Transport

/// One run of `sync` or `warm`.
///
/// A run fetches the sections of a catalog, the details of its items and their pictures in parallel, and returns a
/// report. A section is a list of items, such as all soups. A detail is the document about one item, with more data
/// than the item has in the list.
///
/// ``run(holder:)`` blocks. ``stop()`` can be called from any thread. Three dispatch groups wait for the work, one each
/// for sections, details and pictures. Every request leaves its group on success, failure and cancellation, because the
/// transport completes each request exactly once.
package final class SyncRun: Sendable {
  let catalog: CatalogFile
  private let folder: String
  let cache: String
  private let options: SyncOptions
  let transport: StoppableTransport
  /// The file system to write to.
  package let disk: any Disk
  let remote: (any RemotePictures)?
  private let environment: [String: String]
  let shared: SharedSync
  let now: @Sendable () -> UnixTime
  let notice: @Sendable (String) -> Void

  /// The progress of the run, so that a caller can display it.
  package let progress = ProgressMeter()

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - folder: The folder of the catalog file. Paths of local sections are relative to it.
  ///   - cache: The path of the cache, a folder. It is created if it does not exist.
  ///   - options: The options.
  ///   - transport: The transport that sends the requests.
  ///   - environment: The environment variables that replace `${NAME}` in the headers and URLs of the catalog file.
  ///   - shared: The differences from a plain sync, if this run plans or merges a sync of many machines.
  ///   - disk: The file system to write to.
  ///   - remote: The remote store of the pictures. It is nil if the cache keeps the pictures in its own folder, as
  ///     usual.
  ///   - now: The clock.
  ///   - notice: Called with a message for the user, for example when the index was repaired before the run.
  package init(
    _ catalog: CatalogFile,
    folder: String = "",
    cache: String,
    options: SyncOptions = SyncOptions(),
    transport: any Fetching,
    environment: [String: String] = [:],
    shared: SharedSync = SharedSync(),
    disk: any Disk = SystemDisk(),
    remote: (any RemotePictures)? = nil,
    now: @escaping @Sendable () -> UnixTime,
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.catalog = catalog
    self.folder = folder
    self.cache = cache
    self.options = options
    self.transport = StoppableTransport(transport)
    self.environment = environment
    self.shared = shared
    self.disk = disk
    self.remote = remote
    self.now = now
    self.notice = notice
  }

  /// Ends the run early.
  ///
  /// No further request is started, and pictures that were received completely are kept. The report lists the requests
  /// that are unfinished.
  package func stop() { transport.stop() }

  /// Whether ``stop()`` was called.
  package var hasStopped: Bool { transport.hasStopped }

  /// Runs to the end.
  ///
  /// If the index, the cache's database, is damaged, this function renames it, rebuilds it from its readable rows and
  /// the files, and starts the run over.
  ///
  /// - Parameter holder: The text to write into the cache's lock, for example `larder sync, process 42`. Processes that
  ///   find the cache locked show it.
  /// - Returns: The report.
  /// - Throws: ``CatalogError`` when the catalog file or the environment is wrong. ``LarderError`` when another reason
  ///   prevents the run.
  package func run(holder: String) throws -> SyncReport {
    do {
      do {
        return try perform(holder: holder)
      } catch let error as LarderError where error.code == .damaged {
        let words = try CacheCheck.renewIndex(of: cache, remote, holder: holder, at: now())
        guard let words else { throw error }
        notice(words)
        return try perform(holder: holder)
      }
    } catch {
      throw LarderError.ending(error, "sync \(catalog.name)")
    }
  }

  /// Checks the addresses, opens the cache, fetches everything, and closes the cache.
  private func perform(holder: String) throws -> SyncReport {
    let began = ContinuousClock.now
    // Mistakes in the catalog file are reported before anything is created or fetched.
    return try OpenedRun(try request(), of: self, holder: holder).run(since: began)
  }

  /// The checked input of the run.
  func request() throws -> RunRequest {
    try RunRequest(
      catalog,
      folder: folder,
      options: options,
      environment: environment,
      parser: transport,
      now: now
    )
  }
}

extension LarderError {
  /// The error for an address in the catalog file that cannot be used.
  package init(_ refusal: TransferFailure) {
    self.init(
      refusal.reason == .libraryRefused ? .unfit : .configuration,
      refusal.description,
      thing: refusal.url.isEmpty ? nil : refusal.url,
      status: refusal.status
    )
  }

  /// Translates an error into one that a run is allowed to throw; `task` completes the message "cannot …".
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

/// The options of a sync, which the user gives in addition to the catalog file.
///
/// Its JSON has the options that decide which data the sync accepts. All machines of a shared sync use the same.
package struct SyncOptions: Sendable, Codable {
  /// The URL that replaces `base` of the catalog file.
  ///
  /// If it is nil, `base` is used.
  package var base: String?
  /// Whether to fetch only the pictures that the lists show, without those of details.
  package var thumbnailsOnly = false
  /// Whether to skip the details, and therefore their pictures too.
  package var noDetails = false
  /// Whether a complete run comes across all pictures, so that it can tell which files are unreferenced.
  var readsAll: Bool { !thumbnailsOnly && !noDetails }
  /// Whether to fail on the first item that cannot be read.
  package var strict = false
  /// The number or share of unreadable items up to which a section is still accepted.
  ///
  /// If it has more, the run rejects its new list.
  package var maxSkipped = SkipLimit.standard
  /// Whether to accept the removal of many items at once.
  ///
  /// If false, such items are kept, because their removal looks like a fault of the shop.
  package var allowRemovals = false
  /// Whether the run is unattended, as `larder warm` is.
  ///
  /// Such a run requests only data that is missing or no longer fresh, the most valuable first.
  package var onlyDue = false
  /// The width and height, in pixels, of the square versions to make of pictures.
  ///
  /// If it is nil, none are made.
  package var squareSide: Int?
  /// Decodes pictures and makes squares.
  package var pictures: any PictureWorking = PicturesHere()
  /// The time after which the run decodes no further response and begins no further square.
  ///
  /// Squares in progress are aborted if possible.
  ///
  /// The transport has a separate deadline for requests.
  package var deadline: UnixTime?
  /// The maximum size of a picture, in bytes.
  package var pictureLimit = ByteCount.mebibytes(64)
  /// The maximum size of a response with items or details, in bytes.
  static let jsonLimit = ByteCount.mebibytes(1024)

  private enum CodingKeys: CodingKey {
    case base, thumbnailsOnly, noDetails, strict, allowRemovals, maxSkipped
  }

  /// Makes the default options.
  package init() {}
}

/// The progress of a sync at one moment.
public struct SyncProgress: Sendable, Hashable {
  /// A number of finished steps and the number of known steps, such as 12 of 94 pictures.
  public struct Count: Sendable, Hashable {
    /// The number of finished steps, failures included.
    public package(set) var done: Int
    /// The number of steps that are known so far; it grows while the run discovers items and pictures.
    public package(set) var total: Int

    /// Makes a count, by default 0 of 0.
    package init(done: Int = 0, total: Int = 0) {
      self.done = done
      self.total = total
    }

    /// Whether all steps that are known so far are finished.
    package var isComplete: Bool { done == total }
  }

  /// The progress of the sections.
  public package(set) var sections = Count()
  /// The progress of the details.
  public package(set) var details = Count()
  /// The progress of the pictures.
  ///
  /// A picture that several items show counts once.
  public package(set) var pictures = Count()
  /// The number of bytes of the fetched pictures.
  public package(set) var bytes: Int64 = 0
  /// The number of failed sections, details and pictures.
  public package(set) var failed = 0

  /// Starts with all counts at 0.
  package init() {}
}

/// The progress of a run.
///
/// Any thread can read it during the run.
package final class ProgressMeter: Sendable {
  private let state = Mutex(SyncProgress())

  /// Starts with all counts at 0.
  package init() {}

  /// The progress at this moment.
  package var current: SyncProgress { state.withLock { $0 } }

  func update(_ body: (inout SyncProgress) -> Void) {
    state.withLock { body(&$0) }
  }
}

/// A transport that refuses every request after ``stop()``.
///
/// `cancelAll` cancels only requests that were already submitted. Without this type, a stopped run could still submit
/// requests for queued pictures, and for pictures of sections that it is decoding.
package final class StoppableTransport: ForwardingTransport {
  /// The transport that sends the requests.
  package let transport: any Fetching
  private let isStopped = Atomic(false)

  /// Makes a transport that passes requests on to another one.
  package init(_ transport: any Fetching) {
    self.transport = transport
  }

  var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  /// Cancels all requests, and refuses later ones.
  package func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    transport.cancelAll()
  }

  /// Sends a request, unless ``stop()`` was called.
  ///
  /// See ``Fetching``.
  package func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback) {
    guard !hasStopped else {
      return completion(
        .failure(TransferFailure(reason: .cancelled, url: request.url.redacted))
      )
    }
    transport.fetch(request, into: sink, completion: completion)
    // If another thread called ``stop()`` between the check above and the submission, its `cancelAll` missed this
    // request.
    if hasStopped { transport.cancelAll() }
  }
}
