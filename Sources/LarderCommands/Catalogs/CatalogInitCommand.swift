import ArgumentParser
import Base
import Catalog
import CurlTransport
import Foundation
import Pipeline
import SystemPackage
import Transport

/// `larder catalog init URL|FILE…`: proposes a catalog file.
struct CatalogInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Look at a response and propose a catalog file for it.",
    discussion: """
      Example:  larder catalog init https://shop.example/products.json
                larder catalog init products.json --out shop.yaml --currency EUR
                larder catalog init main.json soup.json --detail detail-H1.json
                larder catalog init https://shop.example/graphql --body @query.json
                larder catalog init https://shop.example/ --header 'token: ${TOKEN}'
                curl -s https://shop.example/products.json | larder catalog init -

      Recognizes known shop systems. For others, finds the items and their fields by names and values, \
      and writes its confidence in each as a comment. A field below 0.7 is commented out, listed with \
      its alternatives, and named on the terminal. Prints the first items as the file reads them. \
      Several listings become several sections. With the detail of one listed item, the file reads the \
      details of all. If a listing seems to have more pages, up to 8 requests find out how to get the \
      second. Read the file, then test it with larder catalog check.
      """,
    statuses: [
      .done: "written",
      .failed: "the file already exists",
      .data: "nothing looks like items",
      .unavailable: "the origin cannot be reached",
      .io: "the file cannot be written",
    ]
  )

  @Argument(
    paths: "URLs, or files with responses (- for stdin). Several become sections of one catalog.",
    value: "url|file",
    completion: .file()
  )
  var sources: [String]

  @Option(path: "The detail of one of the listed items.", value: "url|file", completion: .file())
  var detail: String?

  @Option(
    "Request the listing with a POST of this JSON, or of the JSON in a file: @FILE.",
    value: "json|@file"
  )
  var body: String?

  @Option(
    "Send this header; write '${NAME}' for a secret in an environment variable. May be repeated.",
    value: "name: value"
  )
  var header: [String] = []

  @Option(
    name: .shortAndLong,
    path: "Write to this file, - for stdout. (default: NAME.yaml)",
    value: "file"
  )
  var out: String?

  @Option("The catalog's name. (default: from the URL or file)", value: "name")
  var name: String?

  @Option("The currency, such as EUR. (default: detected)", value: "code")
  var currency: String?

  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if let currency, !MappingProposal.isCurrency(currency) {
      throw ValidationError("--currency takes an ISO 4217 code such as EUR, not \"\(currency)\"")
    }
    if sources.filter({ $0 == "-" }).count + (detail == "-" ? 1 : 0) > 1 {
      throw ValidationError(
        "only one of the responses can come from stdin; put the others into files"
      )
    }
    if let repeated = sources.first(where: { source in sources.filter { $0 == source }.count > 1 })
    {
      throw ValidationError("\(repeated) is given twice; each listing becomes one section")
    }
    if let name, !ProposedSource.isName(name) {
      throw ValidationError("--name must be usable as a file name, and \"\(name)\" is not")
    }
    if body != nil, sources.count > 1 {
      throw ValidationError("--body works with one listing, but \(sources.count) are given")
    }
    if body != nil, !Self.isURL(sources[0]) {
      throw ValidationError("--body needs a URL to be sent to, not \(sources[0])")
    }
    if output.json, out == "-" {
      throw ValidationError("--json and --out - exclude each other: both print to stdout")
    }
  }

  /// Fetches the responses, writes the catalog file, and shows the first items as that file reads them.
  func run() throws {
    let request = try body.map(requestBody)
    var listings = try sources.map(response)
    let detail = try detail.map(response)
    if let name { listings[0].source.name = name }
    listings[0].source.body = request
    let path = out ?? "\(listings[0].source.name).yaml"
    if path != "-", TextFile.exists(path) { throw TextFile.refusal(path) }
    let headers = try headers()
    let reader = try ResponseReader(
      listings,
      detail: detail,
      headers: headers.map { ($0.template.name, $0.value) },
      connection
    )
    let pages = try listings.map { try reader.page($0, body: request) }
    let detailPage = try detail.map { try reader.page($0, body: nil) }
    let file = try ProposedFile(
      of: pages,
      detail: detailPage,
      headers: headers.map(\.template),
      currency: currency,
      name: path
    ) { [listings] in
      reader.next($1, body: $2, of: listings[$0])
    }
    guard path != "-" else {
      Output.data(file.text)
      if !output.quiet { Output.note(ProposalDocument(file, path: nil).text) }
      return
    }
    try TextFile.create(path, with: file.text)
    let document = ProposalDocument(file, path: path)
    try output.show(document, text: document.text)
  }

  /// The headers as the catalog file writes them, and the values to send.
  private func headers() throws -> [(template: HeaderTemplate, value: String)] {
    try header.map { text in
      do throws(CatalogError) {
        let template = try HeaderTemplate(line: text)
        return (template, try template.resolved(environment: ProcessInfo.processInfo.environment))
      } catch {
        let remedy = error.remedy.map { "; \($0)" } ?? ""
        throw CommandFailure("--header: \(error.reason)\(remedy)")
      }
    }
  }

  /// Whether a source is a URL, not a file.
  private static func isURL(_ source: String) -> Bool {
    ["http://", "https://"].contains { source.lowercased().hasPrefix($0) }
  }

  private func response(_ text: String) throws -> NamedResponse {
    if text == "-" { return NamedResponse(path: text, source: .standardInput) }
    guard Self.isURL(text) else {
      return NamedResponse(path: text, source: ProposedSource(file: relative(text)))
    }
    let url: WebURL
    do { url = try CurlURLParser().parse(text, relativeTo: nil) } catch {
      throw CommandFailure("\(error); check the URL")
    }
    guard url.userInfo == nil else {
      throw CommandFailure(
        "cannot propose a catalog file for a URL with a password: it would be written to the file; fetch the "
          + "response by other means and name its file"
      )
    }
    return NamedResponse(path: text, url: url, source: ProposedSource(url: text))
  }

  /// The path of a response's file, in the form that is written into the catalog file.
  ///
  /// If the catalog file is written into a folder other than the working folder, the path is made absolute.
  private func relative(_ source: String) -> String {
    let folder = out.map { FilePath($0).removingLastComponent().string } ?? ""
    guard !folder.isEmpty, out != "-", !source.hasPrefix("/") else { return source }
    return FilePath(FileManager.default.currentDirectoryPath).appending(source)
      .lexicallyNormalized().string
  }

  /// The body of the request: the text itself, or the content of the file whose name follows `@`.
  private func requestBody(_ text: String) throws -> String {
    var body = text
    if text.hasPrefix("@") {
      let path = String(text.dropFirst())
      let bytes = try FileReading.bytes(path, what: "request body", limit: 1 << 20)
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw CommandFailure(
          "cannot read request body \(path): expected JSON in UTF-8",
          .data
        )
      }
      body = text
    }
    do throws(CatalogError) {
      return try ProposedSource.requestBody(body)
    } catch {
      throw CommandFailure("\(error)")
    }
  }
}

/// A response that the command line names.
struct NamedResponse {
  /// The file or the URL, as it was given; `-` means stdin.
  let path: String
  /// The URL; nil if the response is in a file or on stdin.
  var url: WebURL?
  /// The source in the form that is written into the catalog file.
  var source: ProposedSource
}

/// Reads responses from URLs, files or stdin.
struct ResponseReader {
  private let transport: CurlTransport?
  private let headers: [(name: String, value: String)]
  /// The hosts of the listings (the responses with lists of items).
  ///
  /// The headers are sent only to these hosts.
  private let trusted: Set<HostPort>

  /// Prepares to fetch from URLs.
  ///
  /// If there are no URLs, no transport is started.
  ///
  /// - Parameters:
  ///   - listings: The responses with lists of items. The headers are sent only to the hosts of their URLs.
  ///   - detail: The response about one item.
  ///   - headers: The request headers.
  ///   - connection: The connection options.
  /// - Throws: An error when the transport cannot start.
  init(
    _ listings: [NamedResponse],
    detail: NamedResponse?,
    headers: [(name: String, value: String)],
    _ connection: ConnectionOptions
  ) throws {
    self.headers = headers
    trusted = Set(listings.compactMap(\.url?.hostPort))
    let named = trusted.union([detail?.url?.hostPort].compactMap(\.self))
    transport = named.isEmpty ? nil : try CurlTransport(connection.transport(named: named))
  }

  /// Reads a response.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - body: The body of a POST. Pass nil to send a GET.
  /// - Returns: The response. If it was compressed, it is unpacked.
  /// - Throws: ``CommandFailure`` or ``LarderError`` when the response cannot be fetched.
  func page(_ response: NamedResponse, body: String?) throws -> ProposedPage {
    guard let url = response.url, let probe = probe(url) else {
      return ProposedPage(body: try read(response.path), source: response.source)
    }
    do throws(LarderError) {
      let page = try probe.page(at: url, posting: body)
      let hasNextLink = page.nextLink != nil
      return ProposedPage(body: page.body, source: response.source, hasNextLink: hasNextLink)
    } catch {
      guard headers.isEmpty, error.status == 401 else { throw error }
      throw CommandFailure("\(error); send one with --header 'NAME: ${TOKEN}'", .unavailable)
    }
  }

  /// Fetches a further page of a listing; nil if that fails, or if the page is on another host.
  func next(_ text: String, body: String?, of response: NamedResponse) -> [UInt8]? {
    let text = response.source.withSecrets(text)
    guard let url = response.url, let next = try? CurlURLParser().parse(text, relativeTo: url),
      next.hostPort == url.hostPort
    else { return nil }
    return try? probe(url)?.page(at: next, posting: body).body
  }

  private func probe(_ url: WebURL) -> CatalogProbe? {
    transport.map {
      let headers = trusted.contains(url.hostPort) ? headers : []
      return CatalogProbe(naming: url, headers: headers, transport: $0)
    }
  }

  private func read(_ path: String) throws -> [UInt8] {
    let limit = Int(CatalogProbe.limit.count)
    let name = path == "-" ? "stdin" : path
    func failure(_ reason: String) -> CommandFailure {
      CommandFailure("cannot read response \(name): \(reason)", .data)
    }
    let bytes = try FileReading.bytes(path, what: "response", limit: limit, takesInput: true)
    guard !bytes.isEmpty else { throw failure("it is empty") }
    do throws(TransferFailure) {
      return try PackedBody.plain(DocumentBody(bytes), of: name, limit: CatalogProbe.limit)
        .inMemory
    } catch {
      throw failure(error.detail)
    }
  }
}

/// A proposed catalog file and its first items, as JSON or text.
struct ProposalDocument: Encodable {
  private struct Item: Encodable {
    private enum CodingKeys: String, CodingKey {
      case id, title, normalPrice, salePrice, pictures, picture
    }

    var id: String
    var title: String
    @OrNull var normalPrice: String?
    @OrNull var salePrice: String?
    var pictures: Int
    @OrNull var picture: String?
    /// The price in the text, such as `6,500원 (was 7,000원)`; the same as in `larder list`.
    var priceText: String
  }

  /// A summary of the detail of one item, as the proposed file reads it.
  private struct Detail: Encodable {
    @OrNull var id: String?
    var description: Bool
    var prices: Int
    var pictures: Int
    var notes: [String]
  }

  @OrNull private var file: String?
  private let items: Int
  private let skipped: Int
  /// The number of items that have the id of an earlier item of their section.
  private let repeated: Int
  private let refused: Bool
  private let sections: [String]
  private let examples: [Item]
  @OrNull private var detail: Detail?
  private let unsure: [String]
  private let yaml: String

  init(_ proposed: ProposedFile, path: String?) {
    file = path
    let all = proposed.listings.flatMap(\.sections)
    let skips = proposed.listings.flatMap(\.skipped).filter { $0.lost == .item }
    items = all.map(\.items.count).reduce(0, +)
    skipped = Set(skips.map { "\($0.section) \($0.index)" }).count
    repeated = items - all.map { Set($0.items.map(\.id)).count }.reduce(0, +)
    refused = proposed.listings.contains { $0.sections.contains(where: $0.isRefused) }
    sections = all.map(\.key)
    examples = all.flatMap(\.items).prefix(3).map { item in
      Item(
        id: item.id,
        title: item.title,
        normalPrice: item.normalPrice?.formatted(),
        salePrice: item.salePrice?.formatted(),
        pictures: item.images.count,
        picture: item.images.first?.url,
        priceText: item.priceText ?? "no price"
      )
    }
    detail = proposed.readDetail.map { detail in
      Detail(
        id: detail.id,
        description: detail.description?.isEmpty == false,
        prices: detail.prices.count,
        pictures: detail.images.count,
        notes: detail.notes.keys.sorted()
      )
    }
    unsure = proposed.unsure
    yaml = proposed.text
  }

  /// The name of the written file, then the first items as that file reads them.
  var text: String {
    let count = sections.count == 1 ? "" : " in \(sections.count) sections"
    let advice = refused ? " (too many for a sync: correct the mapping)" : ""
    let lost = skipped == 0 ? "" : ", \(skipped) cannot be read\(advice)"
    let kept =
      repeated == 0
      ? "" : " (a sync keeps \(items - repeated): the others have the id of an earlier one)"
    let subject = file.map { "wrote \(PlainText.line($0)): it" } ?? "the file above"
    let all = Quantities.count(items, "item")
    var lines = ["\(subject) reads \(all)\(count)\(kept)\(lost), the first:"]
    for item in examples {
      lines.append("  \(short(item.id))  \(short(item.title))  \(item.priceText)")
      lines.append(
        "      \(Quantities.count(item.pictures, "picture"))"
          + (item.picture.map { ", \(short($0))" } ?? "")
      )
    }
    if let detail {
      let parts = [
        detail.description ? "a description" : nil,
        detail.pictures == 0 ? nil : Quantities.count(detail.pictures, "picture"),
        detail.prices == 0 ? nil : Quantities.count(detail.prices, "price"),
        detail.notes.isEmpty ? nil : "notes (\(short(detail.notes.joined(separator: ", "))))",
      ].compactMap(\.self)
      lines.append("  the detail of \(short(detail.id ?? "")): \(parts.joined(separator: ", "))")
    }
    if !unsure.isEmpty { lines.append("unsure: \(unsure.joined(separator: ", "))") }
    if let file {
      lines.append(
        "read its comments, then run: larder catalog check \(ShellWord.quoted(PlainText.line(file)))"
      )
    }
    return lines.joined(separator: "\n")
  }

  private func short(_ text: String) -> String {
    let line = PlainText.line(text)
    return line.count > 100 ? line.prefix(99) + "…" : line
  }
}
