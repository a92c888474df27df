import Base
import Catalog
import Transport

/// Resolves the addresses in a catalog file to sources: URLs, queries or local files.
package struct CatalogAddresses: Sendable {
  private let catalog: CatalogFile
  private let folder: String
  private let base: Base?
  private let values: [String: String]
  private let parser: any URLParsing

  /// The base of the catalog file's addresses.
  private enum Base: Sendable {
    case file(String)
    case web(Result<WebURL, TransferFailure>)
  }

  /// Prepares the addresses of a catalog.
  ///
  /// - Parameters:
  ///   - catalog: The catalog file.
  ///   - folder: The folder of the file.
  ///   - base: A replacement for the file's `base`, if any.
  ///   - environment: The variables for `${NAME}` in the catalog's URLs.
  ///   - parser: The URL parser.
  /// - Throws: ``CatalogError`` that names a variable which is not set.
  package init(
    _ catalog: CatalogFile,
    folder: String,
    base: String?,
    environment: [String: String] = [:],
    _ parser: any URLParsing
  ) throws(CatalogError) {
    self.catalog = catalog
    self.folder = folder
    let values = try catalog.resolvedURLVariables(environment: environment)
    self.values = values
    self.parser = parser
    let base = base.map { SecretURL(plain: $0) } ?? catalog.base.map { SecretURL($0, values) }
    self.base = base.map { base in
      if let path = Self.filePath(base.plain, in: folder) { return .file(path) }
      return .web(
        Result { () throws(TransferFailure) in try parser.parse(base.veiled, relativeTo: nil) }
      )
    }
  }

  /// The base as a URL, when it is one.
  var localBase: WebURL? {
    if case .web(let base) = base { try? base.get() } else { nil }
  }

  /// The values of environment variables in the URLs.
  var variables: URLSecrets { URLSecrets(values: values) }

  /// The sources of the sections, in the catalog's order.
  func sections() throws(TransferFailure) -> [DocumentSource] {
    var sources: [DocumentSource] = []
    for (position, text) in catalog.sources.enumerated() {
      // A file is one page, and has no query.
      if case .file(let path) = try target(catalog.writtenSources[position]) {
        sources.append(.file(path))
      } else {
        sources.append(try firstPage(text, ofSource: position))
      }
    }
    return sources
  }

  /// The first page of a source, with the values for a first page in its placeholders.
  private func firstPage(
    _ text: String,
    ofSource position: Int
  ) throws(TransferFailure) -> DocumentSource {
    let request = catalog.request(ofSource: position)
    let paging = catalog.paging(ofSource: position)
    var values: [Placeholder: String] = [:]
    if let paging, let place = paging.place, paging.usesPlace(in: text, request) {
      values[place] = paging.firstValue
    }
    if let size = paging?.size { values[.size] = String(size.value) }
    let hasPlaces = values.keys.contains { text.contains($0.written) }
    guard request.method == .post || hasPlaces else { return try target(text) }
    guard case .web(let url) = try target(Placeholder.closed(text, values.keys))
    else {
      return try target(Placeholder.fill(url: text, with: values))
    }
    return .query(
      try DocumentQuery(template: url, request, filling: values, hiding: variables, parser)
    )
  }

  /// The source for an address in the catalog file.
  ///
  /// A `file:` address names a local file. Any other address is a URL, absolute or relative to `base`. If the catalog
  /// file has no base, a relative address is the path of a file, relative to the catalog file.
  func target(_ text: String) throws(TransferFailure) -> DocumentSource {
    let text = SecretURL(text, values)
    if let path = Self.filePath(text.plain, in: folder) { return .file(path) }
    switch base {
    case .file(let path): return .file(Self.join(path, text.plain))
    case .web(let base): return .web(try parser.parse(text.veiled, relativeTo: try base.get()))
    case nil: break
    }
    if text.plain.contains("://") { return .web(try parser.parse(text.veiled, relativeTo: nil)) }
    return .file(Self.join(folder, text.plain))
  }

  /// The hosts that the user named in the catalog file or on the command line; they may have private addresses.
  package func namedHosts() throws(TransferFailure) -> Set<HostPort> { try named().hosts }

  /// Whether any section or detail is a file on this machine.
  package func readsFiles() throws(TransferFailure) -> Bool {
    for source in try sections() { if case .file = source { return true } }
    guard let rule = catalog.detail, case .file = try detail(by: rule, filling: "1") else {
      return false
    }
    return true
  }

  /// The origins that the user named: the base, the sections, the details and the hosts with headers for pictures.
  ///
  /// The base and the sections get the catalog's headers.
  func named() throws(TransferFailure) -> NamedOrigins {
    var named = NamedOrigins()
    if let localBase { named.allowCredentials(localBase) }
    for source in try sections() {
      if let url = source.base { named.allowCredentials(url) }
    }
    if let detail = try detailPlace() { named.name(detail) }
    for host in catalog.pictures.hosts.flatMap(\.places) { named.name(host) }
    return named
  }

  /// A URL on the host of the details; nil when they are files, or when the host depends on an item's fields.
  ///
  /// A host that depends on an item's fields comes from fetched data, so the user has not named it.
  private func detailPlace() throws(TransferFailure) -> WebURL? {
    guard let rule = catalog.detail, case .web(let one) = try detail(by: rule, filling: "1"),
      case .web(let two) = try detail(by: rule, filling: "2"), one.origin == two.origin
    else { return nil }
    return one
  }

  /// The source of an item's detail.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - fields: The item's values for the other placeholders; nil if the URL needs only the id.
  ///   - rule: The catalog file's rule for the URLs of details.
  /// - Returns: The source.
  /// - Throws: ``TransferFailure`` when the item's values do not make a URL.
  func detail(
    of id: String,
    _ fields: [String: String]?,
    by rule: DetailRule
  ) throws(TransferFailure) -> DocumentSource {
    let values = rule.values(of: id, fields)
    return try target(try rule.address(filling: values)).asked(by: rule.request, filling: values)
  }

  /// The source of a detail, with `value` in every placeholder.
  private func detail(
    by rule: DetailRule,
    filling value: String
  ) throws(TransferFailure) -> DocumentSource {
    let values = Dictionary(uniqueKeysWithValues: rule.places.map { ($0, value) })
    return try target(try rule.address(filling: values))
  }

  /// A URL from the index, without secrets.
  func redacted(_ text: String) -> String {
    (try? parser.parse(text, relativeTo: nil))?.redacted ?? text
  }

  private static func filePath(_ text: String, in folder: String) -> String? {
    guard text.hasPrefix("file:") else { return nil }
    var path = text.dropFirst("file:".count)
    if path.hasPrefix("//localhost/") { path = path.dropFirst("//localhost".count) }
    if path.hasPrefix("///") { path = path.dropFirst(2) }
    return path.hasPrefix("/") ? String(path) : join(folder, String(path))
  }

  private static func join(_ folder: String, _ path: String) -> String {
    if path.hasPrefix("/") { return path }
    return folder.isEmpty ? path : folder.hasSuffix("/") ? folder + path : folder + "/" + path
  }
}

extension PicturesRule.Host {
  /// The host with its port.
  ///
  /// If the rule names no port, these are the host with the port of http and the host with the port of https.
  var places: [HostPort] {
    (port.map { [$0] } ?? [80, 443]).map { HostPort(host: name, port: $0) }
  }
}

extension DetailRule {
  /// The URL of an item's detail: the template from the catalog file, filled with the item's values.
  ///
  /// - Parameter values: The item's values, by placeholder.
  /// - Returns: The text.
  /// - Throws: ``TransferFailure`` with the reason `url-invalid` when the item has no value for a placeholder, or a
  ///   value that would become a folder of the URL.
  func address(filling values: [Placeholder: String]) throws(TransferFailure) -> String {
    func fault(_ detail: String) -> TransferFailure {
      TransferFailure(reason: .urlInvalid, url: urlTemplate, detail: detail)
    }
    let open = places.lazy.filter { values[$0]?.isEmpty ?? true }.map(\.rawValue)
    if let name = open.min() {
      throw fault(
        "the item has no text or number for {\(name)}; "
          + "add its path to detail.values in the catalog file"
      )
    }
    guard let text = url(filling: values) else {
      let texts = values.sorted { $0.key.rawValue < $1.key.rawValue }.map {
        "the \($0.key.rawValue) is \"\($0.value)\""
      }
      throw fault(
        "\(texts.joined(separator: ", ")), which would change the path of the URL"
      )
    }
    return text
  }
}

/// A URL from the catalog file in two forms: with the values of its variables, and with possibly secret values hidden.
struct SecretURL: Sendable {
  /// The text with all variables expanded, as a local path needs it.
  let plain: String
  /// The text with `${NAME}` left unexpanded in path and query.
  ///
  /// Variables in scheme, user information, host and port are expanded, because a request needs its host. A variable at
  /// the start of the text is expanded if its value is an absolute URL.
  let veiled: String

  /// An address without variables; `${` in it is not expanded.
  init(plain: String) {
    self.plain = plain
    veiled = plain
  }

  /// Expands the variables; a variable without a value is left as it is.
  init(_ text: String, _ values: [String: String]) {
    guard text.utf8.contains(UInt8(ascii: "$")) else {
      (self.plain, self.veiled) = (text, text)
      return
    }
    var plain = ""
    var veiled = ""
    var rest = Substring(text)
    while let start = rest.firstRange(of: "${"),
      let end = rest[start.upperBound...].firstIndex(of: "}")
    {
      let name = String(rest[start.upperBound..<end])
      plain += rest[..<start.lowerBound]
      veiled += rest[..<start.lowerBound]
      rest = rest[rest.index(after: end)...]
      guard let value = values[name] else {
        plain += "${\(name)}"
        veiled += "${\(name)}"
        continue
      }
      plain += value
      if veiled.isEmpty {
        veiled = value.contains("://") ? value : "${\(name)}"
      } else if Self.endsInAuthority(veiled) {
        let isUserInfo = rest.prefix { !"/?#".contains($0) }.contains("@")
        veiled += isUserInfo ? PercentEncoding.escaped(value) : value
      } else {
        veiled += "${\(name)}"
      }
    }
    self.plain = plain + rest
    self.veiled = veiled + rest
  }

  /// Whether text appended to `text` would still belong to the authority. (RFC 3986, section 3.2)
  private static func endsInAuthority(_ text: String) -> Bool {
    guard let slashes = text.firstRange(of: "://") else { return false }
    return !text[slashes.upperBound...].contains { "/?#".contains($0) }
  }
}
