import Cache
import Catalog

/// Writes what a cache holds into a folder for others: pictures, manifests, and places.
public struct CacheExport: Sendable {
  /// What was written.
  public struct Report: Sendable, Equatable, Codable {
    /// How many files are there.
    public var files = 0
    /// How many of them are second names of the cache's own files.
    public var linked = 0
    /// How many are copies.
    public var copied = 0
    /// How many were there already.
    public var unchanged = 0
    /// The URLs of the pictures that catalogs refer to and that are not held.
    public var missing: [String] = []
    /// The pictures that got another name than their own.
    public var collisions: [ExportPlan.Collision] = []
    /// How many items have a place.
    public var places = 0
  }

  private let cache: String
  private let catalogs: [CatalogReader]

  /// An export of one catalog of the cache at a path, or of all.
  public init(cache: String, catalog: String?) throws(CacheError) {
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
  /// Files are whole whenever somebody looks, and what is there already is not written again. Works
  /// while a run changes the cache.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - shape: how it is laid out.
  ///   - links: whether second names of the cache's files are wanted; whoever changes such a file in
  ///     place changes the cache.
  ///   - progress: called with how many pictures of how many are done.
  /// - Returns: What was written.
  /// - Throws: ``CacheError`` when the cache cannot be read or the folder not written.
  public func run(
    into path: String,
    shape: ExportPlan.Shape,
    links: Bool,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(CacheError) -> Report {
    var listed: [(catalog: String, item: ShownItem)] = []
    for reader in catalogs {
      for item in try reader.list() { listed.append((reader.catalog.name, item)) }
    }
    let images = listed.flatMap(\.item.images)
    let held = images.filter { $0.state == .held }
    let plan = ExportPlan(
      held.map { ExportPlan.Picture(url: $0.url, sha256: $0.sha256 ?? "") },
      shape: shape
    )
    let folder = try ExportFolder(path)
    var report = Report()
    report.collisions = plan.collisions
    var missing = Set(images.filter { $0.state != .held }.map(\.url))
    var placed: Set<String> = []
    for image in held {
      guard let target = plan.paths[image.url], let source = image.path,
        placed.insert(target).inserted
      else { continue }
      switch try folder.place("\(cache)/\(source)", at: target, links: links) {
      case .linked: report.linked += 1
      case .copied: report.copied += 1
      case .unchanged: report.unchanged += 1
      case .missing: missing.insert(image.url)
      }
      progress(placed.count, held.count)
    }
    report.missing = missing.sorted()
    report.files = report.linked + report.copied + report.unchanged
    let manifest = ExportManifest(listed, paths: plan.paths, missing: missing)
    try folder.write(manifest.lines, to: "manifest.jsonl")
    try folder.write(manifest.table, to: "manifest.csv")
    report.places = manifest.places
    if report.places > 0 { try folder.write(manifest.geography, to: "items.geojson") }
    return report
  }
}
