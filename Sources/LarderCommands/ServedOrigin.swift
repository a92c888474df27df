import Catalog
import CurlTransport
import Foundation
import Pipeline
import Transport
import Web

/// Where `serve` fetches the pictures that the cache lacks.
struct ServedOrigin {
  let transport: CurlTransport
  private let catalog: CatalogFile
  private let options: SyncOptions

  /// Prepares to fetch.
  ///
  /// - Parameters:
  ///   - file: The catalog file; without it no host was named by the user, and all must be public.
  ///   - shelf: The catalog that is served.
  ///   - base: What replaces the file's base.
  ///   - connection: How to meet origins.
  /// - Throws: ``CommandFailure`` when the file is of another catalog, and what is wrong with the options.
  init(
    _ file: CatalogFileOnDisk?,
    of shelf: CatalogShelf,
    base: String?,
    _ connection: ConnectionOptions
  ) throws {
    var options = SyncOptions()
    options.base = base
    self.options = options
    catalog = try file?.catalog ?? Self.nothing(called: shelf.name)
    guard catalog.name == shelf.name else {
      throw CommandFailure(
        "cannot serve \(shelf.name) with the catalog file of \(catalog.name): give its own, or none",
        .usage
      )
    }
    let named = try file?.namedHosts(base: base) ?? []
    transport = try CurlTransport(try connection.transport(named: named))
  }

  /// Prepares to fetch into a room.
  ///
  /// - Parameters:
  ///   - room: The room.
  ///   - reserve: The room that the disk is to keep; nil lets it fill.
  /// - Returns: The means to fetch.
  func pull(into room: String, keeping reserve: DiskReserve?) -> PicturePull {
    PicturePull(
      catalog,
      room: room,
      options: options,
      transport: transport,
      reserve: reserve,
      environment: ProcessInfo.processInfo.environment,
      now: { .now() }
    )
  }

  /// A catalog that names no host.
  private static func nothing(called name: String) throws -> CatalogFile {
    let text =
      "{name: none, currency: KRW, sections: [{key: none, url: \"https://none.invalid/\"}]}"
    var catalog = try CatalogFile(parsing: Array(text.utf8), file: "none")
    catalog.name = name
    catalog.sections = .listed([])
    return catalog
  }
}
