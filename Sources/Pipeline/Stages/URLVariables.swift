import Catalog
import Transport

/// The environment's part of a catalog's URLs, which may be secret.
///
/// In every URL that a run handles, stores or shows, `${NAME}` stands in path and query in place of
/// the value; only ``VeilingTransport`` puts the value in, for hosts that the catalog names, when a
/// request leaves. What an origin says back (a redirect, a next page) is veiled before anybody sees it.
struct URLVariables: Sendable {
  /// The values by name; none is empty.
  let values: [String: String]
  /// The hosts that the values go to.
  let hosts: Set<HostPort>

  /// No variables.
  static let none = URLVariables(values: [:], hosts: [])

  /// Whether there is nothing to veil.
  var isEmpty: Bool { values.isEmpty }

  /// A URL with the values in, as it will be sent.
  func revealed(_ url: WebURL, _ parser: any URLParsing) throws(TransferFailure) -> WebURL {
    guard hosts.contains(url.hostPort), url.text.contains("${") else { return url }
    let (path, query) = Self.parts(of: url.text)
    var text = path
    for (name, value) in values {
      text = text.replacing("${\(name)}", with: PercentEncoding.escaped(value, keeping: "/"))
    }
    if var query {
      for (name, value) in values {
        query = query.replacing("${\(name)}", with: PercentEncoding.escaped(value))
      }
      text += "?" + query
    }
    // The parser gives the user information back from the authority alone.
    return try parser.parse(text, relativeTo: nil).carryingUserInfo(of: url, parser)
  }

  /// A URL with the values out.
  func veiled(_ url: WebURL, _ parser: any URLParsing) -> WebURL {
    guard hosts.contains(url.hostPort) else { return url }
    let text = veiled(url.text)
    guard text != url.text, let veiled = try? parser.parse(text, relativeTo: nil) else {
      return url
    }
    return (try? veiled.carryingUserInfo(of: url, parser)) ?? veiled
  }

  /// A text with the values out, however they are escaped in it.
  func veiled(_ text: String) -> String {
    var bytes = Array(text.utf8)
    // The longest first: one value may be part of another.
    let ordered = values.sorted { ($0.value.utf8.count, $1.key) > ($1.value.utf8.count, $0.key) }
    for (name, value) in ordered where value.utf8.count >= SecretVeil.shortestSecret {
      bytes = SecretVeil.replacing(Array(value.utf8), in: bytes, with: Array("${\(name)}".utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A text that fetched data wrote, in which nothing can pass for a variable.
  static func defused(_ text: String) -> String {
    text.replacing("${", with: "$%7B")
  }

  private static func parts(of text: String) -> (path: String, query: String?) {
    guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
    return (String(text[..<mark]), String(text[text.index(after: mark)...]))
  }
}

extension WebURL {
  /// The same URL with the user information of another one of the same origin, which `text` leaves out.
  fileprivate func carryingUserInfo(
    of other: WebURL,
    _ parser: any URLParsing
  ) throws(TransferFailure) -> WebURL {
    guard let userInfo = other.userInfo, let start = text.firstRange(of: "://") else {
      return self
    }
    return try parser.parse(
      text[..<start.upperBound] + userInfo + "@" + text[start.upperBound...],
      relativeTo: nil
    )
  }
}
