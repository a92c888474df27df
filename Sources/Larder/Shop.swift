import Cache
import Catalog
import CurlTransport
import FoundationEssentials
import Glibc
import Pipeline
import SystemPackage
import Transport

/// A shop's catalog, and the cache on disk that holds it with all its pictures.
///
/// A shop is a value of two paths: it opens nothing until a method is called, and any number of
/// shops, tasks and processes may use one cache. Whoever changes the cache (``sync(_:progress:)``,
/// ``warm(_:progress:)``, ``repair(progress:)``, ``sweep(_:)``) holds it alone; the others fail with
/// ``LarderError/Code/locked``. Reading works at any time and needs no network.
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

  /// Reads a catalog file and names the cache that goes with it.
  ///
  /// - Parameters:
  ///   - path: The catalog file, YAML or JSON, 1 MiB at most.
  ///   - cache: The folder of the cache; the first sync makes it.
  ///   - environment: Where `${NAME}` in the catalog file comes from; without it, this process's own
  ///     environment.
  ///   - transport: What answers requests in place of the network, for tests.
  ///   - clock: What tells the time, for tests.
  /// - Throws: ``LarderError`` with the file, the line and what was expected there.
  public init(
    catalog path: String,
    cache: String,
    environment: [String: String]? = nil,
    transport: (any ShopTransport)? = nil,
    clock: (@Sendable () -> Date)? = nil
  ) throws(LarderError) {
    let bytes = try CatalogBytes.read(path)
    let catalog = try LarderError.translating {
      let catalog = try CatalogFile(parsing: bytes, file: path)
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

  /// A shop whose catalog was made or read elsewhere.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - folder: The folder that its local addresses are relative to.
  ///   - cache: The folder of the cache; the first sync makes it.
  ///   - environment: Where `${NAME}` in the catalog comes from; without it, this process's own
  ///     environment.
  ///   - transport: What answers requests in place of the network, for tests.
  ///   - clock: What tells the time, for tests.
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

  /// The present moment in whole seconds.
  var now: UnixTime { UnixTime(Int64(clock().timeIntervalSince1970.rounded(.down))) }

  /// What is written into the cache's lock, for those who have to wait.
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
      throw .system("read", path, errno: (error as? Errno)?.rawValue ?? EIO)
    }
    guard bytes.count <= limit else {
      throw LarderError(
        .catalog,
        "cannot read \(path): it is longer than 1 MiB, and so no catalog file",
        thing: path
      )
    }
    return bytes
  }
}

extension Date {
  /// The moment as Foundation has it.
  init(_ time: UnixTime) { self.init(timeIntervalSince1970: Double(time.seconds)) }
}
