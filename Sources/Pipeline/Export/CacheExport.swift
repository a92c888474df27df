import Base
import Cache
import Catalog
import Glibc

/// The options of an export: the layout of its folder, and the way its files are made.
public struct ExportOptions: Sendable, Hashable {
  /// Whether to put all pictures into one folder.
  ///
  /// If false, they are in folders such as `cdn.example/images`, like those in their URLs.
  public var isFlat = false
  /// Whether to copy every file.
  ///
  /// If false, files are hard links to the files of the cache where that is possible. If a program then changes the
  /// content of such a file, it also changes the cache.
  public var copies = false
  /// Whether to export the square versions of pictures as well.
  public var squares = false
  /// Whether to remove files of earlier exports that the catalog does not refer to any more.
  public var deletes = false

  /// Makes the default options: folders as in the URLs, hard links, no squares, and no removals.
  public init() {}
}

/// The result of an export.
public struct ExportReport: Sendable, Hashable, Codable {
  /// A file that could not be written.
  public struct Failure: Sendable, Hashable, Codable {
    /// The picture's URL, or `catalog.json`.
    public package(set) var url: String
    /// The path that the file would have in the exported folder.
    public package(set) var path: String
    /// The reason, as one sentence.
    public package(set) var reason: String
  }

  /// The number of pictures in the folder.
  public package(set) var files = 0
  /// The number of pictures that were linked to the files of the cache.
  public package(set) var linked = 0
  /// The number of pictures that were copied.
  public package(set) var copied = 0
  /// The number of pictures that were already in the folder.
  public package(set) var unchanged = 0
  /// The URLs of pictures that the catalog refers to, but that are not in the cache.
  public package(set) var missing: [String] = []
  /// The files that could not be written; the export continued without them.
  public package(set) var failed: [Failure] = []
  /// The number of squares in the folder.
  public package(set) var squares = 0
  /// The number of files of earlier exports that were removed.
  public package(set) var deleted = 0
  /// The number of files that are left for the next export, because this one was ended early.
  public package(set) var unfinished = 0

  /// Whether `catalog.json` was written; it is left out if another file has its name.
  package var hasDocument: Bool { !failed.contains { $0.path == ExportDocument.name } }
}

/// Exports a catalog of a cache to a folder.
///
/// The folder gets the pictures of all sections, which are lists of items, and `catalog.json`, which lists everything.
package struct CacheExport: Sendable {
  private let cache: String
  private let remote: (any RemotePictures)?
  private let reader: CatalogReader

  /// Prepares an export of a catalog.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - catalog: The catalog's name; nil if the cache has only one catalog.
  ///   - remote: The remote store of the pictures, if they are not in the cache's folder.
  ///   - moment: The catalog is exported as it was at this time. Pass nil to export it as the last sync left it.
  /// - Throws: ``LarderError`` if the cache cannot be read, or has no run that ended at or before `moment`.
  package init(
    cache: String,
    catalog: String?,
    remote: (any RemotePictures)? = nil,
    at moment: UnixTime? = nil
  ) throws(LarderError) {
    self.cache = cache
    self.remote = remote
    reader = try CatalogReader(cache: cache, catalog: catalog, at: moment)
  }

  /// Writes everything into a folder, which is created if it does not exist.
  ///
  /// Each file appears whole, and files that are already there are not written again. The name of each file is recorded
  /// before the file exists. If this export is killed, a later one therefore knows which files larder wrote. A sync can
  /// change the cache at the same time.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - options: The options.
  ///   - isStopped: Called before each picture. If it returns true, the other pictures and `catalog.json` are left for the
  ///     next export.
  ///   - progress: Called with the number of exported pictures, and their total.
  /// - Returns: The result.
  /// - Throws: ``LarderError`` when the cache cannot be read, or the folder cannot be written, or is in the cache.
  package func run(
    into path: String,
    _ options: ExportOptions = ExportOptions(),
    isStopped: () -> Bool = { false },
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(LarderError) -> ExportReport {
    let catalog = try ExportedCatalog(reader)
    guard !ExportFolder.isPlace(path, inside: cache) else {
      throw LarderError(
        .argument,
        "cannot export to \(path): it is in the cache, which removes other files; name another folder",
        thing: path
      )
    }
    var run = try ExportRun(catalog, of: cache, remote, into: ExportFolder(path), options)
    try run.announce()
    try run.placePictures(isStopped, progress)
    // If the export ended early, the next one writes `catalog.json` and removes outdated files.
    if run.report.unfinished == 0 {
      if options.squares { try run.placeSquares() }
      if try run.writeDocument(isStopped) { try run.removeOutdated() }
    }
    try run.writeRecord()
    return run.report
  }
}

extension ShownPicture {
  /// Whether a file of the cache has the bytes of the picture's row.
  ///
  /// The file is read only if its stamp is not that of the row: in a restored cache, and when a sync has replaced the
  /// file, but not yet the row.
  fileprivate func isRight(_ status: stat, _ stamp: FileStamp?) -> Bool {
    let found = FileStamp(status)
    if found == stamp { return true }
    guard let sha256, let file, let digest = FileDigest(ofFile: file) else { return false }
    return digest.stamp == found && digest.hexadecimal == sha256
  }
}

/// An export in progress: the plan of its paths, the record of its folder, and its results so far.
struct ExportRun {
  private(set) var report = ExportReport()

  private let catalog: ExportedCatalog
  private let cache: String
  private let remote: (any RemotePictures)?
  private let folder: ExportFolder
  private let options: ExportOptions
  /// The pictures that the catalog refers to, in its order.
  ///
  /// Each is listed once.
  private var images: [ShownPicture]
  /// The stamp that the file of each picture has in the index; empty if an object store has the pictures.
  private var stamps: [FileStamp?] = []
  /// The position of each picture in ``images``, by URL.
  private let numbers: [String: Int]
  private var plan: ExportPlan
  /// Tells whether a sync has changed the rows of ``images`` since they were read.
  private let counter: IndexChangeCounter
  private var reading: IndexChangeCounter.Reading?
  /// The record that the folder had at the start, and the new one.
  private let noted: ExportRecord
  private var record: ExportRecord
  /// How each picture came to its path in the folder, and the digest that it has.
  private var arrivals: [String: (arrival: ExportFolder.Arrival, sha256: String?)] = [:]
  /// The paths of the squares and of `catalog.json` in the folder.
  private var others: Set<String> = []
  /// The paths of files that the user or another program put into the folder.
  ///
  /// They are never replaced.
  private var foreign: Set<String> = []
  /// The URLs of pictures that are not in the cache, or whose files disappeared before they were exported.
  private var missing: Set<String> = []
  /// The URLs of pictures whose file could not be written.
  private var unwritten: Set<String> = []

  /// Plans an export.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - cache: The path of its cache.
  ///   - remote: The remote store of the pictures, if they are not in the cache's folder.
  ///   - folder: The folder of the export.
  ///   - options: The options.
  /// - Throws: ``LarderError`` when the cache cannot be read.
  init(
    _ catalog: ExportedCatalog,
    of cache: String,
    _ remote: (any RemotePictures)?,
    into folder: ExportFolder,
    _ options: ExportOptions
  ) throws(LarderError) {
    self.catalog = catalog
    self.cache = cache
    self.remote = remote
    self.folder = folder
    self.options = options
    counter = IndexChangeCounter(cache: cache)
    reading = counter.read()
    (images, numbers) = try Self.images(of: catalog)
    if remote == nil { stamps = try catalog.reader.stamps(of: images) }
    plan = Self.plan(images, cache, options)
    record = folder.record
    noted = record
  }

  private static func images(
    of catalog: ExportedCatalog
  ) throws(LarderError) -> ([ShownPicture], [String: Int]) {
    var images: [ShownPicture] = []
    var numbers: [String: Int] = [:]
    var batches = catalog.batches
    while let items = try batches.next() {
      for image in items.lazy.flatMap(\.pictures) where numbers[image.url] == nil {
        numbers[image.url] = images.count
        images.append(image)
      }
    }
    return (images, numbers)
  }

  private static func plan(
    _ images: [ShownPicture],
    _ cache: String,
    _ options: ExportOptions
  ) -> ExportPlan {
    let held = images.filter { $0.state == .held }
    return ExportPlan(held.compactMap { picture($0, cache) }, isFlat: options.isFlat)
  }

  /// Makes the plan's entry for a picture; nil if its file is no longer a picture.
  private static func picture(_ image: ShownPicture, _ cache: String) -> ExportPlan.Picture? {
    guard let path = image.path,
      let type = image.type.flatMap({ PictureType(mediaType: $0) })
        ?? ExportFolder.type(of: "\(cache)/\(path)")
    else { return nil }
    return ExportPlan.Picture(url: image.url, sha256: image.sha256 ?? "", type: type)
  }

  /// Records the name of every file before the files exist, and finds the foreign files in their places.
  ///
  /// If this export is killed, a later one therefore knows which files larder wrote.
  mutating func announce() throws(LarderError) {
    for image in images where image.state == .held {
      guard let path = plan.paths[image.url] else { continue }
      let bytes = image.bytes.map { ByteCount($0) }
      let source = remote == nil ? image.path.map { "\(cache)/\($0)" } : nil
      note(path, ExportRecord.File(url: image.url, bytes: bytes), from: source)
    }
    note(ExportDocument.name, ExportRecord.File())
    if record != noted { try writeRecord() }
  }

  private mutating func note(_ path: String, _ file: ExportRecord.File, from source: String? = nil)
  {
    guard record.files[path] == nil else { return }
    if folder.isFree(path, from: source) {
      record.files[path] = file
    } else {
      foreign.insert(path)
    }
  }

  /// Whether a file may be written; otherwise the failure is in the report.
  private mutating func mayWrite(_ path: String, of url: String) -> Bool {
    guard foreign.contains(path) else { return true }
    let reason =
      "cannot write \(folder.path)/\(path): it exists, and no export wrote it; move it away, or export to "
      + "another folder"
    report.failed.append(ExportReport.Failure(url: url, path: path, reason: reason))
    return false
  }

  /// Puts every picture into the folder.
  ///
  /// A sync that runs at the same time replaces the file of a picture a little before the picture's row. Therefore the
  /// rows are read again, and pictures are exported again if theirs have changed.
  ///
  /// - Parameters:
  ///   - isStopped: Called before each picture. If it returns true, the rest is left, and its number is in the report.
  ///   - progress: Called with the number of exported pictures, and their total.
  /// - Throws: ``LarderError`` when the cache cannot be read, or the folder cannot be written.
  mutating func placePictures(
    _ isStopped: () -> Bool,
    _ progress: (Int, Int) -> Void
  ) throws(LarderError) {
    try placeHeld(isStopped, progress)
    for _ in 0..<Self.looks where remote == nil && report.unfinished == 0 {
      if try readAgain() {
        try announce()
      } else if images.contains(where: { $0.state == .held && missing.contains($0.url) }) {
        usleep(Self.pause)
      } else {
        break
      }
      try placeHeld(isStopped, progress)
    }
    report.missing = missing.sorted()
    let all = arrivals.values.map(\.arrival)
    report.linked = all.count { $0 == .linked }
    report.copied = all.count { $0 == .copied }
    report.unchanged = all.count { $0 == .unchanged }
    report.files = all.count
  }

  /// How often the rows are read again at most, and the pause before that if a file does not have the bytes of its row.
  ///
  /// A sync commits rows about 20 ms after it has renamed their files.
  private static let looks = 10
  private static let pause: useconds_t = 50_000

  /// Reads the rows of the pictures again if the index has changed.
  ///
  /// - Returns: Whether a picture has changed.
  private mutating func readAgain() throws(LarderError) -> Bool {
    let now = counter.read()
    guard now != reading else { return false }
    let current = try catalog.reader.current(images)
    reading = now
    guard current != images else { return false }
    images = current
    stamps = try catalog.reader.stamps(of: images)
    plan = Self.plan(images, cache, options)
    let paths = Set(plan.paths.values)
    arrivals = arrivals.filter { paths.contains($0.key) }
    return true
  }

  /// Puts the pictures into the folder that are not there yet.
  private mutating func placeHeld(
    _ isStopped: () -> Bool,
    _ progress: (Int, Int) -> Void
  ) throws(LarderError) {
    missing = Set(images.filter { $0.state != .held }.map(\.url))
    let total = Set(plan.paths.values).count
    for image in images where image.state == .held && !unwritten.contains(image.url) {
      if isStopped() {
        report.unfinished = total - arrivals.count
        break
      }
      guard let target = plan.paths[image.url], let source = image.path else {
        missing.insert(image.url)
        continue
      }
      if let arrived = arrivals[target], arrived.sha256 == image.sha256 { continue }
      switch try place(source, at: target, of: image.url, image) {
      case .missing: missing.insert(image.url)
      case nil: unwritten.insert(image.url)
      case let arrival?: arrivals[target] = (arrival, image.sha256)
      }
      progress(arrivals.count, total)
    }
  }

  /// Puts squares of the exported pictures into the folder.
  ///
  /// Each has the path of its picture, below a folder such as `squares/512/`.
  mutating func placeSquares() throws(LarderError) {
    for (url, square) in try catalog.reader.index.currentSquares() {
      guard let path = plan.paths[url],
        let type = ExportFolder.type(of: "\(cache)/\(square.name)")
      else { continue }
      let parent = ExportPath.parents(of: path).last.map { "\($0)/" } ?? ""
      let name = ExportName.fitting(String(path.dropFirst(parent.count)), type)
      let target = "\(ExportPlan.squares)/\(square.side)/\(parent)\(name)"
      let arrival = try place(square.name, at: target, of: url)
      guard let arrival, arrival != .missing else { continue }
      report.squares += 1
      others.insert(target)
    }
  }

  /// Puts one file into the folder.
  ///
  /// If this file cannot be written, but others possibly can, the result is nil and the failure is in the report.
  private mutating func place(
    _ source: String,
    at target: String,
    of url: String,
    _ picture: ShownPicture? = nil
  ) throws(LarderError) -> ExportFolder.Arrival? {
    guard mayWrite(target, of: url) else { return nil }
    let arrival: ExportFolder.Arrival
    do throws(LarderError) {
      if let remote {
        arrival = try folder.place(
          source,
          of: remote,
          at: target,
          ifNot: picture?.sha256
        )
      } else {
        arrival = try folder.place(
          "\(cache)/\(source)",
          at: target,
          links: !options.copies,
          isRight: { [stamp = numbers[url].flatMap { stamps[$0] }] in
            picture?.isRight($0, stamp) ?? true
          },
          // An older version of the picture can have the same time, because that is the origin's `Last-Modified`.
          mayKeep: picture == nil || picture?.sha256 == noted.files[target]?.sha256
        )
      }
    } catch {
      // Errors that would affect every file end the export.
      guard error.code == .disk, let code = error.errno, ![EIO, EROFS, ENODEV].contains(code)
      else { throw error }
      report.failed.append(
        ExportReport.Failure(url: url, path: target, reason: error.description)
      )
      return nil
    }
    if arrival != .missing {
      record.files[target] = folder.file(target, of: url, sha256: picture?.sha256)
    }
    return arrival
  }

  /// Writes `catalog.json`.
  ///
  /// - Parameter isStopped: Called between batches of items. If it returns true, the old file is left unchanged.
  /// - Returns: Whether the file was written.
  /// - Throws: ``LarderError`` when the cache cannot be read, or the folder cannot be written.
  mutating func writeDocument(_ isStopped: () -> Bool) throws(LarderError) -> Bool {
    let name = ExportDocument.name
    guard mayWrite(name, of: name) else { return false }
    let absent = missing.union(unwritten)
    let exported = { [images, numbers, plan] (url: String) -> ShownPicture? in
      guard !absent.contains(url), let number = numbers[url], let path = plan.paths[url] else {
        return nil
      }
      var image = images[number]
      image.path = path
      return image
    }
    let document = try ExportDocument(in: folder, exported: exported)
    guard try document.write(catalog, isStopped) else { return false }
    others.insert(name)
    record.files[name] = folder.file(name, of: nil)
    return true
  }

  /// Removes files of earlier exports that are outdated, if the options say so.
  ///
  /// Files that were changed since they were exported are left.
  mutating func removeOutdated() throws(LarderError) {
    let spared = options.squares ? missing : missing.union(images.map(\.url))
    let written = others.union(arrivals.keys)
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

/// A catalog, and its sections as they were at the start of an export.
struct ExportedCatalog {
  /// The reader of the cache.
  let reader: CatalogReader
  /// The sections, in the catalog's order.
  let sections: [RunSection]

  /// Reads the sections.
  init(_ reader: CatalogReader) throws(LarderError) {
    self.reader = reader
    sections = try reader.sections()
  }

  /// The items in batches, in the catalog's order.
  ///
  /// Every iteration returns the same items, even if a sync ends meanwhile.
  var batches: ItemBatches { ItemBatches(sections, of: reader, where: ItemQuery()) }
}
