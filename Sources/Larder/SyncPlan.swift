import Cache
import Catalog
import FoundationEssentials
import Transport

/// What a sync would do, as far as the cache knows: it asks no origin and changes nothing.
///
/// Items and pictures that a section will list for the first time are not known before it is
/// fetched, and so not part of a plan.
public struct SyncPlan: Sendable, Equatable, Codable {
  /// What would be done about one section's page.
  public struct Section: Sendable, Equatable, Codable {
    /// Its address.
    public var url: String
    /// `fetch`, `revalidate` or `read` for a local file.
    public var action: String
  }

  /// What would be done about details or pictures.
  public struct Work: Sendable, Equatable, Codable {
    /// URLs that would be fetched whole.
    public var fetch: [String] = []
    /// URLs whose origin would be asked whether they changed.
    public var revalidate: [String] = []
    /// How many need no question.
    public var fresh = 0
  }

  /// The catalog's name.
  public var catalog: String
  /// The sections' pages.
  public var sections: [Section] = []
  /// The details of the items that are known.
  public var details = Work()
  /// The pictures that are known.
  public var images = Work()
  /// Files that nobody claims, by their path in the cache.
  public var sweep: [String] = []

  /// Makes the plan for a catalog and the cache at a path, which need not exist.
  public init(
    _ catalog: CatalogFile,
    folder: String,
    cache: String,
    options: SyncOptions,
    parser: any URLParsing,
    now: UnixTime
  ) throws(SyncError) {
    self.catalog = catalog.name
    do {
      let addresses = CatalogAddresses(catalog, folder: folder, base: options.base, parser)
      let index = try Self.index(cache)
      for (position, source) in try addresses.sections().enumerated() {
        let action: String
        if case .file = source {
          action = "read"
        } else {
          let held = try index?.document(source.name, reader: catalog.reader(at: position))
          action = held?.response == nil ? "fetch" : "revalidate"
        }
        sections.append(Section(url: source.redacted, action: action))
      }
      guard let index, let entry = try index.catalogs().first(where: { $0.name == catalog.name })
      else { return }
      try planItems(catalog, entry, index, addresses, options, now)
      sweep = try Verification.strays(cache: cache, index: index)
    } catch let error as CacheError {
      throw .cache(error)
    } catch let error as TransferFailure {
      throw .address(error)
    } catch {
      throw .cache(CacheError(.disk, "cannot plan \(catalog.name): \(error)"))
    }
  }

  private static func index(_ cache: String) throws(CacheError) -> Index? {
    do throws(CacheError) {
      return try Index(reading: cache)
    } catch {
      guard error.code == .empty else { throw error }
      return nil
    }
  }

  private mutating func planItems(
    _ catalog: CatalogFile,
    _ entry: CatalogEntry,
    _ index: Index,
    _ addresses: CatalogAddresses,
    _ options: SyncOptions,
    _ now: UnixTime
  ) throws {
    guard let run = try index.lastRun(catalog: entry.id) else { return }
    var pictures: Set<PictureID> = []
    var ids: [String] = []
    for section in try index.sections(run: run.id) {
      guard let listing = section.listing else { continue }
      pictures.formUnion(try index.pictures(listing: listing))
      ids += try index.itemKeys(listing: listing)
    }
    if let rule = catalog.detail, !options.noDetails {
      let known = try index.details(catalog: entry.id)
      for id in Set(ids).sorted() {
        // What has no URL is not asked for.
        guard let text = rule.url(for: id) else { continue }
        let source = try addresses.target(text)
        let document = try index.document(source.name, reader: catalog.detailReader)
        if let document, document.expiry > now.seconds {
          details.fresh += 1
        } else if document?.response == nil {
          details.fetch.append(source.redacted)
        } else {
          details.revalidate.append(source.redacted)
        }
        // Those of a detail that is gone are kept and not asked for.
        if !options.thumbnailsOnly, let detail = known[id], detail.since == nil {
          pictures.formUnion(detail.pictures)
        }
      }
    }
    let entries = try index.pictures(pictures.sorted())
    for id in pictures.sorted() {
      guard let entry = entries[id] else { continue }
      if !entry.isHeld {
        images.fetch.append(addresses.redacted(entry.url))
      } else if entry.expiry > now.seconds {
        images.fresh += 1
      } else {
        images.revalidate.append(addresses.redacted(entry.url))
      }
    }
    images.fetch.sort()
    images.revalidate.sort()
  }

  /// The plan as one line of JSON.
  public func json() throws -> [UInt8] {
    try jsonLine()
  }
}
