import Base

/// The source of a response, as a section of the proposed catalog file describes it.
///
/// For example, the URL `https://api.cups.example/v1/mugs?limit=5` gives the catalog the name `cups` and the base
/// `https://api.cups.example/v1/`, and the section the URL `mugs?limit=5` and the key `mugs`.
package struct ProposedSource: Sendable {
  /// The name of the catalog.
  package var name: String
  /// The base of relative URLs in the catalog file; nil if the source is a local file.
  package var base: String?
  /// The section's URL, relative to `base`.
  package var url: String
  /// The section's key.
  package var key: String
  /// The body of the request, with placeholders such as `{cursor}`; nil if the request is a plain GET.
  package var body: String?
  /// The mapped fields that no item of this listing has, although items of another listing have them.
  var absent: [ItemField] = []
  /// Whether the response's URL is unknown, because the response was read from stdin.
  private(set) var isUnknown = false
  /// The secrets of the URL, and the names of the environment variables that replace them.
  private var secrets: [(variable: String, value: String)] = []
  /// The names of the environment variables that replace secrets in the URL.
  var variables: [String] { secrets.map(\.variable) }

  /// Makes the source of a response at a URL.
  ///
  /// Values of the query that look like secrets are replaced by environment variables such as `${API_KEY}`.
  package init(url: String) {
    let text = String(url.prefix { $0 != "#" })
    let address = text.prefix { $0 != "?" }
    let host = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address
    let authority = host.prefix { $0 != "/" }
    let path = host.dropFirst(authority.count)
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    let scheme = address.dropLast(host.count)
    base = "\(scheme)\(authority)\(folder)"
    let file = path.dropFirst(folder.count)
    let query = text.dropFirst(address.count)
    let redacted = Self.redacted(String(query))
    // Without "./" before it, "A1:D" would be read as a URL with the scheme "A1". (RFC 3986, section 4.2)
    let mark = file.prefix { $0 != "/" }.contains(":") ? "./" : ""
    self.url = file.isEmpty && query.isEmpty ? "./" : mark + file + redacted.query
    secrets = redacted.secrets
    name = Self.fileName(Self.shop(of: String(authority)), else: "shop")
    // Segments such as "1", "p" and "page-2" do not name a section.
    let names = path.split(separator: "/").map { $0.prefix { $0 != "." } }
    let telling = names.last { name in
      let word = name.prefix { !$0.isWholeNumber && !"-_".contains($0) }.lowercased()
      return !["", "p", "page"].contains(word)
    }
    key = Self.fileName(String(telling ?? ""), else: "main")
  }

  /// Whether a text can be the name of a catalog.
  package static func isName(_ text: String) -> Bool { isFileName(text) }

  /// Prepares the body of a request for a catalog file.
  ///
  /// - Parameter text: JSON.
  /// - Returns: The same JSON, but with `{cursor}` written as `{ cursor }`, so that it is not taken for a placeholder.
  /// - Throws: ``CatalogError`` when the text is not JSON.
  package static func requestBody(_ text: String) throws(CatalogError) -> String {
    _ = try JSONDocument(parsing: Array(text.utf8), of: "request body")
    return Placeholder.ofSections.reduce(text.trimmed) {
      $0.replacing($1.written, with: "{ \($1.rawValue) }")
    }
  }

  /// The source of a response on stdin.
  ///
  /// The catalog file gets an example URL, which the user has to replace.
  package static var standardInput: Self {
    var source = Self(url: "https://shop.example/main")
    source.name = "shop"
    source.isUnknown = true
    return source
  }

  /// Makes the source of a response in a local file.
  ///
  /// - Parameter path: The path of the file, absolute or relative to the folder of the catalog file.
  package init(file path: String) {
    let last = path.split(separator: "/").last ?? ""
    let stem = Self.fileName(String(last.prefix { $0 != "." }), else: "shop")
    name = stem
    key = stem
    base = nil
    // Letters outside ASCII stay readable.
    let address = path.unicodeScalars.map { scalar in
      scalar.properties.isWhitespace || scalar == "%"
        || scalar.properties.generalCategory == .control
        ? PercentEncoding.escaped(String(scalar)) : String(scalar)
    }.joined()
    url = path.hasPrefix("/") ? "file://\(address)" : address
  }

  /// Makes the URLs of several sources relative to one base, and gives each source a key of its own.
  ///
  /// If the first source is a local file, the catalog has no base.
  static func joined(_ sources: [ProposedSource]) -> [ProposedSource] {
    guard sources.count > 1, let first = sources.first else { return sources }
    var joined = sources
    let base = first.base.map { common($0, sources) }
    for place in joined.indices {
      joined[place].url = joined[place].url(relativeTo: base)
      joined[place].base = base
    }
    for (place, key) in keys(of: joined).enumerated() { joined[place].key = key }
    return joined
  }

  /// The URL as a catalog file with the given base writes it.
  ///
  /// - Parameter base: The catalog's base, or nil if it has none.
  /// - Returns: The URL relative to the base if it begins with the base, otherwise the whole URL. The path of a local
  ///   file begins with `file:` if the catalog has a base.
  func url(relativeTo base: String?) -> String {
    guard let own = self.base else {
      return base == nil || url.hasPrefix("file:") ? url : "file:\(url)"
    }
    let whole = own + (url == "./" ? "" : url)
    guard let base, whole.hasPrefix(base) else { return whole }
    return whole == base ? "./" : String(whole.dropFirst(base.count))
  }

  /// The longest folder path that all sources on the host of the first source share.
  private static func common(_ base: String, _ sources: [ProposedSource]) -> String {
    func parts(_ base: String) -> [Substring] {
      base.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    }
    var shared = parts(base)
    for other in sources.compactMap(\.base).map(parts) where other.prefix(3) == shared.prefix(3) {
      shared = zip(shared, other).prefix { $0 == $1 }.map(\.0)
    }
    return shared.joined(separator: "/") + "/"
  }

  /// The keys of the sources, made different from each other.
  ///
  /// If two sources would have the same key, the keys are made of the last part that differs between all URLs. If there
  /// is no such part, a number is added: `main`, `main-2`.
  private static func keys(of sources: [ProposedSource]) -> [String] {
    let own = sources.map(\.key)
    if Set(own).count == own.count { return own }
    let all = sources.map { source -> [String] in
      let path = source.url.trimmingPrefix("file:").prefix { $0 != "?" }.split(separator: "/")
      let names = path.map { String($0.prefix { $0 != "." }) }
      return (names + query(of: source.url).map(\.value)).reversed()
    }
    for place in 0..<(all.map(\.count).min() ?? 0) {
      let words = all.map { fileName($0[place], else: "") }
      if !words.contains(""), Set(words).count == words.count { return words }
    }
    return own.enumerated().map { place, key in
      let number = own[...place].count { $0 == key }
      return number == 1 ? key : "\(key)-\(number)"
    }
  }

  /// The address of the response for messages, with variables instead of secrets.
  package var label: String { isUnknown ? "the response on stdin" : (base ?? "") + url }

  /// The part of a host that names the shop: "prints" for `api.prints.example`.
  private static func shop(of authority: String) -> String {
    let host = authority.split(separator: "@").last ?? ""
    let name = host.hasPrefix("[") ? "" : host.prefix { $0 != ":" }
    if name.allSatisfy({ $0.isNumber || $0 == "." }) { return "" }
    let labels = name.split(separator: ".")
    let telling = labels.dropLast().filter { !["www", "api", "store", "shop", "m"].contains($0) }
    return String(telling.last ?? labels.first ?? "")
  }

  private static func fileName(_ text: String, else other: String) -> String {
    let name = text.filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    return name.isEmpty || !isFileName(name) ? other : name
  }

  /// The names and values in the query of a URL.
  static func query(of url: String) -> [(name: String, value: String)] {
    let query = url.drop { $0 != "?" }.dropFirst()
    return query.split(separator: "&").map { part in
      let name = part.prefix { $0 != "=" }
      return (String(name), String(part.dropFirst(name.count + 1)))
    }
  }

  /// A URL of the catalog file with the secrets instead of the variables.
  ///
  /// Never show this URL.
  package func withSecrets(_ url: String) -> String {
    secrets.reduce(url) { $0.replacing("${\($1.variable)}", with: $1.value) }
  }

  /// Replaces the values of a query that look like secrets by variables, such as `${API_KEY}`.
  private static func redacted(
    _ query: String
  ) -> (query: String, secrets: [(variable: String, value: String)]) {
    guard query.count > 1 else { return (query, []) }
    var secrets: [(variable: String, value: String)] = []
    let parts = Self.query(of: query).map { name, value in
      let words = NameWords.words(of: name)
      let isSecret = words.contains { FieldRules.isNamed("secret", $0) }
      guard isSecret, !value.isEmpty else { return value.isEmpty ? name : "\(name)=\(value)" }
      let joined = words.joined(separator: "_").uppercased()
      let isName = joined.utf8.allSatisfy { $0 == 0x5F || $0 >= 0x41 && $0 <= 0x5A }
      secrets.append((isName ? joined : "SECRET", value))
      return "\(name)=${\(secrets.last?.variable ?? "")}"
    }
    return ("?" + parts.joined(separator: "&"), secrets)
  }
}
