/// Which request fields chose a response. (RFC 9110, section 12.5.5)
public struct Vary: Hashable, Sendable {
  /// Whether something besides the request's fields chose it: no other request matches. (RFC 9111, section 4.1)
  public let isAnything: Bool
  /// Field names in lower case.
  public let names: Set<String>

  /// Reads all `Vary` fields.
  public init(_ headers: Headers) {
    guard let value = headers.combined("Vary") else {
      (isAnything, names) = (false, [])
      return
    }
    let members = value.split(separator: ",").map { member in
      String(member.filter { $0 != " " && $0 != "\t" }).lowercased()
    }
    isAnything = members.contains("*")
    names = Set(members.filter { !$0.isEmpty && $0 != "*" })
  }

  /// Whether a request with `new` fields would have been answered like the one with `old` fields.
  public func matches(_ old: Headers, _ new: Headers) -> Bool {
    !isAnything && names.allSatisfy { Self.normalized(old, $0) == Self.normalized(new, $0) }
  }

  /// The fields to keep for a later ``matches(_:_:)``.
  public func selected(from request: Headers) -> Headers {
    guard !names.isEmpty, !request.isEmpty else { return Headers() }
    return Headers(request.fields.filter { names.contains($0.name.lowercased()) })
  }

  /// The value with its white space made one, as RFC 9111, section 4.1, allows.
  private static func normalized(_ headers: Headers, _ name: String) -> String? {
    headers.combined(name).map { value in
      value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
  }
}
