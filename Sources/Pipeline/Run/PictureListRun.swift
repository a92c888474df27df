import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// A run that brings a list of pictures into a cache, beside other runs that bring others.
///
/// Takes no lock and writes no index: files alone are changed, each by a rename, as in every run. What it knows of
/// them it hands back, for the run that commits. Blocks the thread that calls ``run(_:)``; ``stop()`` may be called
/// from any thread.
package final class PictureListRun: Sendable {
  /// What came of a list.
  package struct Result: Sendable {
    /// The pictures, in the list's order.
    package var pictures: [SettledPicture]
    /// How many were not asked for, or not to the end, because the run ended first.
    package var unfinished: Int
    /// How many requests were made.
    package var requests: Int
  }

  private let catalog: CatalogFile
  private let cache: String
  private let room: String
  private let options: SyncOptions
  private let transport: StoppableTransport
  private let environment: [String: String]
  private let disk: any Disk
  private let keeper: (any PictureKeeping)?
  private let now: @Sendable () -> UnixTime

  /// How far the run is, for a display.
  package let progress = SyncProgress()

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - catalog: The catalog whose pictures they are.
  ///   - cache: The cache's path; it is made when there is none.
  ///   - room: A name that no other run in the cache has.
  ///   - options: What else was asked.
  ///   - transport: How to fetch.
  ///   - environment: Where `${NAME}` in the catalog's headers and URLs comes from.
  ///   - disk: Where bytes go.
  ///   - keeper: What keeps the pictures in place of the cache's folder, if anything does.
  ///   - now: The wall clock.
  package init(
    _ catalog: CatalogFile,
    cache: String,
    room: String,
    options: SyncOptions,
    transport: any Fetching,
    environment: [String: String],
    disk: any Disk = SystemDisk(),
    keeper: (any PictureKeeping)? = nil,
    now: @escaping @Sendable () -> UnixTime
  ) {
    self.catalog = catalog
    self.cache = cache
    self.room = room
    self.options = options
    self.transport = StoppableTransport(transport)
    self.environment = environment
    self.disk = disk
    self.keeper = keeper
    self.now = now
  }

  /// Ends the run early: nothing new is started, what is whole is kept.
  package func stop() { transport.stop() }

  /// Whether ``stop()`` was called.
  package var hasStopped: Bool { transport.hasStopped }

  /// Brings the pictures, and waits until the last is durable or has failed.
  ///
  /// - Parameter known: The pictures, each URL once, with what the cache's index knew of them.
  /// - Returns: What came of them.
  /// - Throws: ``SyncError`` when the cache or the catalog file is wrong.
  package func run(_ known: [PictureEntry]) throws(SyncError) -> Result {
    defer { CacheLayout.removeRooms(of: cache, prefix: room) }
    do {
      return try perform(known)
    } catch let error as CacheError {
      throw .cache(error)
    } catch let error as CatalogError {
      throw .catalog(error)
    } catch let error as TransferFailure {
      throw .address(error)
    } catch {
      throw .cache(CacheError(.disk, "cannot fetch the pictures of \(catalog.name): \(error)"))
    }
  }

  private func perform(_ known: [PictureEntry]) throws -> Result {
    let request = try RunRequest(
      catalog,
      folder: "",
      options: options,
      environment: environment,
      parser: transport,
      now: now
    )
    let layout = try CacheLayout(beside: cache, room: room, keeper: keeper)
    let index = try Index()
    let recovery = try RoomRecovery(layout, index, known: known)
    let states = PictureStates(index)
    let context = try context(of: request, layout, index, states)
    let ends = Mutex<[PictureID: PictureEnd]>([:])
    let stage = PictureStage(
      context,
      known: KnownPictures(states),
      orphans: recovery.orphans,
      ended: { id, end in ends.withLock { $0[id] = end } },
      stored: { _ in }
    )
    stage.add(
      known.map { entry in
        do throws(TransferFailure) {
          let url = try context.transport.parse(entry.url, relativeTo: nil)
          return PictureReference(
            id: entry.id,
            identity: entry.identity,
            url: .success(url)
          )
        } catch {
          return PictureReference(
            id: entry.id,
            identity: entry.identity,
            url: .failure(error)
          )
        }
      }
    )
    stage.group.join()
    let flushed = DispatchSemaphore(value: 0)
    context.store.flush { flushed.signal() }
    flushed.wait()
    if let failure = context.failures.cacheFailure ?? context.store.failure { throw failure }
    return try result(known, ends.withLock { $0 }, context)
  }

  private func context(
    of request: RunRequest,
    _ layout: CacheLayout,
    _ index: Index,
    _ states: PictureStates
  ) throws(CacheError) -> RunContext {
    let entry = try index.catalog(named: catalog.name, currency: catalog.currency)
    let store = PictureStore(
      layout,
      index: index,
      disk: disk,
      run: try index.beginRun(catalog: entry.id, at: now()),
      states: states
    )
    let fetching = request.transport(over: transport) { [transport] in transport.hasStopped }
    return RunContext(
      catalog: catalog,
      entry: entry,
      options: options,
      transport: fetching,
      variables: request.variables,
      layout: layout,
      index: index,
      store: store,
      progress: progress,
      work: DispatchQueue(label: "larder.work"),
      starts: DispatchQueue(label: "larder.starts"),
      now: now,
      named: request.named,
      credentials: request.credentials,
      secrets: request.secrets,
      pictureTraits: PictureTraits(from: request.named, over: transport),
      needs: request.needs(over: fetching),
      failures: FailureLog(most: .max),
      isOver: { [transport] in transport.hasStopped },
      localBase: request.addresses.localBase
    )
  }

  private func result(
    _ known: [PictureEntry],
    _ ends: [PictureID: PictureEnd],
    _ context: RunContext
  ) throws(CacheError) -> Result {
    let rows = try context.index.pictures(known.map(\.id))
    let failures = context.failures.pictureFailures
    var result = Result(pictures: [], unfinished: 0, requests: context.failures.requests)
    for entry in known {
      let failure = failures[entry.id]
      // What was not asked for is fresh, or has no URL that is fetched.
      let end = ends[entry.id] ?? (failure == nil ? .excused : .failed)
      if end == .unfinished { result.unfinished += 1 }
      let row = rows[entry.id] ?? entry
      result.pictures.append(
        SettledPicture(
          entry: row,
          end: end,
          before: entry.sha256 == row.sha256 || !row.isHeld ? nil : entry.sha256,
          failure: failure
        )
      )
    }
    return result
  }
}
