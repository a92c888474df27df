/// How a catalog's pictures are asked for and told apart: `pictures:` in a catalog file.
public struct PicturesRule: Hashable, Sendable {
  /// Headers for the pictures of one host.
  public struct Host: Hashable, Sendable {
    /// The host in lower case.
    public var name: String
    /// The port; nil for those of http and https.
    public var port: Int?
    /// The headers, unresolved.
    public var headers: [HeaderTemplate]

    /// Makes headers for a host.
    public init(name: String, port: Int? = nil, headers: [HeaderTemplate]) {
      (self.name, self.port, self.headers) = (name, port, headers)
    }
  }

  /// Headers by host; they go to no other host, and not with a redirect.
  public var hosts: [Host]

  /// A rule for pictures; a plain one without arguments.
  public init(hosts: [Host] = []) {
    self.hosts = hosts
  }
}

/// Reads `pictures`.
struct PicturesParser {
  static func parse(_ node: YAMLNode) throws(CatalogError) -> PicturesRule {
    let mapping = try node.mapping()
    try mapping.checkKeys(.pictures)
    var hosts: [PicturesRule.Host] = []
    for member in try mapping["headers"]?.mapping().members ?? [] {
      var host = try host(member.name, member.key)
      guard !hosts.contains(where: { $0.name == host.name && $0.port == host.port }) else {
        throw member.key.error("host \(member.name) more than once")
      }
      host.headers = try CatalogFileParser.headers(member.value)
      hosts.append(host)
    }
    return PicturesRule(hosts: hosts)
  }

  /// Reads `host` or `host:port`; an IPv6 address stands in brackets.
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
    let isHost = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        true
      default: isLiteral && byte == UInt8(ascii: ":")
      }
    }
    guard !name.isEmpty, isHost else { throw fault(text, key) }
    return PicturesRule.Host(name: String(name), port: port, headers: [])
  }

  private static func fault(_ text: String, _ key: YAMLNode) -> CatalogError {
    key.error(
      "\"\(text.prefix(80))\" is no host",
      expected: "a host",
      remedy: "write cdn.example, or cdn.example:8080 with a port of its own"
    )
  }
}
