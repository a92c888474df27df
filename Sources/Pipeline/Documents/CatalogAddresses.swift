import Base
import Catalog
import Transport

/// The addresses in a catalog file, resolved to URLs or to paths of local files.
///
/// They are the base, the addresses of sections, and the address of details. A section is a list of items.
package struct CatalogAddresses: Sendable {
  private let catalog: CatalogFile
  private let folder: String
  private let base: Base?
  private let values: [String: String]
  private let parser: any URLParsing
  /// The URL of details with the placeholders `{id}` and so on; nil if each URL has to be parsed on its own, because it
  /// is a file, or a placeholder can change the host.
  private var detailURL: (url: WebURL, template: URLTemplate)?

  /// The value of `base`.
  ///
  /// Relative addresses refer to it.
  private enum Base: Sendable {
    case file(String)
    case web(Result<WebURL, TransferFailure>)
  }

  /// Prepares to resolve addresses.
  ///
  /// - Parameters:
  ///   - catalog: The catalog file.
  ///   - folder: The folder of the file.
  ///   - base: The URL that replaces `base` of the file. Pass nil to use `base`.
  ///   - environment: The environment variables that replace `${NAME}` in the file's URLs.
  ///   - parser: The URL parser.
  /// - Throws: ``CatalogError`` if a variable is not set; it names the variable.
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
    let address = base.map { SecretURL(plain: $0) } ?? catalog.base.map { SecretURL($0, values) }
    let local = Self.local(base ?? catalog.base ?? "", base == nil ? values : [:])
    self.base = address.map { base in
      if let path = Self.filePath(local, in: folder) { return .file(path) }
      return .web(
        Result { () throws(TransferFailure) in try parser.parse(base.veiled, relativeTo: nil) }
      )
    }
    if let rule = catalog.detail, let url = template(of: rule) {
      detailURL = (url, URLTemplate(url.text))
    }
  }

  /// The URL of details with its placeholders, so that filling them in needs no parser.
  private func template(of rule: DetailRule) -> WebURL? {
    let places = Placeholder.all(in: rule.urlTemplate)
    guard case .web(let url) = try? target(Placeholder.closed(rule.urlTemplate, places)),
      url.userInfo?.contains("%7B") != true
    else { return nil }
    let text = Placeholder.reopened(url.text, places)
    let path = String(Substring(text.utf8.dropFirst(url.pathStart)))
    return Set(Placeholder.all(in: path)) == Set(places) ? url.with(text: text) : nil
  }

  /// The base, if it is a URL; nil if it is a folder, or the file has no base.
  var localBase: WebURL? {
    if case .web(let base) = base { try? base.get() } else { nil }
  }

  var variables: URLSecrets { URLSecrets(values: values) }

  /// The URLs or files of the sections, in the order of the catalog file.
  func sections() throws(TransferFailure) -> [DocumentSource] {
    var sources: [DocumentSource] = []
    for (position, text) in catalog.sources.enumerated() {
      // A local file has only one page, and its address has no placeholders.
      if case .file(let path) = try target(catalog.writtenSources[position]) {
        sources.append(.file(path))
      } else {
        sources.append(try firstPage(text, ofSource: position))
      }
    }
    return sources
  }

  /// The first page of a section.
  ///
  /// Its placeholders are filled, for example `{page}` with 1.
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

  /// Resolves an address in the catalog file.
  ///
  /// An address that begins with `file:` names a local file. Any other address is a URL. It can be relative to `base`.
  /// If the catalog file has no `base`, a relative address is the path of a file, relative to the folder of the catalog
  /// file.
  func target(_ text: String) throws(TransferFailure) -> DocumentSource {
    try target(SecretURL(text, values), local: Self.local(text, values))
  }

  private func target(
    _ text: SecretURL,
    local: String
  ) throws(TransferFailure) -> DocumentSource {
    if let path = Self.filePath(local, in: folder) { return .file(path) }
    switch base {
    case .file(let path): return .file(Self.join(path, local))
    case .web(let base): return .web(try parser.parse(text.veiled, relativeTo: try base.get()))
    case nil: break
    }
    if text.plain.contains("://") { return .web(try parser.parse(text.veiled, relativeTo: nil)) }
    return .file(Self.join(folder, local))
  }

  /// The hosts that the user named in the catalog file or on the command line.
  ///
  /// Only these hosts are allowed to have private addresses.
  package func namedHosts() throws(TransferFailure) -> Set<HostPort> { try named().hosts }

  /// Whether any section or detail is a local file.
  package func readsFiles() throws(TransferFailure) -> Bool {
    for source in try sections() { if case .file = source { return true } }
    guard let rule = catalog.detail, case .file = try detail(by: rule, filling: "1") else {
      return false
    }
    return true
  }

  /// The origins (scheme, host and port) that the user named.
  ///
  /// They are those of the base, the sections, the details, and the hosts with headers for pictures.
  ///
  /// Only the origins of the base and the sections get the `headers` of the catalog file.
  func named() throws(TransferFailure) -> NamedOrigins {
    var named = NamedOrigins()
    if let localBase { named.allowCredentials(localBase) }
    for source in try sections() {
      if let url = source.base { named.allowCredentials(url) }
    }
    if let detail = try detailPlace() { named.name(detail.hostPort) }
    for host in catalog.pictures.hosts.flatMap(\.places) { named.name(host) }
    return named
  }

  /// A URL on the host of the details; nil if the details are files, or if their host depends on an item's fields.
  ///
  /// If the host depends on an item's fields, it comes from fetched data, and the user has not named it.
  private func detailPlace() throws(TransferFailure) -> WebURL? {
    guard let rule = catalog.detail, case .web(let one) = try detail(by: rule, filling: "1"),
      case .web(let two) = try detail(by: rule, filling: "2"), one.origin == two.origin
    else { return nil }
    return one
  }

  /// The URL or file of an item's detail, which is the document about one item with more data than the item has in a
  /// section.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - fields: The item's values for the placeholders other than `{id}`; nil if the URL has no others.
  ///   - rule: The catalog file's rule for the URLs of details.
  /// - Returns: The source.
  /// - Throws: ``TransferFailure`` if the URL cannot be formed with the item's values.
  func detail(
    of id: String,
    _ fields: [String: String]?,
    by rule: DetailRule
  ) throws(TransferFailure) -> DocumentSource {
    let values = rule.values(of: id, fields)
    return try detail(by: rule, filling: values).asked(by: rule.request, filling: values)
  }

  /// The URL or file of a detail, with `value` in every placeholder.
  private func detail(
    by rule: DetailRule,
    filling value: String
  ) throws(TransferFailure) -> DocumentSource {
    let values = Dictionary(uniqueKeysWithValues: rule.places.map { ($0, value) })
    return try detail(by: rule, filling: values)
  }

  private func detail(
    by rule: DetailRule,
    filling values: [Placeholder: String]
  ) throws(TransferFailure) -> DocumentSource {
    let text = try rule.address(filling: values, in: detailURL?.template)
    // A parser refuses a very long text.
    if let detailURL, text.utf8.count < 4_096 { return .web(detailURL.url.with(text: text)) }
    // The file of a detail has the id in its name as a URL has it, so that an id cannot lead to another folder.
    let address = SecretURL(text, self.values)
    return try target(address, local: address.plain)
  }

  /// A URL without its secrets, for messages.
  ///
  /// The URL is one that the index stores.
  func redacted(_ text: String) -> String {
    (try? parser.parse(text, relativeTo: nil))?.redacted ?? text
  }

  private static func filePath(_ text: String, in folder: String) -> String? {
    guard text.prefix(5).lowercased() == "file:" else { return nil }
    var path = text.dropFirst(5)
    if path.hasPrefix("//localhost/") { path = path.dropFirst("//localhost".count) }
    if path.hasPrefix("///") { path = path.dropFirst(2) }
    return join(folder, String(path))
  }

  private static func join(_ folder: String, _ path: String) -> String {
    if path.hasPrefix("/") { return path }
    return folder.isEmpty ? path : folder.hasSuffix("/") ? folder + path : folder + "/" + path
  }

  /// An address of the catalog file as a local one: escapes such as `%20` stand for characters, and variables have their
  /// values.
  ///
  /// `%2F` stays as it is.
  private static func local(_ text: String, _ values: [String: String]) -> String {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { part in
      let text = PercentEncoding.text(String(part)) ?? String(part)
      return text.contains("/") || text.contains("\0") ? String(part) : text
    }
    return SecretURL(parts.joined(separator: "/"), values).plain
  }
}

extension PicturesRule.Host {
  /// The host with each port that the rule covers.
  ///
  /// If the rule names no port, these are the port 80 of http and the port 443 of https.
  var places: [HostPort] {
    (port.map { [$0] } ?? [80, 443]).map { HostPort(host: name, port: $0) }
  }
}

extension DetailRule {
  /// Fills the template for the URLs of details, such as `detail/{id}`, with an item's values.
  ///
  /// - Parameters:
  ///   - values: The item's values, by placeholder.
  ///   - resolved: The template as an absolute URL; nil to fill the template as it is written.
  /// - Returns: The text.
  /// - Throws: ``TransferFailure`` with the reason `url-invalid` if the item has no value for a placeholder, or if a
  ///   value would change the path of the URL, such as `../x`.
  func address(
    filling values: [Placeholder: String],
    in resolved: URLTemplate? = nil
  ) throws(TransferFailure) -> String {
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
    guard let text = url(filling: values, in: resolved) else {
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

/// A URL from the catalog file in two forms: with all its variables expanded, and with variables unexpanded where their
/// values can be secret.
struct SecretURL: Sendable {
  /// The text with all variables expanded, for use as a local path.
  let plain: String
  /// The text with `${NAME}` left unexpanded in path and query.
  ///
  /// Variables in the scheme, user information, host and port are expanded, because a request needs its host. For
  /// example, `https://${HOST}/feed?key=${KEY}` becomes `https://shop.example/feed?key=${KEY}`. A variable at the start
  /// of the text is expanded if its value is an absolute URL.
  let veiled: String

  /// Makes an address without variables.
  ///
  /// If the text contains `${`, it stays as it is.
  init(plain: String) {
    self.plain = plain
    veiled = plain
  }

  /// Expands the variables.
  ///
  /// A variable without a value stays as it is.
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

  /// Whether `text` ends within the authority of a URL, which is its user information, host and port. (RFC 3986,
  /// section 3.2)
  private static func endsInAuthority(_ text: String) -> Bool {
    guard let slashes = text.firstRange(of: "://") else { return false }
    return !text[slashes.upperBound...].contains { "/?#".contains($0) }
  }
}
