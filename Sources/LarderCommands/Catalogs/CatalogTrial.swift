import Catalog
import CurlTransport
import Foundation
import Imaging
import Pipeline
import Transport

/// A look at the first page of every section of a catalog file.
struct CatalogTrial {
  /// What became of a section's first page, or of the page with all sections.
  struct Source {
    /// Where it is.
    let url: String
    /// The key of the section, or of what holds them all.
    let key: String
    /// What it says; or why it could not be had or read.
    let result: Result<[SectionCheck], CommandFailure>
  }

  private let file: CatalogFileOnDisk
  private let probe: CatalogProbe
  private static let pictureCount = 3

  /// Prepares a look; an address that cannot be read is an error here.
  init(_ file: CatalogFileOnDisk, _ transport: CurlTransport) throws {
    self.file = file
    probe = try CatalogProbe(
      file.catalog,
      folder: file.folder,
      environment: ProcessInfo.processInfo.environment,
      now: { UnixTime.now() },
      transport: transport
    )
  }

  /// Looks at each source in turn.
  func sources() -> [Source] {
    let keys =
      switch file.catalog.sections {
      case .listed(let sources): sources.map(\.key)
      case .combined: ["all"]
      }
    var taken = file.catalog.namedKeys
    return keys.enumerated().map { position, key in
      var result = Result { try checks(ofSource: position) }.mapError {
        CommandFailure($0) ?? CommandFailure("\($0)", .failed)
      }
      if file.catalog.isMany(source: position) {
        result = result.map { $0.map { Self.named($0, once: &taken) } }
      }
      return Source(url: probe.name(ofSource: position), key: key, result: result)
    }
  }

  /// A section that its response names, with a finding when it has the key of one before it.
  private static func named(_ check: SectionCheck, once taken: inout Set<String>) -> SectionCheck {
    guard !taken.insert(check.section.key).inserted else { return check }
    var check = check
    check.findings.append(
      CatalogFinding(
        .duplicateKey,
        message: "another source of the catalog file has a section with this key: a sync refuses "
          + "this one; correct \"key\" beside \"each\", or leave one of them out"
      )
    )
    return check
  }

  private func checks(ofSource position: Int) throws -> [SectionCheck] {
    let page = try probe.page(ofSource: position) { path in
      try FileReading.bytes(path, what: "section", limit: Int(CatalogProbe.limit.count))
    }
    let catalog = file.catalog
    let listing: DecodedListing
    do throws(CatalogError) {
      listing = try decodeSource(page.body, at: position, using: catalog)
    } catch {
      throw probe.veiled(error)
    }
    let mapping = catalog.mapping(ofSource: position)
    var checks = listing.sections.map { SectionCheck($0, of: listing, mapping: mapping) }
    let findings = listing.pageFindings(
      of: page.body,
      paging: catalog.paging(ofSource: position),
      hasNextLink: page.nextLink != nil
    )
    if !checks.isEmpty {
      checks[0].findings +=
        catalog.customaryPrices(in: page.body, ofSource: position) + findings
        + pictures(in: listing, page.base)
    }
    return checks
  }

  /// Looks at the beginnings of a few pictures, each of another item.
  private func pictures(in listing: DecodedListing, _ base: WebURL?) -> [CatalogFinding] {
    let items = listing.sections.flatMap(\.items).filter { !$0.images.isEmpty }
    let findings = items.prefix(Self.pictureCount).compactMap { item -> CatalogFinding? in
      let url = item.images[0].url
      do throws(ProbeFailure) {
        let bytes = try probe.beginning(ofPicture: url, relativeTo: base)
        if PictureFormat(sniffing: bytes) != nil { return nil }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        let isPage = ["<!doctype", "<html", "<head"].contains { text.contains($0) }
        return CatalogFinding(
          .pictureIsPage,
          field: "images",
          count: 1,
          message: "show at \(url) what is \(isPage ? "a page (HTML)" : "no picture")",
          examples: [item.id]
        )
      } catch {
        return CatalogFinding(
          .pictureFails,
          field: "images",
          count: 1,
          message: "have a picture that cannot be had: \(error)",
          examples: [item.id]
        )
      }
    }
    // One host that is down fails them all: say it once.
    return CatalogFinding.Code.allCases.compactMap { code in
      CatalogFinding(joining: findings.filter { $0.code == code })
    }
  }
}
