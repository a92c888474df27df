import ArgumentParser
import Base
import Cache
import Catalog
import CurlTransport
import Foundation
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

  @Argument(
    help: ArgumentHelp("The catalog file (YAML or JSON).", valueName: "catalog"),
    completion: .catalogFile,
    transform: PathArgument.read
  )
  var file: String

  @Flag(help: "Check the struck-through prices of the last sync against the history, offline.")
  var history = false

  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let document = try document()
    try output.show(json: document.jsonLine(), text: document.text(Terminal(output)), always: true)
    Output.end(document.status)
  }

  private func document() throws -> CheckDocument {
    let file = try CatalogFileOnDisk(file)
    if history {
      return try CheckDocument(CatalogReader(cache: cache.path, catalog: file.catalog.name))
    }
    let options = try connection.transport(named: try file.namedHosts(base: nil))
    let transport = try CurlTransport(options)
    defer { transport.shutdown() }
    let trial = try CatalogTrial(file, transport)
    return CheckDocument(file.catalog.name, trial.sources())
  }
}

/// Fetches the first page of every section of a catalog file, and checks what it reads there.
struct CatalogTrial {
  /// The result for one source.
  ///
  /// A source is the first page of a section, or a page with all sections.
  struct Source {
    /// The URL of the source.
    let url: String
    /// The key of the section; `all` for a page with all sections.
    let key: String
    /// The findings in each section of the source, or the reason why the source could not be fetched or read.
    let result: Result<[SectionCheck], CommandFailure>
  }

  private let file: CatalogFileOnDisk
  private let probe: CatalogProbe
  /// The number of pictures to check in each role, such as `thumbnail`.
  private static let pictureCount = 3

  /// Prepares the check of a catalog file.
  ///
  /// - Throws: An error for an invalid address in the file.
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

  /// Checks each source in turn.
  func sources() -> [Source] {
    let keys =
      switch file.catalog.sections {
      case .listed(let sources): sources.map(\.key)
      case .combined: ["all"]
      }
    var taken = file.catalog.namedKeys
    return keys.enumerated().flatMap { position, key -> [Source] in
      let url = probe.name(ofSource: position)
      do {
        let (checks, failed) = try checks(ofSource: position)
        let isMany = file.catalog.isMany(source: position)
        let named = isMany ? checks.map { Self.named($0, once: &taken) } : checks
        return [Source(url: url, key: key, result: .success(named))]
          + failed.map { section in
            let failure = CommandFailure(section.reason, .partial)
            return Source(
              url: url,
              key: section.key ?? "number \(section.index)",
              result: .failure(failure)
            )
          }
      } catch {
        let failure = CommandFailure(error) ?? CommandFailure("\(error)", .failed)
        return [Source(url: url, key: key, result: .failure(failure))]
      }
    }
  }

  /// The result for a section, with a finding added if an earlier section has the same key.
  ///
  /// `taken` has the keys of the sections before this one, and receives its key.
  private static func named(_ check: SectionCheck, once taken: inout Set<String>) -> SectionCheck {
    guard !taken.insert(check.section.key).inserted else { return check }
    var check = check
    check.findings.append(
      CatalogFinding(
        .duplicateKey,
        message: "another source of the catalog file has a section with this key, so sync refuses "
          + "this one; correct \"key\" beside \"each\", or remove one of the sources"
      )
    )
    return check
  }

  /// Checks the sections of a source, and returns the results and the sections that a sync would refuse.
  private func checks(ofSource position: Int) throws -> ([SectionCheck], [FailedSection]) {
    let page = try probe.page(ofSource: position) { try Self.read($0, "section") }
    let catalog = file.catalog
    let listing: DecodedListing
    do throws(CatalogError) {
      listing = try decodeSource(page.body, at: position, using: catalog)
    } catch {
      throw probe.veiled(error)
    }
    let mapping = catalog.mapping(ofSource: position)
    var checks = listing.sections.map { SectionCheck($0, of: listing, mapping: mapping) }
    for check in checks where Self.isWithheld(check) {
      throw CommandFailure(
        "a sync would reject it: \(check.skipped) of \(check.skipped + check.section.items.count) items "
          + "cannot be read (\(check.findings.first?.message ?? "")); correct the mapping",
        .data
      )
    }
    let findings = listing.pageFindings(
      of: page.body,
      paging: catalog.paging(ofSource: position),
      hasNextLink: page.nextLink != nil
    )
    if !checks.isEmpty {
      checks[0].findings +=
        catalog.priceFindings(in: page.body, ofSource: position) + findings
        + pictures(in: listing, page.base) + details(of: listing)
    }
    return (checks, listing.failed)
  }

  private static func read(_ path: String, _ what: String) throws -> [UInt8] {
    try FileReading.bytes(path, what: what, limit: Int(CatalogProbe.limit.count))
  }

  /// Whether a sync would refuse a section because too many of its items cannot be read.
  private static func isWithheld(_ check: SectionCheck) -> Bool {
    SkipLimit.standard.refuses(
      lost: check.skipped,
      of: check.skipped + check.section.items.count
    )
  }

  /// Checks the details of the first and the last item.
  private func details(of listing: DecodedListing) -> [CatalogFinding] {
    guard let rule = file.catalog.detail else { return [] }
    let items = listing.sections.flatMap(\.items)
    let chosen = rule.isShared ? items.prefix(1) : items.prefix(1) + items.dropFirst().suffix(1)
    var findings: [CatalogFinding] = []
    var missing: [String] = []
    for item in chosen {
      // The message has no subject; see `CatalogFinding.Code.countsItems`.
      func note(_ code: CatalogFinding.Code, _ field: String?, _ message: String) {
        findings.append(
          CatalogFinding(code, field: field, count: 1, message: message, examples: [item.id])
        )
      }
      do {
        guard let page = try probe.detail(of: item, reading: { try Self.read($0, "detail") })
        else {
          return []
        }
        let details =
          rule.isShared
          ? try decodeDetails(page.body, using: file.catalog).details
          : [try decodeDetail(page.body, id: item.id, using: file.catalog)]
        for lost in details.flatMap({ $0.lost ?? [] }).prefix(3) {
          note(
            .detailField,
            "detail.\(lost.field ?? "")",
            "have a value that cannot be read: \(lost.reason)"
          )
        }
        let images = details.prefix(1).flatMap(\.images)
        findings += pictures(
          Array(images.prefix(Self.pictureCount)).map { (item.id, $0.url) },
          page.base
        )
      } catch let error as LarderError where [404, 410].contains(error.status) {
        missing.append(item.id)
      } catch let error as CatalogError {
        note(
          .detailFails,
          "detail",
          "have a detail that cannot be read: \(probe.veiled(error).reason)"
        )
      } catch {
        note(.detailFails, "detail.url", "have a detail that cannot be fetched: \(error)")
      }
    }
    // It is normal that one item has no detail. If none of three or more items has a detail, a sync assumes that the
    // URL is wrong.
    if missing.count == chosen.count, items.count > 2 {
      let message = "have no detail there (404); is detail.url right?"
      findings.append(
        CatalogFinding(
          .detailFails,
          field: "detail.url",
          count: missing.count,
          message: message,
          examples: missing
        )
      )
    }
    return CatalogFinding.joined(findings)
  }

  /// Checks the first bytes of three pictures in each role.
  ///
  /// Each of the three belongs to another item.
  private func pictures(in listing: DecodedListing, _ base: WebURL?) -> [CatalogFinding] {
    let items = listing.sections.flatMap(\.items)
    var chosen: [(id: String, url: String)] = []
    for role in ImageReference.Role.allCases {
      let all = items.lazy.compactMap { item in
        item.images.first { $0.role == role }.map { (id: item.id, url: $0.url) }
      }
      for one in all.prefix(Self.pictureCount) where !chosen.contains(where: { $0.url == one.url })
      {
        chosen.append(one)
      }
    }
    return pictures(chosen, base)
  }

  private func pictures(_ chosen: [(id: String, url: String)], _ base: WebURL?) -> [CatalogFinding]
  {
    // The messages have no subject; see `CatalogFinding.Code.countsItems`.
    let findings = chosen.compactMap { id, url -> CatalogFinding? in
      do throws(LarderError) {
        let bytes = try probe.beginning(ofPicture: url, relativeTo: base)
        if PictureFormat(shown: bytes) != nil { return nil }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        let isPage = ["<!doctype", "<html", "<head"].contains { text.contains($0) }
        return CatalogFinding(
          .pictureIsPage,
          field: "images",
          count: 1,
          message:
            "have \(isPage ? "a page (HTML)" : "something else") instead of a picture at \(url)",
          examples: [id]
        )
      } catch {
        return CatalogFinding(
          .pictureFails,
          field: "images",
          count: 1,
          message: "have a picture that cannot be fetched: \(error)",
          examples: [id]
        )
      }
    }
    // If a host is down, all its pictures fail. The failures become one finding.
    return CatalogFinding.joined(findings)
  }
}

/// The findings about a catalog file, as JSON or text.
struct CheckDocument: Encodable {
  /// A finding as JSON.
  ///
  /// The key `struck` is added to the keys of the finding. Its value is null unless the finding is about a struck
  /// (crossed-out) price.
  private struct Finding: Encodable {
    let finding: CatalogFinding
    var struck: StruckPrice?

    private enum CodingKeys: String, CodingKey { case struck }

    func encode(to encoder: any Encoder) throws {
      try finding.encode(to: encoder)
      var body = encoder.container(keyedBy: CodingKeys.self)
      try body.encode(struck, forKey: .struck)
    }
  }

  /// The history that the prices were compared with: its start, the number of items on sale, and the number of items on
  /// sale that it does not cover.
  private struct History: Encodable {
    @OrNull var since: UnixTime?
    var sales: Int
    var unknown: Int
  }

  private struct Section: Encodable {
    var key: String
    var title: String
    @OrNull var url: String?
    var items: Int
    @OrNull var total: Int?
    var skipped: Int
    @OrNull var error: String?
    var fields: [SectionCheck.Field]
    var findings: [Finding]

    /// Whether one table of fields can describe both sections.
    func isAlike(_ other: Section) -> Bool {
      error == nil && other.error == nil && !fields.isEmpty && fields.count == other.fields.count
        && zip(fields, other.fields).allSatisfy { $0.isAlike($1, of: (items, other.items)) }
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

  init(_ catalog: String, _ sources: [CatalogTrial.Source]) {
    self.catalog = catalog
    history = nil
    var sections: [Section] = []
    var failures: [ExitStatus] = []
    for source in sources {
      switch source.result {
      case .success(let checks): sections += checks.map { Self.section($0, source.url) }
      case .failure(let failure):
        failures.append(failure.status)
        sections.append(
          Section(
            key: source.key,
            title: source.key,
            url: source.url,
            items: 0,
            total: nil,
            skipped: 0,
            error: failure.message,
            fields: [],
            findings: []
          )
        )
      }
    }
    self.sections = sections
    clean = sections.allSatisfy { $0.error == nil && $0.findings.isEmpty }
    status =
      clean
      ? .done : failures.count == sources.count ? ExitStatus.mostSevere(failures) : .partial
  }

  /// Makes the findings about the crossed-out prices of a catalog, as of its last sync.
  init(_ reader: CatalogReader) throws {
    let checks = try reader.struckPrices()
    catalog = reader.catalog.name
    sections = checks.map(Self.section)
    clean = checks.allSatisfy(\.higher.isEmpty)
    status = clean ? .done : .partial
    history = History(
      since: try reader.historyBeginning(),
      sales: checks.map(\.saleCount).reduce(0, +),
      unknown: checks.map(\.unknownCount).reduce(0, +)
    )
  }

  private static func section(_ check: StruckPrices) -> Section {
    Section(
      key: check.section.key,
      title: check.section.title,
      url: nil,
      items: check.itemCount,
      total: nil,
      skipped: 0,
      error: nil,
      fields: [],
      findings: check.higher.map { struck in
        let finding = CatalogFinding(
          .struckPrice,
          field: "normalPrice",
          count: 1,
          message:
            "\(struck.price.formatted()) is struck through beside \(struck.salePrice.formatted()) (on sale since "
            + "\(struck.began.rfc3339)), but the lowest price of the 30 days before was "
            + "\(struck.lowest.price.formatted()), since \(struck.lowest.time.rfc3339)",
          examples: [struck.id]
        )
        return Finding(finding: finding, struck: struck)
      }
    )
  }

  private static func section(_ check: SectionCheck, _ url: String) -> Section {
    Section(
      key: check.section.key,
      title: check.section.title,
      url: url,
      items: check.section.items.count,
      total: check.total,
      skipped: check.skipped,
      error: nil,
      fields: check.fields,
      findings: check.findings.map { Finding(finding: $0) }
    )
  }

  /// The findings as text: a paragraph for all sections with the same fields, then the verdict.
  func text(_ terminal: Terminal) -> String {
    var groups: [[Section]] = []
    for section in sections {
      if let place = groups.firstIndex(where: { $0[0].isAlike(section) }) {
        groups[place].append(section)
      } else {
        groups.append([section])
      }
    }
    var blocks = groups.map { paragraph($0, terminal) }
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

  /// The paragraph about sections with the same fields.
  ///
  /// Above the table of fields is the name of each section, followed by the section's findings. If there is only one
  /// section, its findings stand below the table.
  private func paragraph(_ group: [Section], _ terminal: Terminal) -> String {
    let fields = table(group)
    guard group.count > 1 else {
      return ([heading(group[0], terminal)] + fields + findings(group[0], terminal))
        .joined(separator: "\n")
    }
    let names = group.flatMap { [heading($0, terminal)] + findings($0, terminal) }
    return (names + fields).joined(separator: "\n")
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

extension SectionCheck.Field {
  /// Whether the fields of two sections differ in nothing but the number of items that have them.
  fileprivate func isAlike(_ other: Self, of items: (own: Int, other: Int)) -> Bool {
    func isInAll(_ count: Int, of all: Int) -> Bool? {
      count == 0 ? false : count == all ? true : nil
    }
    return name == other.name && paths == other.paths
      && isInAll(self.items, of: items.own) == isInAll(other.items, of: items.other)
  }
}
