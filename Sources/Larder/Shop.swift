import Base
import Cache
import Catalog
import FoundationEssentials
import Glibc
import Pipeline
import SystemPackage

/// A shop's catalog, and the cache on disk with the items of the catalog and all their pictures.
///
/// A shop is a value with a catalog and a path. It opens no file until a method is called. Any number of shops, tasks
/// and processes can use one cache. A method that changes the cache (``sync(_:progress:)``, ``warm(_:progress:)``,
/// ``repair(progress:)`` or ``sweep(_:)``) locks the cache. If another such method is called meanwhile, it fails with
/// the code `locked`. Reading works at any time, and needs no network.
///
///     let shop = try Shop(catalog: "shop.yaml", cache: "cache")
///     let report = try await shop.sync()
///     for item in try shop.items(in: "main") { print(item.title) }
public struct Shop: Sendable {
  /// The catalog file, read and checked.
  public let catalog: CatalogFile
  /// The path of the cache.
  public let cache: String
  /// The folder of the catalog file.
  ///
  /// Local addresses in that file, such as `main.json`, are relative to the folder.
  public let folder: String
  let environment: [String: String]
  let transport: (any ShopTransport)?
  let clock: @Sendable () -> Date

  /// Makes a shop from a catalog file and the path of its cache.
  ///
  /// - Parameters:
  ///   - path: The path of the catalog file: YAML or JSON of at most 1 MiB.
  ///   - cache: The folder of the cache; the first sync creates it.
  ///   - environment: The variables that replace `${NAME}` in the catalog file. Pass nil to use the environment of this
  ///     process.
  ///   - transport: A transport that answers requests instead of the network, for example in tests.
  ///   - clock: The source of the present time. Pass nil to use the clock of this machine.
  /// - Throws: ``LarderError`` with a message that names the file, the line and the expected value.
  public init(
    catalog path: String,
    cache: String,
    environment: [String: String]? = nil,
    transport: (any ShopTransport)? = nil,
    clock: (@Sendable () -> Date)? = nil
  ) throws(LarderError) {
    let limit = 1 << 20
    let bytes = try BoundedReading.bytes(ofFile: path, limit: limit)
    guard bytes.count <= limit else {
      throw LarderError(
        .catalog,
        "cannot read \(path): it is longer than 1 MiB, the limit for catalog files",
        thing: path
      )
    }
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
  ///   - folder: The folder that local addresses in the catalog are relative to.
  ///   - cache: The folder of the cache; the first sync creates it.
  ///   - environment: The variables that replace `${NAME}` in the catalog. Pass nil to use the environment of this
  ///     process.
  ///   - transport: A transport that answers requests instead of the network, for example in tests.
  ///   - clock: The source of the present time. Pass nil to use the clock of this machine.
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

  /// The text that the lock of the cache contains.
  ///
  /// Processes that find the cache locked show the text.
  func holder(_ work: String) -> String {
    "\(ProcessInfo.processInfo.processName) \(work) \(catalog.name), process \(getpid())"
  }
}

extension Shop {
  /// A section of the catalog, as of the last sync.
  public struct Section: Sendable, Hashable {
    /// The name of the section for programs, as in ``Shop/items(in:)``, such as `main`.
    public let key: String
    /// The name of the section for people, such as `Main dishes`.
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
  /// - Parameter section: The section's key. Pass nil to get all sections.
  /// - Returns: The items. If two sections list an item, it is returned twice.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet, or when there is no such section.
  public func items(in section: String? = nil) throws(LarderError) -> [ShownItem] {
    try LarderError.translating {
      try reader().list(section: section)
    }
  }

  /// One item with all its sections; nil if no section lists the item.
  ///
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func item(_ id: String) throws(LarderError) -> ShownItem? {
    try LarderError.translating { try reader().show(id) }
  }

  /// The catalog as of the last sync.
  func reader() throws -> CatalogReader { try CatalogReader(cache: cache, catalog: catalog.name) }
}

extension Shop {
  /// One run of `sync` or `warm` for this catalog.
  public struct Run: Sendable, Hashable, Identifiable {
    /// The run's number.
    public let id: RunID
    /// When the run began.
    public let started: Date
    /// When the run ended; nil if the run is under way, or if it was killed.
    public let finished: Date?
    /// How the run ended; nil while the run is under way.
    ///
    /// If a run was killed, the next run marks it as `interrupted`.
    public let outcome: SyncReport.Outcome?
  }

  /// The changes between two runs that ended.
  ///
  /// - Parameters:
  ///   - old: The earlier run. If it is nil, the last run before `new` is used.
  ///   - new: The later run. If it is nil, the last run is used.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` with the code `not-found` when there is no such run.
  public func changes(
    from old: Run.ID? = nil,
    to new: Run.ID? = nil
  ) async throws(LarderError) -> RunDiff {
    try await Blocking.run { _ in
      try reader().diff(from: old, to: new)
    }
  }

  /// The runs, the newest first.
  ///
  /// - Parameter limit: The maximum number of runs to return.
  /// - Returns: The runs, including runs that were killed.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func runs(limit: Int = 20) async throws(LarderError) -> [Run] {
    try await Blocking.run { _ in
      try reader().runs(limit: limit).map { run in
        Run(
          id: run.id,
          started: Date(run.started),
          finished: run.finished.map(Date.init),
          outcome: run.outcome.flatMap(SyncReport.Outcome.init(rawValue:))
        )
      }
    }
  }
}

/// Reads files that a user names, but not more bytes than a limit allows.
package enum BoundedReading {
  /// Reads a file, but at most `limit + 1` bytes of it.
  ///
  /// If the result has `limit + 1` bytes, the file is larger than `limit`.
  ///
  /// - Parameters:
  ///   - path: The path of the file. A pipe without a writer counts as an empty file.
  ///   - limit: The maximum number of bytes that the caller accepts.
  /// - Returns: The bytes.
  /// - Throws: ``LarderError`` when the file cannot be opened or read.
  package static func bytes(ofFile path: String, limit: Int) throws(LarderError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw .system("read", path, errno: errno, remedy: nil) }
    defer { close(file) }
    // Reading waits for the writer of a pipe, such as that of `<(command)`; only opening does not.
    _ = fcntl(file, F_SETFL, O_RDONLY)
    return try bytes(of: file, path, limit: limit)
  }

  /// The bytes of an open file up to its end, but at most `limit` and one extra byte.
  ///
  /// - Parameters:
  ///   - file: The open file.
  ///   - name: The file's name, for the error.
  ///   - limit: The maximum number of bytes that the caller accepts.
  /// - Returns: The bytes.
  /// - Throws: ``LarderError`` when the file cannot be read.
  package static func bytes(
    of file: Int32,
    _ name: String,
    limit: Int
  ) throws(LarderError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    do throws(SystemError) {
      while bytes.count <= limit {
        let count = try Files.read(file, into: &buffer)
        bytes += buffer.prefix(count)
        if count < buffer.count { break }
      }
    } catch {
      throw .system("read", name, errno: error.code, remedy: nil)
    }
    return bytes
  }
}

extension BoundedReading {
  /// Reads the format files that a catalog file refers to.
  ///
  /// A format file says how larder reads the responses of one kind of shop software. Several catalog files can refer to
  /// it.
  ///
  /// - Parameter path: The path of the catalog file.
  /// - Returns: A function that reads a format file. It takes a path relative to the folder of the catalog file.
  package static func formatFiles(beside path: String) -> FormatFileReading {
    let folder = FilePath(path).removingLastComponent()
    return { name throws(CatalogError) in
      let file = folder.pushing(FilePath(name)).string
      do throws(LarderError) {
        return try bytes(ofFile: file, limit: 1 << 20)
      } catch {
        let words = systemMessage(error.errno ?? EIO)
        throw CatalogError(.catalogFile, subject: "format file \(file)", reason: words)
      }
    }
  }
}
