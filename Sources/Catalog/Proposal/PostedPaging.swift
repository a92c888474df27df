/// The places in the JSON of a request that may tell pages apart.
struct PostedPaging {
  /// A member of the request, by its name and its value as written.
  struct Slot {
    /// What the value means: the member's name, or that of the argument that GraphQL gives it to.
    let meaning: String
    /// The value: a number, `null`, or a text in quotes.
    let value: Substring

    /// The value as a number.
    var number: Int? { Int(value) }
    /// Whether it says that nothing is asked for yet.
    var isEmpty: Bool { value == "null" || value == "\"\"" }
  }

  /// The request.
  let request: String
  /// Its members that hold a number, a text or nothing, in order.
  let slots: [Slot]

  /// Whether it is GraphQL, which takes no member that the query does not name.
  let isGraphQL: Bool

  /// Looks for places.
  ///
  /// - Parameter request: JSON.
  init(_ request: String) {
    self.request = request
    var slots: [Slot] = []
    var query = ""
    var rest = request[...]
    while let open = rest.firstIndex(of: "\"") {
      guard let close = Self.end(ofText: rest[rest.index(after: open)...]) else { break }
      let name = rest[rest.index(after: open)..<close]
      let behind = rest[rest.index(after: close)...].drop(while: \.isWhitespace)
      guard behind.first == ":" else {
        rest = behind
        continue
      }
      let value = behind.dropFirst().drop(while: \.isWhitespace)
      rest = value
      if value.first == "\"", let end = Self.end(ofText: value.dropFirst()) {
        let text = value[...end]
        rest = value[value.index(after: end)...]
        if name == "query" { query = String(text) }
        slots.append(Slot(meaning: String(name), value: text))
      } else if let first = value.first, first.isNumber || first == "n" || first == "-" {
        let scalar = value.prefix { !",}]".contains($0) && !$0.isWhitespace }
        rest = rest[scalar.endIndex...]
        slots.append(Slot(meaning: String(name), value: scalar))
      }
    }
    isGraphQL = query.contains("{")
    self.slots = slots.map { slot in
      // products(currentPage: $p)
      guard let use = query.firstRange(of: ": $\(slot.meaning)"),
        query[use.upperBound...].first.map({ !$0.isLetter && !$0.isNumber && $0 != "_" }) ?? true
      else { return slot }
      let argument = query[..<use.lowerBound].reversed().prefix { $0.isLetter || $0 == "_" }
      return Slot(meaning: String(argument.reversed()), value: slot.value)
    }
  }

  /// The request with a place in the stead of a slot's value.
  func request(with place: Placeholder, at slot: Slot) -> String {
    let isText = slot.value.hasPrefix("\"")
    let written = isText ? "\"\(place.written)\"" : place.written
    return request.replacingCharacters(
      in: slot.value.startIndex..<slot.value.endIndex,
      with: written
    )
  }

  /// The request with one more member that is a place; nil where none can be added.
  func request(with place: Placeholder, named name: String) -> String? {
    guard !isGraphQL, let end = request.lastIndex(of: "}") else { return nil }
    let head = String(request[..<end]).trimmed
    let comma = head.hasSuffix("{") ? "" : ", "
    return "\(head)\(comma)\(JQText.string(name)): \(place.written)}"
  }

  /// Where a text ends: at its closing quote.
  private static func end(ofText text: Substring) -> Substring.Index? {
    var isEscaped = false
    return text.firstIndex { character in
      defer { isEscaped = character == "\\" && !isEscaped }
      return character == "\"" && !isEscaped
    }
  }
}

extension String {
  fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
    self[..<range.lowerBound] + text + self[range.upperBound...]
  }
}

extension PagingProposal {
  /// The paging of what is asked for by a body: what tells pages apart is put where the body has a place for it.
  static func posted(_ around: [Member], count: Int, _ posted: PostedPaging) -> [PagingProposal] {
    if let (member, path) = cursor(around) { return [posted.paging(by: member, at: path)] }
    let signs = counted(around, count: count)
    let says = signs.first.map { ($0.reason, 0.8) } ?? ("it may be one page of more", 0.4)
    guard !signs.isEmpty || isPage(count) else { return [] }
    var ranking: [PagingProposal] = []
    for slot in posted.slots {
      guard let first = slot.number else { continue }
      let meaning = NameWords.plain(slot.meaning)
      if pageNames.contains(meaning), (0...1).contains(first) {
        let yaml = "{page: \(YAMLText.scalar(slot.meaning))\(first == 0 ? ", first: 0" : "")}"
        let body = posted.request(with: .page, at: slot)
        ranking.append(Self(yaml, says.1, says.0, body))
      } else if offsetNames.contains(meaning), first == 0 {
        let body = posted.request(with: .offset, at: slot)
        ranking.append(Self("{offset: \(YAMLText.scalar(slot.meaning))}", says.1, says.0, body))
      }
    }
    guard ranking.isEmpty else { return ranking }
    // What the response counts by is what the request may be asked by.
    let counts = around.filter { $0.value.integer.map { (0...1).contains($0) } ?? false }
    for name in counts.map(\.name).filter({ pageNames.contains(NameWords.plain($0)) }) + ["page"] {
      let isFromZero = counts.contains { $0.name == name && $0.value.integer == 0 }
      guard let body = posted.request(with: .page, named: name) else { continue }
      ranking.append(
        Self(
          "{page: \(YAMLText.scalar(name))\(isFromZero ? ", first: 0" : "")}",
          0.3,
          says.0,
          body
        )
      )
    }
    for name in counts.map(\.name).filter({ offsetNames.contains(NameWords.plain($0)) })
      + ["offset", "skip", "from"]
    {
      guard let body = posted.request(with: .offset, named: name) else { continue }
      ranking.append(Self("{offset: \(YAMLText.scalar(name))}", 0.3, says.0, body))
    }
    return ranking.enumerated().filter { place, paging in
      !ranking[..<place].contains { $0.body == paging.body }
    }.map(\.element)
  }

  private static let pageNames: Set<String> = [
    "page", "p", "page no", "pageno", "page number", "page num", "page index", "current page",
  ]
  private static let offsetNames: Set<String> = ["offset", "skip", "from", "start"]
}

extension PostedPaging {
  /// The paging by a cursor.
  fileprivate func paging(by member: PagingProposal.Member, at path: String) -> PagingProposal {
    let yaml = "{from: \(YAMLText.scalar(path))}"
    let names = [
      member.name, "after", "cursor", "afterCursor", "page_token", "pageToken", "starting_after",
    ].map(NameWords.plain)
    let empty = slots.filter(\.isEmpty)
    for name in names {
      guard let slot = empty.first(where: { NameWords.plain($0.meaning) == name }) else {
        continue
      }
      let body = request(with: .cursor, at: slot)
      return PagingProposal(yaml, 0.9, "it holds a cursor, and the request takes one", body)
    }
    guard let body = request(with: .cursor, named: member.name) else {
      return PagingProposal(
        yaml,
        0.3,
        "it holds a cursor; write {cursor} where the request takes it, outside of quotes"
      )
    }
    let reason = "it holds a cursor, which the request is taken to take under that name"
    return PagingProposal(yaml, 0.7, reason, body)
  }
}
