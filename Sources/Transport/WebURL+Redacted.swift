extension WebURL: CustomStringConvertible {
  /// The same as `redacted`, so that no log line can show more.
  package var description: String { redacted }

  /// The URL fit for logs and reports: query values that look like secrets read `***`.
  package var redacted: String {
    guard let query else { return text }
    var parts: [Substring] = []
    var changed = false
    for part in query.split(separator: "&", omittingEmptySubsequences: false) {
      let name = part.prefix { $0 != "=" }
      if name.count < part.count, Self.isSecret(name) {
        parts.append(name + "=***")
        changed = true
      } else {
        parts.append(part)
      }
    }
    guard changed else { return text }
    return origin + path + "?" + parts.joined(separator: "&")
  }

  /// The host, and the port unless it is the scheme's own: all of a URL that a glance needs, and nothing secret.
  package var shownHost: String {
    String(Substring(text.utf8.prefix(pathStart).dropFirst(scheme.rawValue.utf8.count + 3)))
  }

  /// Judges a query parameter by its name: signed URLs of the large clouds and the usual key names.
  private static func isSecret(_ name: Substring) -> Bool {
    let name = name.lowercased()
    let exact: Set<String> = ["key", "sig", "auth", "pass", "pwd", "sas", "code", "jwt"]
    let within = [
      "token", "secret", "signature", "password", "credential", "apikey", "api_key", "api-key",
      "access_key", "session",
    ]
    return exact.contains(name) || within.contains { name.contains($0) }
  }
}
