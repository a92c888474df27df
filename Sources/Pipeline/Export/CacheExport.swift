import Base
import Cache
import Catalog
import Glibc

/// The layout of an export's folder, and how its files are made.
public struct ExportOptions: Sendable, Hashable {
  /// Whether to put all pictures into one folder, instead of folders like those of the origins.
  public var isFlat = false
  /// Whether to copy every file.
  ///
  /// If false, files are hard links to the cache's own files where that is possible. A change of such a file's
  /// content then also changes the cache.
  public var copies = false
  /// Whether to export the square versions of pictures too.
  public var squares = false
  /// Whether to remove files of earlier exports that no catalog refers to any more.
  public var deletes = false

  /// The defaults: folders as on the origins, hard links, no squares, and no removals.
  public init() {}
}

/// The files that an export wrote.
public struct ExportReport: Sendable, Hashable, Codable {
  /// A file that could not be written.
  public struct Failure: Sendable, Hashable, Codable {
    /// The picture's URL.
    public package(set) var url: String
    /// The path that the file would have had.
    public package(set) var path: String
    /// The system's reason, as one sentence.
    public package(set) var reason: String
  }

  /// The number of pictures in the folder.
  public package(set) var files = 0
  /// The number of pictures that were linked to the cache's own files.
  public package(set) var linked = 0
  /// The number of pictures that were copied.
  public package(set) var copied = 0
  /// The number of pictures that were already in the folder.
  public package(set) var unchanged = 0
  /// The URLs of pictures that catalogs refer to, but the cache does not hold.
  public package(set) var missing: [String] = []
  /// The pictures that got another name because of a clash.
  package var collisions: [ExportPlan.Collision] = []
  /// The files that could not be written; the export continued without them.
  public package(set) var failed: [Failure] = []
  /// The number of items with coordinates.
  package var places = 0
  /// The number of squares in the folder.
  public package(set) var squares = 0
  /// The number of files of earlier exports that were removed.
  public package(set) var deleted = 0
  /// The number of files that are left for the next export because this one was ended early.
  public package(set) var unfinished = 0
}

/// Exports a cache to a folder: pictures, manifests, `catalog.json`, and coordinates as GeoJSON.
package struct CacheExport: Sendable {
  private let cache: String
  private let remote: (any RemotePictures)?
  private let catalogs: [CatalogReader]

  /// Prepares an export of one catalog of a cache, or of all its catalogs.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - catalog: The catalog's name; nil for all.
  ///   - remote: The remote store of the pictures, if they are not in the cache's folder.
  ///   - moment: Exports the catalog as it was at this moment; nil for the last sync.
  /// - Throws: ``LarderError`` when the cache cannot be read, or keeps no run that ended by `moment`.
  package init(
    cache: String,
    catalog: String?,
    remote: (any RemotePictures)? = nil,
    at moment: UnixTime? = nil
  ) throws(LarderError) {
    self.cache = cache
    self.remote = remote
    var names: [String?] = [catalog]
    if catalog == nil { names = try Index(reading: cache).catalogs().map(\.name) }
    if names.isEmpty { names = [nil] }
    var readers: [CatalogReader] = []
    for name in names {
      readers.append(try CatalogReader(cache: cache, catalog: name, at: moment))
    }
    catalogs = readers
  }

  /// Writes everything into a folder, which is made if there is none.
  ///
  /// Files are whole at every moment, and existing ones are not written again. Each name is recorded before its file
  /// exists, so that a later export recognizes the files of a killed one as larder's. Works while a run changes the
  /// cache.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - options: The options.
  ///   - isStopped: Called before each picture; true leaves the rest, and the lists, to the next export.
  ///   - progress: Called with the number of pictures that are done, and their total.
  /// - Returns: The written files.
  /// - Throws: ``LarderError`` when the cache cannot be read, or the folder cannot be written.
  package func run(
    into path: String,
    _ options: ExportOptions = ExportOptions(),
    isStopped: () -> Bool = { false },
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(LarderError) -> ExportReport {
    var exported: [ExportedCatalog] = []
    for reader in catalogs { exported.append(try ExportedCatalog(reader)) }
    var run = try ExportRun(exported, of: cache, remote, into: ExportFolder(path), options)
    try run.announce()
    try run.placePictures(isStopped, progress)
    // An incomplete export has only whole files. The next export writes the lists and removes outdated files.
    if run.report.unfinished == 0 {
      if options.squares, let reader = catalogs.first { try run.placeSquares(of: reader) }
      if try run.writeLists(isStopped) { try run.removeOutdated() }
    }
    try run.writeRecord()
    return run.report
  }
}

/// One export under way: the plan of its paths, the record of its folder, and its results so far.
struct ExportRun {
  private(set) var report = ExportReport()

  private let catalogs: [ExportedCatalog]
  private let cache: String
  private let remote: (any RemotePictures)?
  private let folder: ExportFolder
  private let options: ExportOptions
  /// The pictures that catalogs refer to, each once, in the catalogs' order.
  private let images: [ShownPicture]
  private let plan: ExportPlan
  /// The folder's record at the start, and the new one.
  private let noted: ExportRecord
  private var record: ExportRecord
  private var written: Set<String> = []
  /// The URLs of pictures that are not in the cache, or whose file had disappeared before it was exported.
  private var missing: Set<String>
  /// The URLs of pictures whose file could not be written.
  private var unwritten: Set<String> = []

  /// Plans an export.
  ///
  /// - Parameters:
  ///   - catalogs: The catalogs.
  ///   - cache: The path of their cache.
  ///   - remote: The remote store of the pictures, if they are not in the cache's folder.
  ///   - folder: The folder of the export.
  ///   - options: The options.
  /// - Throws: ``LarderError`` when the cache cannot be read.
  init(
    _ catalogs: [ExportedCatalog],
    of cache: String,
    _ remote: (any RemotePictures)?,
    into folder: ExportFolder,
    _ options: ExportOptions
  ) throws(LarderError) {
    self.catalogs = catalogs
    self.cache = cache
    self.remote = remote
    self.folder = folder
    self.options = options
    images = try Self.images(of: catalogs)
    let held = images.filter { $0.state == .held }
    plan = ExportPlan(
      held.compactMap { Self.picture($0, cache) },
      shape: options.isFlat ? .flat : .tree
    )
    missing = Set(images.filter { $0.state != .held }.map(\.url))
    record = folder.record
    noted = record
    report.collisions = plan.collisions
  }

  private static func images(
    of catalogs: [ExportedCatalog]
  ) throws(LarderError) -> [ShownPicture] {
    var images: [ShownPicture] = []
    var urls: Set<String> = []
    for catalog in catalogs {
      var batches = catalog.batches
      while let items = try batches.next() {
        images += items.lazy.flatMap(\.pictures).filter { urls.insert($0.url).inserted }
      }
    }
    return images
  }

  /// A cached picture for the plan; nil when its file is no longer a picture.
  private static func picture(_ image: ShownPicture, _ cache: String) -> ExportPlan.Picture? {
    guard let path = image.path,
      let type = image.type.flatMap({ PictureType(mediaType: $0) })
        ?? ExportFolder.type(of: "\(cache)/\(path)")
    else { return nil }
    return ExportPlan.Picture(url: image.url, sha256: image.sha256 ?? "", type: type)
  }

  /// Records every name before its file exists, so that the files of a killed run are recognized as larder's.
  mutating func announce() throws(LarderError) {
    for image in images where image.state == .held {
      guard let path = plan.paths[image.url], record.files[path] == nil else { continue }
      let bytes = image.bytes.map { ByteCount($0) }
      record.files[path] = ExportRecord.File(url: image.url, bytes: bytes)
    }
    if record != noted { try writeRecord() }
  }

  /// Places every cached picture once, even if several items show it.
  ///
  /// - Parameters:
  ///   - isStopped: Called before each picture; true leaves the rest, whose number is then in the report.
  ///   - progress: Called with the number of placed pictures, and their total.
  /// - Throws: ``LarderError`` when the folder cannot be written.
  mutating func placePictures(
    _ isStopped: () -> Bool,
    _ progress: (Int, Int) -> Void
  ) throws(LarderError) {
    let held = images.filter { $0.state == .held }
    let total = Set(held.compactMap { plan.paths[$0.url] }).count
    for image in held {
      if isStopped() {
        report.unfinished = total - written.count
        break
      }
      guard let target = plan.paths[image.url], let source = image.path else {
        missing.insert(image.url)
        continue
      }
      guard !written.contains(target) else { continue }
      switch try place(source, at: target, of: image.url, digest: image.sha256) {
      case .linked: report.linked += 1
      case .copied: report.copied += 1
      case .unchanged: report.unchanged += 1
      case .missing: missing.insert(image.url)
      case nil: unwritten.insert(image.url)
      }
      progress(written.count, total)
    }
    report.missing = missing.sorted()
    report.files = report.linked + report.copied + report.unchanged
  }

  /// Places the squares of the pictures that were placed, each at its picture's path below a folder such as
  /// `squares/512/`.
  mutating func placeSquares(of reader: CatalogReader) throws(LarderError) {
    for (url, square) in try reader.squares(of: plan.paths.keys) {
      guard let path = plan.paths[url],
        let type = ExportFolder.type(of: "\(cache)/\(square.name)")
      else { continue }
      let parent = ExportPath.parents(of: path).last.map { "\($0)/" } ?? ""
      let name = ExportName.fitting(String(path.dropFirst(parent.count)), type)
      let target = "\(ExportPlan.squares)/\(square.side)/\(parent)\(name)"
      let arrival = try place(square.name, at: target, of: url)
      if let arrival, arrival != .missing { report.squares += 1 }
    }
  }

  /// Places one file.
  ///
  /// If only this file could not be written, returns nil and adds it to the report.
  private mutating func place(
    _ source: String,
    at target: String,
    of url: String,
    digest: String? = nil
  ) throws(LarderError) -> ExportFolder.Arrival? {
    let arrival: ExportFolder.Arrival
    do throws(LarderError) {
      if let remote {
        arrival = try folder.place(source, of: remote, at: target, ifNot: digest, by: cache)
      } else {
        arrival = try folder.place("\(cache)/\(source)", at: target, links: !options.copies)
      }
    } catch {
      // An error that affects every file ends the export.
      guard error.code == .disk, let code = error.errno, ![EIO, EROFS, ENODEV].contains(code)
      else { throw error }
      report.failed.append(
        ExportReport.Failure(url: url, path: target, reason: error.description)
      )
      return nil
    }
    if arrival != .missing {
      written.insert(target)
      record.files[target] = folder.file(target, of: url)
    }
    return arrival
  }

  /// Writes the lists: manifests, the catalog, and coordinates if items have any.
  ///
  /// - Parameter isStopped: Called between batches of items; true leaves the old lists unchanged.
  /// - Returns: Whether the lists were written.
  /// - Throws: ``LarderError`` when the cache cannot be read, or the folder cannot be written.
  mutating func writeLists(_ isStopped: () -> Bool) throws(LarderError) -> Bool {
    var lists = try ExportLists(
      in: folder,
      paths: plan.paths,
      missing: missing.union(unwritten)
    )
    guard let names = try lists.write(catalogs, isStopped) else { return false }
    report.places = lists.places
    for name in names {
      written.insert(name)
      record.files[name] = folder.file(name, of: nil)
    }
    return true
  }

  /// Removes files of earlier exports that this export did not write, if the options say so and the file is
  /// unchanged.
  mutating func removeOutdated() throws(LarderError) {
    let spared = options.squares ? missing : missing.union(images.map(\.url))
    for path in record.outdated(written: written, missing: missing, squaresOf: spared) {
      let isGone = folder.state(of: path) == nil
      if options.deletes, let file = record.files[path], try folder.remove(path, ifStill: file) {
        report.deleted += 1
        record.files[path] = nil
      } else if isGone {
        record.files[path] = nil
      }
    }
  }

  /// Writes the record into the folder.
  func writeRecord() throws(LarderError) {
    try folder.write(record.text, to: ExportRecord.name)
  }
}

/// A catalog as it was at the start of an export.
struct ExportedCatalog {
  /// The catalog.
  let entry: CatalogEntry
  /// Its sections, in the catalog's order.
  let sections: [RunSection]

  private let reader: CatalogReader

  /// Reads the catalog's name, and the results of its last run.
  init(_ reader: CatalogReader) throws(LarderError) {
    self.reader = reader
    entry = reader.catalog
    sections = try reader.sections()
  }

  /// The items in batches, in the catalog's order; every iteration returns the same items.
  var batches: ItemBatches { ItemBatches(sections, of: reader, where: ItemQuery()) }
}
