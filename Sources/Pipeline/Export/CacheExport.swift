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
    /// How many items have a place.
    package var places = 0
    /// How many squares are there.
    package var squares = 0
    /// How many files went that an earlier export wrote.
    package var deleted = 0
    /// How many pictures it did not come to, because it was stopped.
    package var unfinished = 0
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
  private let catalogs: [CatalogReader]

  /// An export of one catalog of the cache at a path, or of all.
  package init(cache: String, catalog: String?) throws(CacheError) {
    self.cache = cache
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
    let images = exported.flatMap(\.items).flatMap(\.images)
    let held = images.filter { $0.state == .held }
    let plan = ExportPlan(held.compactMap(picture), shape: options.shape)
    let folder = try ExportFolder(path)
    let known = folder.record
    var record = known
    for image in held {
      guard let path = plan.paths[image.url], record.files[path] == nil else { continue }
      record.files[path] = ExportRecord.File(url: image.url, bytes: image.bytes)
    }
    if record != known { try folder.write(record.text, to: ExportRecord.name) }
    var report = Report()
    report.collisions = plan.collisions
    var missing = Set(images.filter { $0.state != .held }.map(\.url))
    var written: Set<String> = []
    func place(_ source: String, at target: String, of url: String) throws(CacheError)
      -> ExportFolder.Arrival
    {
      let arrival = try folder.place("\(cache)/\(source)", at: target, links: options.links)
      if arrival != .missing {
        written.insert(target)
        record.files[target] = folder.file(target, of: url)
      }
      return arrival
    }
    // A picture that several items show is one file.
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
      switch try place(source, at: target, of: image.url) {
      case .linked: report.linked += 1
      case .copied: report.copied += 1
      case .unchanged: report.unchanged += 1
      case .missing: missing.insert(image.url)
      }
      progress(written.count, total)
    }
    report.missing = missing.sorted()
    report.files = report.linked + report.copied + report.unchanged
    // What is there says of itself what it is; a list of all of it, and what goes, is for the next run.
    if report.unfinished > 0 {
      try folder.write(record.text, to: ExportRecord.name)
      return report
    }
    if options.squares {
      for square in try squares(of: plan)
      where try place(square.source, at: square.target, of: square.url) != .missing {
        report.squares += 1
      }
    }
    let manifest = ExportManifest(
      exported.flatMap { catalog in catalog.items.map { (catalog.entry.name, $0) } },
      paths: plan.paths,
      missing: missing
    )
    report.places = manifest.places
    var own = [
      ("manifest.jsonl", manifest.lines), ("manifest.csv", manifest.table),
      ("catalog.json", ExportedCatalog.document(exported, plan.paths, missing: missing)),
    ]
    if report.places > 0 { own.append(("items.geojson", manifest.geography)) }
    for (name, text) in own {
      try folder.write(text, to: name)
      written.insert(name)
      record.files[name] = folder.file(name, of: nil)
    }
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
    try folder.write(record.text, to: ExportRecord.name)
    return report
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

  /// A held picture for the plan; nil when its bytes are no picture any more.
  private func picture(_ image: ShownImage) -> ExportPlan.Picture? {
    guard let path = image.path,
      let type = image.type.flatMap({ PictureType(mediaType: $0) })
        ?? ExportFolder.type(of: "\(cache)/\(path)")
    else { return nil }
    return ExportPlan.Picture(url: image.url, sha256: image.sha256 ?? "", type: type)
  }

  /// Where each square lies in the cache, and goes: `squares/512/` and the path of its picture.
  private func squares(of plan: ExportPlan) throws(CacheError)
    -> [(source: String, target: String, url: String)]
  {
    guard let reader = catalogs.first else { return [] }
    return try reader.squares(of: plan.paths.keys).compactMap { url, square in
      guard let path = plan.paths[url],
        let type = ExportFolder.type(of: "\(cache)/\(square.name)")
      else { return nil }
      let folder = ExportPath.parents(of: path).last.map { "\($0)/" } ?? ""
      let name = ExportName.fitting(String(path.dropFirst(folder.count)), type)
      return (square.name, "\(ExportPlan.squares)/\(square.side)/\(folder)\(name)", url)
    }
  }
}

/// A catalog as it was when an export began.
struct ExportedCatalog {
  /// The catalog.
  let entry: CatalogEntry
  /// Its sections, in the catalog's order.
  let sections: [RunSection]
  /// Its listings, in the catalog's order.
  let items: [ShownItem]

  /// Reads a catalog.
  init(_ reader: CatalogReader) throws(CacheError) {
    entry = reader.catalog
    sections = try reader.sections()
    items = try reader.list()
  }

  /// `catalog.json`: the catalog, or an array of them when there are several.
  ///
  /// - Parameters:
  ///   - catalogs: the catalogs.
  ///   - paths: where pictures lie in the folder, by URL.
  ///   - missing: the URLs of those that lie nowhere.
  /// - Returns: The document, with a line feed at its end.
  static func document(
    _ catalogs: [ExportedCatalog],
    _ paths: [String: String],
    missing: Set<String>
  ) -> String {
    let documents = catalogs.map { catalog in
      let items = catalog.items.map { item in
        var item = item
        item.images = item.images.map { image in
          var image = image
          image.path = missing.contains(image.url) ? nil : paths[image.url]
          return image
        }
        return item
      }
      return CatalogDocument(catalog.entry, sections: catalog.sections, items: items)
    }
    let bytes = documents.count == 1 ? try? documents[0].jsonLine() : try? documents.jsonLine()
    return String(decoding: bytes ?? [], as: UTF8.self) + "\n"
  }
}
