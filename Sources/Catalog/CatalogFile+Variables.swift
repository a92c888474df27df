/// A variable that a URL of the catalog file names.
struct URLVariable: Hashable, Sendable {
  /// Its name.
  let name: String
  /// Where the URL stands, as an error that has yet to say what is wrong.
  let place: CatalogError
}

extension CatalogFile {
  /// The variables that the file's URLs name, with what the environment says.
  ///
  /// - Parameter environment: Variables by name.
  /// - Returns: Values by name; empty when no URL names a variable.
  /// - Throws: ``CatalogError`` that names file, line, key and the variable that is not set or that no
  ///   URL could hold, and shows no value.
  public func resolvedURLVariables(
    environment: [String: String]
  ) throws(CatalogError) -> [String: String] {
    var values: [String: String] = [:]
    for (key, text) in urls {
      for name in (try? VariableText(text))?.variables ?? [] {
        let value = environment[name] ?? ""
        guard !value.isEmpty else {
          throw fault(name, key, "which is not set", remedy: "set \(name)")
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
          throw fault(name, key, "which holds a line break or control character", remedy: nil)
        }
        values[name] = value
      }
    }
    return values
  }

  /// The environment variables that the file's URLs and headers name, in its order.
  package var variableNames: [String] {
    urls.flatMap { (try? VariableText($0.text))?.variables ?? [] }
      + (headers + pictures.hosts.flatMap(\.headers)).flatMap(\.variableNames)
  }

  /// Every URL of the file, with its key.
  private var urls: [(key: String, text: String)] {
    var urls: [(String, String)] = []
    if let base { urls.append(("base", base)) }
    switch sections {
    case .listed(let sources):
      urls += sources.enumerated().map { ("sections[\($0)].url", $1.url) }
    case .combined(let plan): urls.append(("sections.url", plan.url))
    }
    if let detail { urls.append(("detail.url", detail.urlTemplate)) }
    return urls
  }

  private func fault(
    _ name: String,
    _ key: String,
    _ why: String,
    remedy: String?
  ) -> CatalogError {
    let place = variables.first { $0.name == name && $0.place.keyPath == key }?.place
    var error = place ?? CatalogError(.environment, subject: "catalog \(self.name)", reason: "")
    error.code = .environment
    error.keyPath = key
    error.reason = "it needs the environment variable \(name), \(why)"
    error.remedy = remedy
    return error
  }
}
