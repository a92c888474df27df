import Base

/// How the pictures of a shop are requested and identified: `pictures:` in a catalog file.
///
/// For example, `{identity: {without: [v]}}` says that `a.jpg?v=1` and `a.jpg?v=2` are the same picture.
public struct PicturesRule: Hashable, Sendable {
  /// The headers for the pictures of one host.
  public struct Host: Hashable, Sendable {
    /// The host in lower case.
    public var name: String
    /// The port.
    ///
    /// It is nil if the default ports of http and https are meant.
    public var port: Int?
    /// The headers, before environment variables are expanded.
    public var headers: [HeaderTemplate]
  }

  /// The part of a URL that identifies a picture.
  public var identity = PictureIdentity.url
  /// The headers of each host.
  ///
  /// They are sent to no other host, and not after a redirect.
  public var hosts: [Host] = []
}

/// The part of a URL that identifies a picture.
///
/// Two URLs with the same identity lead to the same picture.
public enum PictureIdentity: Hashable, Sendable {
  /// The whole URL.
  case url
  /// Only host and path of the URL.
  case path
  /// The URL without the query parameters of these names. In a name, `*` stands for any characters.
  case without([String])

  /// The identity of the picture at a URL.
  ///
  /// For example, it is `cdn.example/a.jpg` for ``path`` and the URL `https://cdn.example/a.jpg?w=300`.
  ///
  /// - Parameter url: The URL without a fragment.
  /// - Returns: The identity. It is the URL itself if nothing is left out.
  package func text(of url: String) -> String {
    switch self {
    case .url: return url
    case .path:
      let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
      return String(url[start...].prefix { $0 != "?" })
    case .without(let names):
      guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
      let query = url[url.utf8.index(after: mark)...]
      let parts = query.split(separator: "&", omittingEmptySubsequences: false)
      let kept = parts.filter { part in
        let name = PercentEncoding.decoded(
          part.utf8.prefix { $0 != UInt8(ascii: "=") },
          plusIsSpace: true
        )
        return !names.contains { Self.matches($0, name) }
      }
      guard kept.count < parts.count else { return url }
      return url[..<mark] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }
  }

  /// Whether a name matches a pattern, in which `*` stands for any bytes.
  ///
  /// Upper case and lower case differ.
  private static func matches(_ pattern: String, _ name: [UInt8]) -> Bool {
    let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
      .map(Array.init)
    guard parts.count > 1, let first = parts.first, let last = parts.last else {
      return name == Array(pattern.utf8)
    }
    guard name.starts(with: first) else { return false }
    var rest = name.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
  }
}

/// Reads `pictures:` of a catalog file.
struct PicturesParser {
  static func parse(_ node: YAMLNode) throws(CatalogError) -> PicturesRule {
    let mapping = try node.mapping(.pictures)
    var hosts: [PicturesRule.Host] = []
    for member in try mapping["headers"]?.mapping().members ?? [] {
      var host = try host(member.name, member.key)
      guard !hosts.contains(where: { $0.name == host.name && $0.port == host.port }) else {
        throw member.key.error("host \(member.name) more than once")
      }
      host.headers = try CatalogFileParser.headers(member.value)
      hosts.append(host)
    }
    return PicturesRule(
      identity: try mapping["identity"].map(identity) ?? .url,
      hosts: hosts
    )
  }

  /// Reads `path`, or `{without: [NAME, …]}`.
  private static func identity(_ node: YAMLNode) throws(CatalogError) -> PictureIdentity {
    guard node.isMapping else {
      guard try node.text() == "path" else {
        throw node.error("\"\(try node.text().prefix(80))\" is not an identity of pictures")
      }
      return .path
    }
    let list = try node.mapping(.identity).required("without").list()
    let names = try list.map { name throws(CatalogError) in try name.filledText() }
    guard !names.isEmpty else {
      throw node.error("without names no query parameter")
    }
    return .without(names)
  }

  /// Reads a host such as `cdn.example`, `cdn.example:8080` or `[::1]`.
  private static func host(
    _ text: String,
    _ key: YAMLNode
  ) throws(CatalogError) -> PicturesRule.Host {
    var name = text.lowercased()[...]
    var port: Int?
    if let colon = name.lastIndex(of: ":"), name.hasSuffix("]") == false {
      port = Int(name[name.index(after: colon)...])
      name = name[..<colon]
      guard let port, (1...65535).contains(port) else { throw fault(text, key) }
    }
    let isLiteral = name.hasPrefix("[") && name.hasSuffix("]")
    if isLiteral { name = name.dropFirst().dropLast() }
    let marks = isLiteral ? ".:" : "."
    let isHost = name.utf8.allSatisfy { $0.isNameCharacter || marks.utf8.contains($0) }
    guard !name.isEmpty, isHost else { throw fault(text, key) }
    return PicturesRule.Host(name: String(name), port: port, headers: [])
  }

  private static func fault(_ text: String, _ key: YAMLNode) -> CatalogError {
    key.error(
      "\"\(text.prefix(80))\" is not a host",
      remedy: "write cdn.example, or cdn.example:8080 for another port"
    )
  }
}
