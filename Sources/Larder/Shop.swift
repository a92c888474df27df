import Base
import Cache
import Catalog
import CurlTransport
import FoundationEssentials
import Glibc
import Pipeline
import SystemPackage

/// A shop's catalog, and the cache on disk that holds it with all its pictures.
///
/// A shop is a value with a catalog and a path: it opens nothing until a method is called. Any number of shops, tasks
/// and processes may use one cache. Methods that change the cache (``sync(_:progress:)``, ``warm(_:progress:)``,
/// ``repair(progress:)``, ``sweep(_:)``) lock it. While such a method runs, a second one fails with the code `locked`.
/// Reading works at any time and needs no network.
///
///     let shop = try Shop(catalog: "shop.yaml", cache: "cache")
///     let report = try await shop.sync()
///     for item in try shop.items(in: "main") { print(item.title) }
public struct Shop: Sendable {
  /// The catalog file, read and checked.
  public let catalog: CatalogFile
  /// The path of the cache.
  public let cache: String
  /// The folder that local addresses in the catalog file are relative to.
  public let folder: String
  let environment: [String: String]
  let transport: (any ShopTransport)?
  let clock: @Sendable () -> Date

  /// Makes a shop from a catalog file and the path of its cache.
  ///
  /// - Parameters:
  ///   - path: The catalog file, YAML or JSON, 1 MiB at most.
  ///   - cache: The folder of the cache; the first sync creates it.
  ///   - environment: The variables for `${NAME}` in the catalog file; nil for this process's own environment.
  ///   - transport: The transport that answers requests instead of the network, for tests.
  ///   - clock: The source of time, for tests.
  /// - Throws: ``LarderError`` with the file, the line and the expected value.
  public init(
    catalog path: String,
    cache: String,
    environment: [String: String]? = nil,
    transport: (any ShopTransport)? = nil,
    clock: (@Sendable () -> Date)? = nil
  ) throws(LarderError) {
    let bytes = try CatalogBytes.read(path)
    let catalog = try LarderError.translating {
      let catalog = try CatalogFile(
        parsing: bytes,
        file: path,
        formatFile: BoundedReading.formatFiles(beside: path)
      )
      try catalog.demandTrust(ofFile: path)
      return catalog
    }
    self.init(
      catalog,
      folder: path.lastIndex(of: "/").map { String(path[...$0]) } ?? "",
      cache: cache,
      environment: environment,
      transport: transport,
      clock: clock
    )
  }

  /// Makes a shop from a catalog that was made or read elsewhere.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - folder: The folder that its local addresses are relative to.
  ///   - cache: The folder of the cache; the first sync creates it.
  ///   - environment: The variables for `${NAME}` in the catalog; nil for this process's own environment.
  ///   - transport: The transport that answers requests instead of the network, for tests.
  ///   - clock: The source of time, for tests.
  public init(
    _ catalog: CatalogFile,
    folder: String = "",
    cache: String,
    environment: [String: String]? = nil,
    transport: (any ShopTransport)? = nil,
    clock: (@Sendable () -> Date)? = nil
  ) {
    self.catalog = catalog
    self.folder = folder
    self.cache = cache
    self.environment = environment ?? ProcessInfo.processInfo.environment
    self.transport = transport
    self.clock = clock ?? { Date() }
  }

  /// The current time in whole seconds.
  var now: UnixTime { UnixTime(Int64(clock().timeIntervalSince1970.rounded(.down))) }

  /// The text in the cache's lock, shown to processes that have to wait.
  func holder(_ work: String) -> String {
    "\(ProcessInfo.processInfo.processName) \(work) \(catalog.name), process \(getpid())"
  }
}

/// Reads a catalog file from disk.
private enum CatalogBytes {
  /// The longest catalog file, in bytes.
  static let limit = 1 << 20

  static func read(_ path: String) throws(LarderError) -> [UInt8] {
    let bytes: [UInt8]
    do {
      bytes = try BoundedReading.bytes(ofFile: path, limit: limit)
    } catch {
      let code = (error as? Errno)?.rawValue ?? EIO
      throw LarderError(
        .disk,
        "cannot read \(path): \(systemMessage(code))",
        thing: path,
        errno: code
      )
    }
    guard bytes.count <= limit else {
      throw LarderError(
        .catalog,
        "cannot read \(path): it is longer than 1 MiB, the limit for catalog files",
        thing: path
      )
    }
    return bytes
  }
}

extension Shop {
  /// A section of the catalog, as of the last sync.
  public struct Section: Sendable, Hashable {
    /// The section's name on the command line and in ``Shop/items(in:)``.
    public let key: String
    /// The section's name for people.
    public let title: String
    /// A line under the title.
    public let subtitle: String?
    /// Whether the section could not be refreshed, so that its items are from an earlier run.
    public let isStale: Bool

    init(_ section: RunSection) {
      (key, title, subtitle) = (section.key, section.title, section.subtitle)
      isStale = section.isStale
    }
  }

  /// The sections as of the last sync, in the catalog's order.
  ///
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func sections() throws(LarderError) -> [Section] {
    try LarderError.translating { try reader().sections().map(Section.init) }
  }

  /// The items of all sections, or of one section, as of the last sync, in the catalog's order.
  ///
  /// - Parameter section: The section's key; nil for all sections.
  /// - Returns: The items; an item in two sections is returned twice.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet, or there is no such
  ///   section.
  public func items(in section: String? = nil) throws(LarderError) -> [Item] {
    try LarderError.translating {
      try reader().list(section: section)
    }
  }

  /// One item with all its sections; nil when no section lists it.
  ///
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func item(_ id: String) throws(LarderError) -> Item? {
    try LarderError.translating { try reader().show(id) }
  }

  /// The catalog as of the last sync.
  func reader() throws -> CatalogReader { try CatalogReader(cache: cache, catalog: catalog.name) }
}

extension Shop {
  /// One run of the catalog.
  public struct Run: Sendable, Hashable, Identifiable {
    /// The run's number.
    public let id: RunID
    /// When the run began.
    public let started: Date
    /// When the run ended; nil while the run is under way, or when it was killed.
    public let finished: Date?
    /// How the run ended.
    public let outcome: Report.Outcome?
  }

  /// The changes between two runs that ended.
  ///
  /// - Parameters:
  ///   - old: The earlier run; nil for the run before `new`.
  ///   - new: The later run; nil for the last.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` with the code `not-found` when there is no such run.
  public func changes(
    from old: Run.ID? = nil,
    to new: Run.ID? = nil
  ) async throws(LarderError) -> Changes {
    try await Blocking.run { _ in
      try reader().diff(from: old, to: new)
    }
  }

  /// The runs, newest first.
  ///
  /// - Parameter limit: The maximum number of runs to return.
  /// - Returns: The runs, including those that were killed.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func runs(limit: Int = 20) async throws(LarderError) -> [Run] {
    try await Blocking.run { _ in
      try reader().runs(limit: limit).map { run in
        Run(
          id: run.id,
          started: Date(run.started),
          finished: run.finished.map(Date.init),
          outcome: run.outcome.flatMap(Report.Outcome.init(rawValue:))
        )
      }
    }
  }
}

/// Reads a file that a user names, up to a limit.
package enum BoundedReading {
  /// A file's bytes, at most `limit` and one extra byte; if the extra byte is there, the file is larger than `limit`.
  ///
  /// - Parameters:
  ///   - path: The file's path; a pipe without a writer counts as empty.
  ///   - limit: The maximum number of bytes that the caller accepts.
  /// - Returns: The bytes.
  /// - Throws: `Errno` when the file cannot be opened or read.
  package static func bytes(ofFile path: String, limit: Int) throws -> [UInt8] {
    let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    return try file.closeAfter { try bytes(of: file, limit: limit) }
  }

  /// The bytes of an open file up to its end, but at most `limit` and one extra byte.
  ///
  /// - Parameters:
  ///   - file: The open file.
  ///   - limit: The maximum number of bytes that the caller accepts.
  /// - Returns: The bytes.
  /// - Throws: `Errno` when the file cannot be read.
  package static func bytes(of file: FileDescriptor, limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
      if count == 0 { break }
      bytes += buffer.prefix(count)
    }
    return bytes
  }
}

extension BoundedReading {
  /// Reads the format files that a catalog file refers to, from the catalog file's folder.
  ///
  /// - Parameter path: The catalog file.
  /// - Returns: A function that reads a format file, given its path relative to that folder.
  package static func formatFiles(beside path: String) -> FormatFileReading {
    let folder = FilePath(path).removingLastComponent()
    return { name throws(CatalogError) in
      let file = folder.pushing(FilePath(name)).string
      do {
        return try bytes(ofFile: file, limit: 1 << 20)
      } catch {
        let words = systemMessage((error as? Errno)?.rawValue ?? EIO)
        throw CatalogError(.catalogFile, subject: "format file \(file)", reason: words)
      }
    }
  }
}
