import ArgumentParser
import Base
import Cache
import Catalog
import CurlTransport
import Imaging
import Pipeline
import Transport

/// `larder catalog check FILE`: reports how many items have each field, and which values look wrong.
struct CatalogCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Fetch a page of each section, list mapped fields and suspicious values.",
    discussion: """
      Example:  larder catalog check shop.yaml
                larder catalog check shop.yaml --history --json

      Reads the first page of each section, two details, and the first bytes of three pictures of each \
      kind. Stores nothing. Prints how many items have each field, which paths match nothing, and which \
      values look wrong: sale prices above normal ones, repeated ids, prices in cents that are read as \
      whole units, HTML pages instead of pictures, listings with more pages. Anything that sync would \
      refuse is an error.

      --history sends no requests. It reads the recorded history, and reports each struck-through price \
      above the lowest price of the 30 days before the sale.
      """,
    statuses: [
      .done: "all is well",
      .failed: "nothing could be read, for another reason",
      .partial: "something looks wrong, or a section failed",
      .data: "no section could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the cache cannot be read",
      .configuration: "the catalog file is wrong",
    ]
  )

  @Argument(path: "The catalog file (YAML or JSON).", value: "catalog", completion: .catalogFile)
  var file: String

  @Flag(help: "Check the struck-through prices of the last sync against the history, offline.")
  var history = false

  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let document = try document()
    try output.show(document, text: document.text(Terminal(output)), always: true)
    Output.end(document.status)
  }

  private func document() throws -> CheckDocument {
    let file = try CatalogFileOnDisk(file)
    if history {
      return try CheckDocument(CatalogReader(cache: cache.path, catalog: file.catalog.name))
    }
    let options = try connection.transport(named: file.namedHosts(base: nil))
    let probe = try CatalogProbe(
      file.catalog,
      folder: file.folder,
      environment: file.environment,
      now: { UnixTime.now() },
      transport: CurlTransport(options)
    )
    return CatalogTrial(catalog: file.catalog, probe: probe).document()
  }
}

/// Fetches the first page of every section of a catalog file, and checks what it reads there.
struct CatalogTrial {
  let catalog: CatalogFile
  let probe: CatalogProbe
  /// The number of pictures to check in each role, such as `thumbnail`.
  private static let pictureCount = 3

  /// Checks each source in turn.
  ///
  /// A source is the first page of a section, or a page with all sections.
  func document() -> CheckDocument {
    let keys = catalog.sections.map { $0.key.isEmpty ? "all" : $0.key }
    var taken = catalog.namedKeys
    var sections: [CheckDocument.Section] = []
    var failures: [ExitStatus] = []
    for (position, key) in keys.enumerated() {
      let url = probe.name(ofSource: position)
      do {
        var (checks, failed) = try checks(ofSource: position)
        for place in checks.indices
        where catalog.isMany(source: position) && !taken.insert(checks[place].section.key).inserted
        {
          let message =
            "another source of the catalog file has a section with this key, so sync refuses "
            + "this one; correct \"key\" beside \"each\", or remove one of the sources"
          checks[place].findings.append(CatalogFinding(.duplicateKey, message: message))
        }
        sections += checks.map { CheckDocument.Section($0, url) }
        sections += failed.map { CheckDocument.Section(failed: $0.key, url, $0.reason) }
        if checks.isEmpty, !failed.isEmpty { failures.append(.data) }
      } catch {
        let failure = CommandFailure(error) ?? CommandFailure("\(error)", .failed)
        failures.append(failure.status)
        sections.append(CheckDocument.Section(failed: key, url, failure.message))
      }
    }
    let isReached = failures.count < keys.count
    return CheckDocument(
      catalog.name,
      sections,
      failing: isReached ? .partial : ExitStatus.mostSevere(failures)
    )
  }

  /// A section that a sync would refuse.
  private typealias Refusal = (key: String, reason: String?)

  /// Checks the sections of a source, and returns the results and the sections that a sync would refuse.
  private func checks(ofSource position: Int) throws -> ([SectionCheck], [Refusal]) {
    let page = try probe.page(ofSource: position) { try Self.read($0, "section") }
    let listing: DecodedListing
    do throws(CatalogError) {
      listing = try decodeSource(page.body, at: position, using: catalog)
    } catch {
      throw probe.veiled(error)
    }
    let mapping = catalog.mapping(ofSource: position)
    var checks: [SectionCheck] = []
    var failed: [Refusal] = []
    for check in listing.sections.map({ SectionCheck($0, of: listing, mapping: mapping) }) {
      if let reason = check.refusal {
        failed.append((check.section.key, reason))
      } else {
        checks.append(check)
      }
    }
    failed += listing.failed.map { ($0.key ?? "number \($0.index)", $0.reason) }
    guard !checks.isEmpty else { return (checks, failed) }
    let items = checks.flatMap(\.section.items)
    checks[0].findings += catalog.priceFindings(in: page.body, ofSource: position)
    checks[0].findings += listing.pageFindings(
      of: page.body,
      paging: catalog.paging(ofSource: position),
      hasNextLink: page.nextLink != nil
    )
    var found = pictures(of: items, page.base) + details(of: items)
    for place in checks.indices {
      let ids = Set(checks[place].section.items.map(\.id.exact))
      let isOwn = { (finding: CatalogFinding) in
        finding.examples.contains { ids.contains($0.exact) }
      }
      checks[place].findings += CatalogFinding.joined(ofItems: found.filter(isOwn))
      found.removeAll(where: isOwn)
    }
    return (checks, failed)
  }

  private static func read(_ path: String, _ what: String) throws -> [UInt8] {
    try FileReading.bytes(path, what: what, limit: Int(CatalogProbe.limit.count))
  }

  /// Checks the details of the first and the last item; each finding is about one of them.
  private func details(of items: [StoreItem]) -> [CatalogFinding] {
    guard let rule = catalog.detail else { return [] }
    let chosen = rule.isShared ? items.prefix(1) : items.prefix(1) + items.dropFirst().suffix(1)
    var findings: [CatalogFinding] = []
    var missing: [CatalogFinding] = []
    for item in chosen {
      do {
        guard let page = try probe.detail(of: item, reading: { try Self.read($0, "detail") })
        else { return [] }
        let details =
          rule.isShared
          ? try decodeDetails(page.body, using: catalog).details
          : [try decodeDetail(page.body, id: item.id, using: catalog)]
        findings += details.flatMap { $0.lost ?? [] }.prefix(3).map { lost in
          let message = "have a value that cannot be read: \(lost.reason)"
          return CatalogFinding(.detailField, of: item.id, "detail.\(lost.field ?? "")", message)
        }
        let images = details.first?.images.prefix(Self.pictureCount) ?? []
        findings += pictures(images.map { (item.id, $0.url) }, page.base)
      } catch let error as LarderError where [404, 410].contains(error.status) {
        let message = "have no detail there (404); is detail.url right?"
        missing.append(CatalogFinding(.detailFails, of: item.id, "detail.url", message))
      } catch let error as CatalogError {
        let message = "have a detail that cannot be read: \(probe.veiled(error).reason)"
        findings.append(CatalogFinding(.detailFails, of: item.id, "detail", message))
      } catch {
        let message = "have a detail that cannot be fetched: \(error)"
        findings.append(CatalogFinding(.detailFails, of: item.id, "detail.url", message))
      }
    }
    // It is normal that one item has no detail. If none of three or more items has a detail, a sync assumes that the
    // URL is wrong.
    if missing.count == chosen.count, items.count > 2 { findings += missing }
    return findings
  }

  /// Checks the first bytes of three pictures in each role.
  ///
  /// Each of the three belongs to another item, and each finding is about one item.
  private func pictures(of items: [StoreItem], _ base: WebURL?) -> [CatalogFinding] {
    let chosen = ImageReference.Role.allCases.flatMap { role in
      items.lazy.compactMap { item in
        item.images.first { $0.role == role }.map { (id: item.id, url: $0.url) }
      }
      .prefix(Self.pictureCount)
    }
    return pictures(chosen.unique(by: \.url), base)
  }

  private func pictures(_ chosen: [(id: String, url: String)], _ base: WebURL?) -> [CatalogFinding]
  {
    chosen.compactMap { id, url -> CatalogFinding? in
      do throws(LarderError) {
        let bytes = try probe.beginning(ofPicture: url, relativeTo: base)
        if PictureFormat(shown: bytes) != nil { return nil }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        let isPage = ["<!doctype", "<html", "<head"].contains { text.contains($0) }
        let found = isPage ? "a page (HTML)" : "something else"
        let message = "have \(found) instead of a picture at \(url)"
        return CatalogFinding(.pictureIsPage, of: id, "images", message)
      } catch {
        let message = "have a picture that cannot be fetched: \(error)"
        return CatalogFinding(.pictureFails, of: id, "images", message)
      }
    }
  }
}

extension CatalogFinding {
  /// Makes a finding about one item.
  ///
  /// For most codes, the message has no subject; see ``Code/countsItems``.
  fileprivate init(_ code: Code, of item: String, _ field: String, _ message: String) {
    self.init(code, field: field, count: 1, message: message, examples: [item])
  }
}

/// The findings about a catalog file, as JSON or text.
struct CheckDocument: Encodable {
  /// A finding as JSON.
  ///
  /// The key `struck` is added to the keys of the finding. Its value is null unless the finding is about a struck
  /// (crossed-out) price.
  struct Finding: Encodable {
    let finding: CatalogFinding
    var struck: StruckPrice?

    func encode(to encoder: any Encoder) throws {
      try finding.encode(to: encoder)
      try encoder.write(["struck": struck])
    }
  }

  /// The history that the prices were compared with: its start, the number of items on sale, and the number of items on
  /// sale that it does not cover.
  struct History: Encodable {
    @OrNull var since: UnixTime?
    var sales: Int
    var unknown: Int
  }

  struct Section: Encodable {
    var key: String
    var title: String
    @OrNull var url: String? = nil
    var items = 0
    @OrNull var total: Int? = nil
    var skipped = 0
    @OrNull var error: String? = nil
    var fields: [SectionCheck.Field] = []
    var findings: [Finding] = []

    /// The fields with their paths, and whether all, some or none of the items have them.
    ///
    /// One table can describe all sections of the same shape.
    fileprivate var shape: [[String]] {
      fields.map { field in
        let share = field.items == 0 ? "none" : field.items == items ? "all" : "some"
        return [field.name, share] + field.paths
      }
    }
  }

  private let catalog: String
  private let sections: [Section]
  private let clean: Bool
  @OrNull private var history: History?
  let status: ExitStatus

  private enum CodingKeys: String, CodingKey {
    case catalog, sections, clean, history
  }

  /// Makes the findings in sections; `status` is the exit status if anything looks wrong.
  init(
    _ catalog: String,
    _ sections: [Section],
    history: History? = nil,
    failing status: ExitStatus = .partial
  ) {
    self.catalog = catalog
    self.sections = sections
    self.history = history
    clean = sections.allSatisfy { $0.error == nil && $0.findings.isEmpty }
    self.status = clean ? .done : status
  }

  /// Makes the findings about the crossed-out prices of a catalog, as of its last sync.
  init(_ reader: CatalogReader) throws {
    let checks = try reader.struckPrices()
    let history = History(
      since: try reader.historyBeginning(),
      sales: checks.map(\.saleCount).reduce(0, +),
      unknown: checks.map(\.unknownCount).reduce(0, +)
    )
    self.init(reader.catalog.name, checks.map(Section.init), history: history)
  }

  /// The findings as text: a paragraph for all sections with the same fields, then the verdict.
  ///
  /// A paragraph has the name of each section, each followed by the section's findings, and then the table of fields.
  func text(_ terminal: Terminal) -> String {
    var groups: [[Section]] = []
    for section in sections {
      let place = groups.firstIndex { $0[0].shape == section.shape }
      if let place, !section.fields.isEmpty {
        groups[place].append(section)
      } else {
        groups.append([section])
      }
    }
    var blocks = groups.map { group in
      let names = group.flatMap { [heading($0, terminal)] + findings($0, terminal) }
      return (names + table(group)).joined(separator: "\n")
    }
    let count = sections.map { $0.findings.count + ($0.error == nil ? 0 : 1) }.reduce(0, +)
    if let history, history.unknown > 0 {
      blocks.append(
        "\(Quantities.count(history.unknown, "item")) on sale could not be checked: the history does not cover "
          + "the 30 days before the sale"
      )
    }
    blocks.append(
      clean
        ? terminal.paint("nothing looks wrong", .green)
        : terminal.paint("\(count == 1 ? "1 thing looks" : "\(count) things look") wrong", .yellow)
    )
    return blocks.joined(separator: "\n\n")
  }

  private func heading(_ section: Section, _ terminal: Terminal) -> String {
    let name = terminal.paint(PlainText.line(section.key), .bold)
    if let error = section.error {
      return "\(name)  \(terminal.paint(PlainText.line(error), .red))"
    }
    let skipped = section.skipped == 0 ? "" : ", \(section.skipped) cannot be read"
    let total = section.total.map { $0 == section.items ? "" : " of \($0)" } ?? ""
    let url = section.url.map { "  \(PlainText.line($0))" } ?? ""
    return "\(name)  \(Quantities.count(section.items, "item"))\(total)\(skipped)\(url)"
  }

  /// The table of the fields that the sections have.
  ///
  /// It counts the items that have each field in all the sections together.
  private func table(_ group: [Section]) -> [String] {
    let width = group[0].fields.map(\.name.count).max() ?? 0
    let items = group.map(\.items).reduce(0, +)
    return group[0].fields.enumerated().map { place, field in
      let count = group.map { $0.fields[place].items }.reduce(0, +)
      let paths = PlainText.line(field.paths.joined(separator: ", "))
      let cut = paths.count > 60 ? paths.prefix(59) + "…" : paths
      return "  \(padded(field.name, to: width))  \(count) of \(items)  \(cut)"
    }
  }

  private func findings(_ section: Section, _ terminal: Terminal) -> [String] {
    section.findings.map(\.finding).map { finding in
      let examples =
        finding.examples.isEmpty
        ? "" : " (\(PlainText.line(finding.examples.joined(separator: ", "))))"
      let subject = finding.field.map { "\(PlainText.line($0)): " } ?? ""
      let count =
        finding.code.countsItems
        ? "\(finding.count) of \(section.items + section.skipped) " : ""
      return terminal.paint(
        "  ! \(subject)\(count)\(PlainText.line(finding.message))\(examples)",
        .yellow
      )
    }
  }
}

extension CheckDocument.Section {
  fileprivate init(failed key: String, _ url: String, _ error: String?) {
    self.init(key: key, title: key, url: url, error: error)
  }

  fileprivate init(_ check: SectionCheck, _ url: String) {
    self.init(
      key: check.section.key,
      title: check.section.title,
      url: url,
      items: check.section.items.count,
      total: check.total,
      skipped: check.skipped,
      fields: check.fields,
      findings: check.findings.map { CheckDocument.Finding(finding: $0) }
    )
  }

  fileprivate init(_ check: StruckPrices) {
    self.init(key: check.section.key, title: check.section.title, items: check.itemCount)
    findings = check.higher.map { struck in
      let message =
        "\(struck.price.formatted()) is struck through beside \(struck.salePrice.formatted()) (on sale since "
        + "\(struck.began.rfc3339)), but the lowest price of the 30 days before was "
        + "\(struck.lowest.price.formatted()), since \(struck.lowest.time.rfc3339)"
      let finding = CatalogFinding(.struckPrice, of: struck.id, "normalPrice", message)
      return CheckDocument.Finding(finding: finding, struck: struck)
    }
  }
}
