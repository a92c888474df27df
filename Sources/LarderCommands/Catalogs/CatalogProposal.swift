import Catalog
import CurlTransport
import Pipeline
import SystemPackage
import Transport

/// A look at a response that ends in a catalog file.
struct CatalogProposal {
  private let source: String
  private let out: String?
  private let name: String?
  private let currency: String?
  private let connection: ConnectionOptions
  private let output: OutputOptions

  init(
    _ source: String,
    out: String?,
    name: String?,
    currency: String?,
    connection: ConnectionOptions,
    output: OutputOptions
  ) {
    self.source = source
    self.out = out
    self.name = name
    self.currency = currency
    self.connection = connection
    self.output = output
  }

  /// Fetches, judges, writes, and shows what the written file reads.
  func run() throws {
    var origin = isURL ? ProposedSource(url: source) : ProposedSource(file: relativeSource)
    if let name { origin.name = name }
    let path = out ?? "\(origin.name).yaml"
    if path != "-", TextFile.exists(path) { throw TextFile.refusal(path) }
    let page = try isURL ? fetch() : read()
    let text: String
    do throws(CatalogError) {
      text = try ProposedFile.text(
        for: page.body,
        from: origin,
        currency: currency,
        hasNextLink: page.hasNext
      )
    } catch {
      var error = error
      error.subject = origin.label
      throw error
    }
    let listing = try self.listing(page.body, text, path)
    if path != "-" { try TextFile.create(path, with: text) }
    let document = ProposalDocument(listing, path: path == "-" ? nil : path, yaml: text)
    if output.json {
      Output.json(try document.json())
    } else if path == "-" {
      Output.data(text)
      if !output.quiet { Output.note(document.text) }
    } else if !output.quiet {
      Output.data(document.text)
    }
  }

  private var isURL: Bool {
    ["http://", "https://"].contains { source.lowercased().hasPrefix($0) }
  }

  /// The file as the catalog file will name it, which may lie in another folder.
  private var relativeSource: String {
    let folder = out.map { FilePath($0).removingLastComponent().string } ?? ""
    guard !folder.isEmpty, out != "-", !source.hasPrefix("/") else { return source }
    return FilePath(TextFile.workingFolder).appending(source).lexicallyNormalized().string
  }

  private func fetch() throws -> (body: [UInt8], hasNext: Bool) {
    let url: WebURL
    do {
      url = try CurlURLParser().parse(source, relativeTo: nil)
    } catch {
      throw CommandFailure("\(error); check the URL", .usage)
    }
    guard url.userInfo == nil else {
      throw CommandFailure(
        "cannot propose a catalog file for a URL with a password: it would stand in the file; fetch the "
          + "response by other means and name its file",
        .usage
      )
    }
    let transport = try CurlTransport(try connection.transport(named: [url.hostPort]))
    defer { transport.shutdown() }
    let page = try CatalogProbe(naming: url, transport: transport).page(at: url)
    return (page.body, page.nextLink != nil)
  }

  private func read() throws -> (body: [UInt8], hasNext: Bool) {
    guard !relativeSource.contains(where: \.isWhitespace) else {
      throw CommandFailure(
        "cannot name \"\(source)\" in a catalog file: its path has white space; rename the file",
        .usage
      )
    }
    let limit = Int(CatalogProbe.limit.count)
    let bytes = try FileReading.bytes(source, what: "response", limit: limit)
    guard bytes.count <= limit else {
      throw CommandFailure("cannot read response \(source): more than \(limit) bytes", .data)
    }
    do throws(PackedBody.Fault) {
      return (try PackedBody.plain(bytes, name: source, limit: CatalogProbe.limit), false)
    } catch {
      throw CommandFailure("cannot read response \(source): \(error)", .data)
    }
  }

  /// What the proposed file reads: the proof that it can be read at all.
  private func listing(
    _ body: [UInt8],
    _ text: String,
    _ path: String
  ) throws(CatalogError) -> DecodedListing {
    let file = try CatalogFile(parsing: Array(text.utf8), file: path)
    return try file.firstPage(body, ofSource: 0)
  }
}

extension CatalogFile {
  /// What the first page of the source at a position lists.
  func firstPage(_ body: [UInt8], ofSource position: Int) throws(CatalogError) -> DecodedListing {
    try decodeSource(body, at: position, using: self)
  }
}
