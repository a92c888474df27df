import ArgumentParser
import Base
import Transport

/// The option `--cache` of commands that accept only a local folder.
struct CacheOptions: ParsableArguments {
  @Option(
    path: "The cache's folder (default: LARDER_CACHE, else cache).",
    value: "dir",
    completion: .directory
  )
  var cache: String?

  /// The value of the option, or else of `LARDER_CACHE`, or else `cache` in the working folder.
  var path: String { Self.path(cache) }

  /// The path for a value of the option; with nil, `LARDER_CACHE` or the folder `cache` is used.
  static func path(_ cache: String?) -> String {
    cache ?? OutboxOptions.variable("LARDER_CACHE") ?? "cache"
  }

  mutating func validate() throws {
    if cache == nil { _ = try OutboxOptions.path("LARDER_CACHE") }
    guard CachePlace.isAddress(path) else { return }
    throw ValidationError(
      "--cache takes a folder here, not \"\(path)\"; s3://bucket/prefix goes with sync, warm, "
        + "shard, status, verify, gc, export and serve"
    )
  }
}

/// The option `--cache` of commands that accept a folder or an object store.
struct PlacedCacheOptions: ParsableArguments {
  @Option(
    path: "The cache's folder, or s3://bucket/prefix (default: LARDER_CACHE, else cache).",
    value: "dir|s3",
    completion: .directory
  )
  var cache: String?

  mutating func validate() throws {
    if cache == nil { _ = try OutboxOptions.path("LARDER_CACHE") }
    try CachePlace.demand(CacheOptions.path(cache))
  }

  /// Finds the cache.
  ///
  /// If the cache is in an object store, its index is in a local folder, and the result has the path of that folder.
  ///
  /// - Parameters:
  ///   - isRead: Whether the command only reads. If so, the local index of an object store must already exist.
  ///   - log: Receives a warning if the store is used without encryption; with nil, there is no warning.
  /// - Returns: The cache.
  /// - Throws: ``CommandFailure`` when a variable that the store needs is not set, or when there is no local index to
  ///   read.
  func place(reading isRead: Bool = false, _ log: Log?) throws -> CachePlace {
    let path = CacheOptions.path(cache)
    let place = try CachePlace(path, log)
    if isRead, place.store != nil, !TextFile.exists("\(place.path)/index.sqlite") {
      throw CommandFailure(
        "cannot read \(path): this machine has no index of it yet; sync first, which builds one "
          + "from the store",
        .failed
      )
    }
    return place
  }
}

/// The option `--catalog`, for a cache with several catalogs.
struct CatalogOptions: ParsableArguments {
  @Option("The catalog; needed only if the cache has several.", value: "name")
  var catalog: String?
}

/// The option `--keep-free`: the disk space that a run leaves free.
struct RoomOptions: ParsableArguments {
  @Option(
    "Stop fetching once the cache's disk has less free space than this, such as 5G. (default: fill it)",
    value: "size"
  )
  var keepFree: SizeArgument?

  /// The space to leave free on the disk of a cache; nil if the option is not given.
  func reserve(of cache: String) -> DiskReserve? {
    keepFree.map { DiskReserve($0.bytes, of: cache) }
  }

  /// The message about a run that stopped because the disk became too full.
  ///
  /// - Parameters:
  ///   - cache: The cache.
  ///   - isUnfinished: Whether the run left work undone.
  /// - Returns: One sentence; nil if there is enough space.
  func shortage(of cache: String, isUnfinished: Bool) -> String? {
    guard isUnfinished, let keepFree, let free = DiskReserve.free(of: cache),
      free < keepFree.bytes
    else { return nil }
    return
      "cannot fetch more pictures: the disk of \(cache) has \(free.formatted()) free, and "
      + "--keep-free leaves \(keepFree.bytes.formatted()); free some and run again"
  }
}
