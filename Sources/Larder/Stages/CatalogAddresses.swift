import Catalog
import Transport

/// Turns the addresses that a catalog file writes into sources to fetch from.
public struct CatalogAddresses: Sendable {
  private let catalog: CatalogFile
  private let folder: String
  private let base: String?
  private let parser: any URLParsing

  /// Addresses of a catalog.
  ///
  /// - Parameters:
  ///   - catalog: the catalog file.
  ///   - folder: the folder it lies in.
  ///   - base: what replaces its `base`, if anything.
  ///   - parser: how URLs are read.
  public init(
    _ catalog: CatalogFile,
    folder: String,
    base: String?,
    _ parser: any URLParsing
  ) {
    self.catalog = catalog
    self.folder = folder
    self.base = base ?? catalog.base
    self.parser = parser
  }

  /// The base as a URL, when it is one.
  var localBase: WebURL? {
    base.flatMap { filePath($0) == nil ? try? parser.parse($0, relativeTo: nil) : nil }
  }

  /// The sources of the sections, in the catalog's order.
  func sections() throws(TransferFailure) -> [DocumentSource] {
    var sources: [DocumentSource] = []
    for text in catalog.sources { sources.append(try target(text)) }
    return sources
  }

  /// The source that a text in the catalog file means: `file:` names a file; else a URL, relative
  /// to `base`; without a base, what is no URL is a file relative to the catalog file.
  func target(_ text: String) throws(TransferFailure) -> DocumentSource {
    if let path = filePath(text) { return .file(path) }
    if let base {
      if let path = filePath(base) { return .file(join(path, text)) }
      return .web(try parser.parse(text, relativeTo: try parser.parse(base, relativeTo: nil)))
    }
    if text.contains("://") { return .web(try parser.parse(text, relativeTo: nil)) }
    return .file(join(folder, text))
  }

  /// The hosts that the user named by the catalog file or the command line: they may have private
  /// addresses, and the catalog's headers go to them.
  public func namedHosts() throws(TransferFailure) -> Set<HostPort> {
    var hosts: Set<HostPort> = []
    if let localBase { hosts.insert(localBase.hostPort) }
    for case .web(let url) in try sections() { hosts.insert(url.hostPort) }
    if let rule = catalog.detail, case .web(let url) = try target(rule.url(for: "id")) {
      hosts.insert(url.hostPort)
    }
    return hosts
  }

  /// A URL that the index holds, without secrets.
  func redacted(_ text: String) -> String {
    (try? parser.parse(text, relativeTo: nil))?.redacted ?? text
  }

  private func filePath(_ text: String) -> String? {
    guard text.hasPrefix("file:") else { return nil }
    var path = text.dropFirst("file:".count)
    if path.hasPrefix("//localhost/") { path = path.dropFirst("//localhost".count) }
    if path.hasPrefix("///") { path = path.dropFirst(2) }
    return path.hasPrefix("/") ? String(path) : join(folder, String(path))
  }

  private func join(_ folder: String, _ path: String) -> String {
    if path.hasPrefix("/") { return path }
    return folder.isEmpty ? path : folder.hasSuffix("/") ? folder + path : folder + "/" + path
  }
}
