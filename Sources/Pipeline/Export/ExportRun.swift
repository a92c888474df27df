import Cache
import Catalog
import Glibc

/// One export under way: what it places where, what its folder's record says, and what came of it so far.
struct ExportRun {
  private(set) var report = CacheExport.Report()

  private let catalogs: [ExportedCatalog]
  private let cache: String
  private let keeper: (any PictureKeeping)?
  private let folder: ExportFolder
  private let options: CacheExport.Options
  /// The pictures that catalogs refer to, each once, in their order.
  private let images: [ShownImage]
  private let plan: ExportPlan
  /// What the folder's file said at the start, and what it is to say.
  private let noted: ExportRecord
  private var record: ExportRecord
  private var written: Set<String> = []
  /// The URLs of pictures that are not held, or whose file was gone when its turn came.
  private var missing: Set<String>
  /// The URLs of pictures whose file could not be written.
  private var unwritten: Set<String> = []

  /// Plans an export.
  ///
  /// - Parameters:
  ///   - catalogs: What is exported.
  ///   - cache: The path of their cache.
  ///   - keeper: What keeps the pictures in place of the cache's folder, if anything does.
  ///   - folder: Where it goes.
  ///   - options: What is wanted.
  /// - Throws: ``CacheError`` when the cache cannot be read.
  init(
    _ catalogs: [ExportedCatalog],
    of cache: String,
    _ keeper: (any PictureKeeping)?,
    into folder: ExportFolder,
    _ options: CacheExport.Options
  ) throws(CacheError) {
    self.catalogs = catalogs
    self.cache = cache
    self.keeper = keeper
    self.folder = folder
    self.options = options
    images = try Self.images(of: catalogs)
    let held = images.filter { $0.state == .held }
    plan = ExportPlan(held.compactMap { Self.picture($0, cache) }, shape: options.shape)
    missing = Set(images.filter { $0.state != .held }.map(\.url))
    record = folder.record
    noted = record
    report.collisions = plan.collisions
  }

  private static func images(of catalogs: [ExportedCatalog]) throws(CacheError) -> [ShownImage] {
    var images: [ShownImage] = []
    var urls: Set<String> = []
    for catalog in catalogs {
      var batches = catalog.batches
      while let items = try batches.next() {
        images += items.lazy.flatMap(\.images).filter { urls.insert($0.url).inserted }
      }
    }
    return images
  }

  /// A held picture for the plan; nil when its bytes are no picture any more.
  private static func picture(_ image: ShownImage, _ cache: String) -> ExportPlan.Picture? {
    guard let path = image.path,
      let type = image.type.flatMap({ PictureType(mediaType: $0) })
        ?? ExportFolder.type(of: "\(cache)/\(path)")
    else { return nil }
    return ExportPlan.Picture(url: image.url, sha256: image.sha256 ?? "", type: type)
  }

  /// Puts every name on record before its file is there, so that what a killed run leaves is not taken for somebody
  /// else's.
  mutating func announce() throws(CacheError) {
    for image in images where image.state == .held {
      guard let path = plan.paths[image.url], record.files[path] == nil else { continue }
      record.files[path] = ExportRecord.File(url: image.url, bytes: image.bytes)
    }
    if record != noted { try writeRecord() }
  }

  /// Places every held picture once, however many items show it.
  ///
  /// - Parameters:
  ///   - isStopped: Asked before each; true leaves the rest, whose number is then in the report.
  ///   - progress: Called with how many of how many are placed.
  /// - Throws: ``CacheError`` when the folder cannot be written.
  mutating func placePictures(
    _ isStopped: () -> Bool,
    _ progress: (Int, Int) -> Void
  ) throws(CacheError) {
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

  /// Places the squares of the pictures that were placed, as `squares/512/` and the path of the picture.
  mutating func placeSquares(of reader: CatalogReader) throws(CacheError) {
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

  /// Places one file; nil when it alone could not be written, which the report then lists.
  private mutating func place(
    _ source: String,
    at target: String,
    of url: String,
    digest: String? = nil
  ) throws(CacheError) -> ExportFolder.Arrival? {
    let arrival: ExportFolder.Arrival
    do throws(CacheError) {
      if let keeper {
        arrival = try folder.place(source, of: keeper, at: target, ifNot: digest, by: cache)
      } else {
        arrival = try folder.place("\(cache)/\(source)", at: target, links: options.links)
      }
    } catch {
      // What befalls every file ends the export.
      guard error.code == .disk, let code = error.errno, ![EIO, EROFS, ENODEV].contains(code)
      else { throw error }
      report.failed.append(
        CacheExport.Failure(url: url, path: target, reason: error.description)
      )
      return nil
    }
    if arrival != .missing {
      written.insert(target)
      record.files[target] = folder.file(target, of: url)
    }
    return arrival
  }

  /// Writes the lists of what is there: manifests, the catalog, and the places when there are any.
  ///
  /// - Parameter isStopped: Asked now and then; true leaves the lists as they were.
  /// - Returns: Whether they were written.
  /// - Throws: ``CacheError`` when the cache cannot be read or the folder not written.
  mutating func writeLists(_ isStopped: () -> Bool) throws(CacheError) -> Bool {
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

  /// Removes what earlier exports wrote and this one did not, as far as that is wanted and the file is as it was
  /// written.
  mutating func removeOutdated() throws(CacheError) {
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

  /// Writes what is on record into the folder.
  func writeRecord() throws(CacheError) {
    try folder.write(record.text, to: ExportRecord.name)
  }
}
