/// Where a response that a catalog file is proposed for came from, as that file will say.
package struct ProposedSource: Hashable, Sendable {
  /// The catalog's name.
  package var name: String
  /// What the section's URL is relative to; nil for a file.
  package var base: String?
  /// The section's URL, relative to `base`.
  package var url: String
  /// The section's key.
  package var key: String
  /// The URL's query.
  var query: [(name: String, value: String)] { Self.query(of: url) }
  /// The names of the environment's variables that stand for secrets of the URL.
  package var variables: [String] = []

  /// A response from a URL, without user and password; what its query seems to hold in secrets becomes variables.
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
    let veiled = Self.veiled(String(query))
    self.url = file.isEmpty && query.isEmpty ? "./" : file + veiled.text
    variables = veiled.variables
    name = Self.fileName(Self.shop(of: String(authority)), else: "shop")
    let stem = file.prefix { $0 != "." }
    key = Self.fileName(String(stem), else: "main")
  }

  /// A response in a local file, relative to the folder of the catalog file.
  package init(file path: String) {
    let last = path.split(separator: "/").last ?? ""
    let stem = Self.fileName(String(last.prefix { $0 != "." }), else: "shop")
    name = stem
    key = stem
    base = nil
    url = path.hasPrefix("/") ? "file://\(path)" : path
  }

  /// Where the response is, for messages; without what may be secret.
  package var label: String { (base.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? "") + url }

  /// Part of a host that tells shops apart: `api.shop.example` is shop.
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

  private static func query(of url: String) -> [(name: String, value: String)] {
    let query = url.drop { $0 != "?" }.dropFirst()
    return query.split(separator: "&").map { part in
      let name = part.prefix { $0 != "=" }
      return (String(name), String(part.dropFirst(name.count + 1)))
    }
  }

  private static func veiled(_ query: String) -> (text: String, variables: [String]) {
    guard query.count > 1 else { return (query, []) }
    var variables: [String] = []
    let parts = Self.query(of: query).map { name, value in
      let words = NameWords.words(of: name)
      let isSecret = words.contains {
        ["key", "token", "secret", "password", "signature", "apikey", "auth"].contains($0)
      }
      guard isSecret, !value.isEmpty else { return value.isEmpty ? name : "\(name)=\(value)" }
      let variable = words.map { $0.uppercased() }.joined(separator: "_")
      guard variable.utf8.allSatisfy({ $0 == 0x5F || $0 >= 0x41 && $0 <= 0x5A }) else {
        variables.append("SECRET")
        return "\(name)=${SECRET}"
      }
      variables.append(variable)
      return "\(name)=${\(variable)}"
    }
    return ("?" + parts.joined(separator: "&"), variables)
  }
}
