import Cache
import Catalog

/// Writes what a cache holds into a folder for others: pictures, manifests, and places.
package struct CacheExport: Sendable {
  /// What was written.
  package struct Report: Sendable, Equatable, Codable {
    /// How many files are there.
    package var files = 0
    /// How many of them are hard links to the cache's own files.
    package var linked = 0
    /// How many are copies.
    package var copied = 0
    /// How many were there already.
    package var unchanged = 0
    /// The URLs of the pictures that catalogs refer to and that are not held.
    package var missing: [String] = []
    /// The pictures that got another name than their own.
    package var collisions: [ExportPlan.Collision] = []
    /// The files that could not be written, while others could.
    package var failed: [Failure] = []
    /// How many items have a place.
    package var places = 0
    /// How many squares are there.
    package var squares = 0
    /// How many files went that an earlier export wrote.
    package var deleted = 0
    /// How many pictures it did not come to, because it was stopped.
    package var unfinished = 0
  }

  /// A file that could not be written.
  package struct Failure: Sendable, Equatable, Codable {
    /// The picture's URL.
    package var url: String
    /// The path that it would have had.
    package var path: String
    /// The system's reason, as one sentence.
    package var reason: String
  }

  /// What is wanted besides the pictures.
  package struct Options: Sendable, Equatable {
    /// How the folder is laid out.
    package var shape = ExportPlan.Shape.tree
    /// Whether files are hard links to those of the cache; changing one in place changes the cache.
    package var links = true
    /// Whether squares come along.
    package var squares = false
    /// Whether what earlier exports wrote goes when catalogs no longer have it.
    package var deletes = false

    /// A tree of links that only grows.
    package init() {}
  }

  private let cache: String
  private let keeper: (any PictureKeeping)?
  private let catalogs: [CatalogReader]

  /// An export of one catalog of the cache at a path, or of all.
  ///
  /// - Parameters:
  ///   - cache: The cache.
  ///   - catalog: The catalog's name; nil for all.
  ///   - keeper: What keeps the pictures in place of the cache's folder, if anything does.
  /// - Throws: ``CacheError`` when the cache cannot be read.
  package init(
    cache: String,
    catalog: String?,
    keeper: (any PictureKeeping)? = nil
  ) throws(CacheError) {
    self.cache = cache
    self.keeper = keeper
    var names: [String?] = [catalog]
    if catalog == nil { names = try Index(reading: cache).catalogs().map(\.name) }
    if names.isEmpty { names = [nil] }
    var readers: [CatalogReader] = []
    for name in names { readers.append(try CatalogReader(cache: cache, catalog: name)) }
    catalogs = readers
  }

  /// Writes everything into the folder at a path, which is made when there is none.
  ///
  /// Files are whole whenever somebody looks, and what is there already is not written again. A
  /// name is on record before its file is there, so that a run that was killed leaves nothing that
  /// a later one would take for somebody else's. Works while a run changes the cache.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - options: what is wanted.
  ///   - isStopped: asked before each picture; true leaves the rest, and what lists them, to the next.
  ///   - progress: called with how many pictures of how many are done.
  /// - Returns: What was written.
  /// - Throws: ``CacheError`` when the cache cannot be read or the folder not written.
  package func run(
    into path: String,
    _ options: Options,
    isStopped: () -> Bool = { false },
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(CacheError) -> Report {
    var exported: [ExportedCatalog] = []
    for reader in catalogs { exported.append(try ExportedCatalog(reader)) }
    var run = try ExportRun(exported, of: cache, keeper, into: ExportFolder(path), options)
    try run.announce()
    try run.placePictures(isStopped, progress)
    // What is there says of itself what it is; a list of all of it, and what goes, is for the next run.
    if run.report.unfinished == 0 {
      if options.squares, let reader = catalogs.first { try run.placeSquares(of: reader) }
      if try run.writeLists(isStopped) { try run.removeOutdated() }
    }
    try run.writeRecord()
    return run.report
  }

  /// The same, laid out as the caller says.
  package func run(
    into path: String,
    shape: ExportPlan.Shape,
    links: Bool,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(CacheError) -> Report {
    var options = Options()
    options.shape = shape
    options.links = links
    return try run(into: path, options, progress: progress)
  }
}
