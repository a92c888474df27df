import Catalog
import CurlTransport
import Pipeline
import Transport

/// Reads responses by their URLs, from files or from stdin.
struct ResponseReader {
  private let transport: CurlTransport?
  private let urls: [String: WebURL]
  private let headers: [(name: String, value: String)]
  /// The hosts that get the headers: those of the listings.
  private let trusted: Set<HostPort>

  /// Prepares to fetch from URLs; without any, nothing is opened.
  ///
  /// - Parameters:
  ///   - listings: The URLs of listings, whose hosts get the headers.
  ///   - detail: The URL of a detail.
  ///   - headers: What is sent along.
  ///   - connection: How origins are met.
  /// - Throws: ``CommandFailure`` for one that is none, or that has a password.
  init(
    _ listings: [String],
    detail: String?,
    headers: [(name: String, value: String)],
    _ connection: ConnectionOptions
  ) throws {
    var urls: [String: WebURL] = [:]
    for text in listings + [detail].compactMap(\.self) {
      let url: WebURL
      do {
        url = try CurlURLParser().parse(text, relativeTo: nil)
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
      urls[text] = url
    }
    self.urls = urls
    self.headers = headers
    trusted = Set(listings.compactMap { urls[$0]?.hostPort })
    transport =
      urls.isEmpty
      ? nil : try CurlTransport(try connection.transport(named: Set(urls.values.map(\.hostPort))))
  }

  /// Ends all transfers.
  func shutdown() {
    transport?.shutdown()
  }

  /// A response.
  ///
  /// - Parameters:
  ///   - source: The URL or file, `-` for stdin.
  ///   - origin: The same, as the catalog file names it.
  ///   - body: What is sent to ask for it; nil for a plain GET.
  /// - Returns: The response, unpacked.
  /// - Throws: ``CommandFailure`` or ``ProbeFailure`` when it cannot be had.
  func page(_ source: String, _ origin: ProposedSource, body: String?) throws -> ProposedPage {
    guard let url = urls[source], let transport else {
      return ProposedPage(body: try read(source), source: origin)
    }
    let page: ProbedPage
    do throws(ProbeFailure) {
      page = try probe(url, transport).page(at: url, posting: body)
    } catch {
      guard headers.isEmpty, error.cause.reason.rawValue == "http-401" else { throw error }
      throw CommandFailure("\(error); send one with --header 'NAME: ${TOKEN}'", .unavailable)
    }
    return ProposedPage(body: page.body, source: origin, hasNextLink: page.nextLink != nil)
  }

  /// A further page of a response; nil when it cannot be had, or is on another host.
  func next(
    _ text: String,
    body: String?,
    of source: String,
    _ origin: ProposedSource
  ) -> [UInt8]? {
    guard let url = urls[source], let transport,
      let next = try? CurlURLParser().parse(origin.unveiled(text), relativeTo: url),
      next.hostPort == url.hostPort
    else { return nil }
    return try? probe(url, transport).page(at: next, posting: body).body
  }

  private func probe(_ url: WebURL, _ transport: CurlTransport) -> CatalogProbe {
    CatalogProbe(
      naming: url,
      headers: trusted.contains(url.hostPort) ? headers : [],
      transport: transport
    )
  }

  private func read(_ source: String) throws -> [UInt8] {
    let limit = Int(CatalogProbe.limit.count)
    let name = source == "-" ? "stdin" : source
    let bytes =
      source == "-"
      ? try FileReading.standardInput(limit: limit)
      : try FileReading.bytes(source, what: "response", limit: limit)
    guard bytes.count <= limit else {
      throw CommandFailure("cannot read response \(name): more than \(limit) bytes", .data)
    }
    guard !bytes.isEmpty else {
      throw CommandFailure("cannot read response \(name): it is empty", .data)
    }
    do throws(PackedBody.Fault) {
      let plain = try PackedBody.plain(bytes, name: name, limit: CatalogProbe.limit)
      return source == "-" && JSONLines.seem(plain) ? JSONLines.array(of: plain) : plain
    } catch {
      throw CommandFailure("cannot read response \(name): \(error)", .data)
    }
  }
}
