/// Which request fields chose a response. (RFC 9110, section 12.5.5)
package struct Vary: Hashable, Sendable {
  /// Whether something besides the request's fields chose it: no other request matches. (RFC 9111, section 4.1)
  package let isAnything: Bool
  /// Field names in lower case.
  package let names: Set<String>

  /// Reads all `Vary` fields.
  package init(_ headers: Headers) {
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

  private init(isAnything: Bool, names: Set<String>) {
    self.isAnything = isAnything
    self.names = names
  }

  /// What chose a response that others led to.
  ///
  /// - Parameter values: The values of their `Vary` fields.
  /// - Returns: What all of them name.
  func joined(by values: [String]) -> Vary {
    let other = Vary(Headers(values.map { HeaderField(name: "Vary", value: $0) }))
    return Vary(isAnything: isAnything || other.isAnything, names: names.union(other.names))
  }

  /// The value of one `Vary` field that says the same.
  var text: String { isAnything ? "*" : names.sorted().joined(separator: ", ") }

  /// What the fields of a request select: two requests are answered alike when this is the same for both.
  ///
  /// The fields named, in a fixed order, each with its value or the lack of one; empty when none is named.
  package func selection(from request: Headers) -> [UInt8] {
    var selection: [UInt8] = []
    for name in names.sorted() {
      let value = Self.normalized(request, name)
      selection += Array("\(name)\(value == nil ? "" : ":")\(value ?? "")\n".utf8)
    }
    return selection
  }

  /// The value with its white space made one, as RFC 9111, section 4.1, allows.
  private static func normalized(_ headers: Headers, _ name: String) -> String? {
    headers.combined(name).map { value in
      value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
  }
}
