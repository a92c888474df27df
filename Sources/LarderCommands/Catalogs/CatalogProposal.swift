import Catalog
import CurlTransport
import Foundation
import Pipeline
import SystemPackage
import Transport

/// A look at responses that ends in a catalog file.
struct CatalogProposal {
  private let sources: [String]
  private let detail: String?
  private let body: String?
  private let headers: [String]
  private let out: String?
  private let name: String?
  private let currency: String?
  private let connection: ConnectionOptions
  private let output: OutputOptions

  init(
    _ sources: [String],
    detail: String?,
    body: String?,
    headers: [String],
    out: String?,
    name: String?,
    currency: String?,
    connection: ConnectionOptions,
    output: OutputOptions
  ) {
    self.sources = sources
    self.detail = detail
    self.body = body
    self.headers = headers
    self.out = out
    self.name = name
    self.currency = currency
    self.connection = connection
    self.output = output
  }

  /// Fetches, judges, writes, and shows what the written file reads.
  func run() throws {
    let request = try body.map(requestBody)
    var origins = try sources.map(origin)
    if let name { origins[0].name = name }
    origins[0].body = request
    let path = out ?? "\(origins[0].name).yaml"
    if path != "-", TextFile.exists(path) { throw TextFile.refusal(path) }
    let templates = try headerTemplates()
    let reader = try ResponseReader(
      sources.filter(Self.isURL),
      detail: detail.flatMap { Self.isURL($0) ? $0 : nil },
      headers: try resolved(templates),
      connection
    )
    defer { reader.shutdown() }
    var pages: [ProposedPage] = []
    for (source, origin) in zip(sources, origins) {
      pages.append(try reader.page(source, origin, body: request))
    }
    let detailPage = try detail.map { try reader.page($0, origin($0), body: nil) }
    let file = try ProposedFile(
      of: pages,
      detail: detailPage,
      headers: templates,
      currency: currency,
      name: path
    ) {
      reader.next($1, body: $2, of: sources[$0], origins[$0])
    }
    if path != "-" { try TextFile.create(path, with: file.text) }
    let document = ProposalDocument(file, path: path == "-" ? nil : path)
    if output.json {
      Output.json(try document.json())
    } else if path == "-" {
      Output.data(file.text)
      if !output.quiet { Output.note(document.text) }
    } else if !output.quiet {
      Output.data(document.text)
    }
  }

  private func headerTemplates() throws -> [HeaderTemplate] {
    try headers.map { text in
      do throws(CatalogError) { return try HeaderTemplate(line: text) } catch {
        throw CommandFailure("--header: \(error.reason)", .usage)
      }
    }
  }

  private func resolved(_ templates: [HeaderTemplate]) throws -> [(name: String, value: String)] {
    try templates.map { template in
      do throws(CatalogError) {
        let value = try template.resolved(environment: ProcessInfo.processInfo.environment)
        return (template.name, value)
      } catch {
        throw CommandFailure(
          "--header: \(error.reason)\(error.remedy.map { "; \($0)" } ?? "")",
          .usage
        )
      }
    }
  }

  /// Whether a response is named by a URL.
  static func isURL(_ source: String) -> Bool {
    ["http://", "https://"].contains { source.lowercased().hasPrefix($0) }
  }

  private func origin(_ source: String) throws -> ProposedSource {
    if source == "-" { return .standardInput }
    if Self.isURL(source) { return ProposedSource(url: source) }
    guard !relative(source).contains(where: \.isWhitespace) else {
      throw CommandFailure(
        "cannot name \"\(source)\" in a catalog file: its path has white space; rename the file",
        .usage
      )
    }
    return ProposedSource(file: relative(source))
  }

  /// A file as the catalog file will name it, which may lie in another folder.
  private func relative(_ source: String) -> String {
    let folder = out.map { FilePath($0).removingLastComponent().string } ?? ""
    guard !folder.isEmpty, out != "-", !source.hasPrefix("/") else { return source }
    return FilePath(TextFile.workingFolder).appending(source).lexicallyNormalized().string
  }

  /// What is to be posted: the text, or that of a file after `@`.
  private func requestBody(_ text: String) throws -> String {
    var body = text
    if text.hasPrefix("@") {
      let path = String(text.dropFirst())
      let bytes = try FileReading.bytes(path, what: "request body", limit: 1 << 20)
      guard bytes.count <= 1 << 20, let text = String(validating: bytes, as: UTF8.self) else {
        throw CommandFailure(
          "cannot read request body \(path): expected JSON in UTF-8, up to 1 MiB",
          .data
        )
      }
      body = text
    }
    do throws(CatalogError) {
      return try ProposedSource.requestBody(body)
    } catch {
      throw CommandFailure("\(error)", .usage)
    }
  }
}
