extension Headers {
  /// The target of the first link to the next page, as it is written. (RFC 8288, section 3)
  package var nextLink: String? {
    for value in all("Link") {
      if let target = Self.nextLink(in: value) { return target }
    }
    return nil
  }

  /// Finds `<target>; rel="next"` among the links of one field.
  private static func nextLink(in value: String) -> String? {
    var rest = value[...]
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      let target = rest[rest.index(after: open)..<close]
      rest = rest[rest.index(after: close)...]
      let (parameters, end) = parameters(of: rest)
      rest = rest[end...]
      let relation = parameters.first { $0.name == "rel" }?.value ?? ""
      let relations = relation.lowercased().split(separator: " ")
      if relations.contains("next"), !target.isEmpty { return String(target) }
    }
    return nil
  }

  /// The parameters behind a link's target, and where the next link begins: commas in quotes end nothing.
  private static func parameters(
    of text: Substring
  ) -> (parameters: [(name: String, value: String)], end: String.Index) {
    var parts: [String] = [""]
    var isQuoted = false
    var end = text.startIndex
    while end < text.endIndex {
      let character = text[end]
      if character == "\"" {
        isQuoted.toggle()
      } else if character == ",", !isQuoted {
        break
      } else if character == ";", !isQuoted {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
      end = text.index(after: end)
    }
    let parameters = parts.compactMap { part -> (name: String, value: String)? in
      let halves = part.split(separator: "=", maxSplits: 1)
      guard halves.count == 2 else { return nil }
      let name = halves[0].filter { $0 != " " && $0 != "\t" }.lowercased()
      return (name, String(halves[1]))
    }
    return (parameters, end)
  }
}
