/// A way to request the further pages of a list of items, for example with the query parameter `page`.
///
/// `larder catalog init` proposes it, because the shop's response or its URL suggests it.
struct PagingProposal {
  /// The value of `paging:` in the catalog file, such as `{page: page}`.
  let yaml: String
  /// The confidence, from 0 to 1.
  ///
  /// Below one half, the paging is only a comment in the file.
  let confidence: Double
  /// The reason for the proposal, which a comment in the catalog file shows.
  let reason: String
  /// The body of the request with a placeholder such as `{page}`; nil if the body does not select the page.
  var body: String?
  /// The section's URL with the placeholder `{page}`; nil if the path of the URL does not select the page.
  var url: String?

  /// The maximum number of pagings that are tried, each by a request.
  static let mostTried = 10

  /// Whether the response itself leaves no doubt about the paging, so that no request need try it.
  var isSure: Bool { confidence >= 0.85 }

  /// The same paging with a high confidence, so that it is written to the file and can be tried.
  var believed: Self {
    Self(yaml, 0.95, "\(reason); a second page requested this way has other items", body, url)
  }

  /// The same paging with a low confidence, because a request for a second page returned no other items.
  var refuted: Self {
    let result = "but a second page requested this way has no other items"
    return Self(yaml, min(confidence, 0.4), "\(reason), \(result)", body, url)
  }

  /// Ranks pagings by the response's `Link` header, the members around the items, and the URL's query.
  ///
  /// - Parameters:
  ///   - root: The response.
  ///   - place: The place of the items in the response.
  ///   - url: The URL, relative to the catalog's base.
  ///   - hasNextLink: Whether the `Link` header names a next page.
  ///   - id: The path from an item to its id, or nil if the items have none.
  ///   - request: The body of the request, or nil if the request is a plain GET.
  /// - Returns: The candidates, the likeliest first.
  static func ranking(
    root: JSONNode,
    place: ItemPlace,
    url: String = "",
    hasNextLink: Bool,
    id: String? = nil,
    request: String? = nil
  ) -> [PagingProposal] {
    if hasNextLink {
      return [Self("{link: true}", 0.95, "the response has a Link header with rel=next")]
    }
    let around = members(around: root, place: place)
    let count = place.items.count
    if let request { return posted(around, count: count, PostedPaging(request)) }
    if let next = around.first(where: { isNextURL($0) }) {
      return [Self("{next: \(YAMLText.scalar(next.path))}", 0.9, "it holds the next page's URL")]
    }
    let query = ProposedSource.query(of: url)
    if let cursors = cursors(around, query) { return cursors }
    var ranking = behindLast(around, place, id) + inPath(url) + counted(around, count: count)
    for name in ["page", "skip", "offset", "start", "p", "from"]
    where query.contains(where: { $0.name == name }) {
      let way = name.hasPrefix("p") ? "page" : "offset"
      ranking.append(Self(counting(way, name), 0.6, "the URL has \(name)="))
    }
    // If the response is the last page, the member for the next page's URL can be `null`.
    if ranking.isEmpty, let next = around.first(where: { $0.value.kind == .null && isNext($0) }) {
      let yaml = "{next: \(YAMLText.scalar(next.path))}"
      return [Self(yaml, 0.6, "it would hold the next page's URL")]
    }
    if ranking.isEmpty, isPage(count) {
      ranking = [("page", "page", 0.2), ("offset", "offset", 0.15), ("offset", "skip", 0.1)].map {
        Self(counting($0, $1), $2, "\(count) items may be only the first page")
      }
    }
    return ranking.unique(by: \.yaml).filter(\.isReadable)
  }

  /// Whether a catalog file can have the rule.
  ///
  /// The name of a member, such as `?page`, can be none of a query parameter, and its number too large.
  var isReadable: Bool {
    let file = YAMLFile(name: "paging", subject: "the proposed paging")
    let root = try? file.mapping(of: Array("paging: \(yaml)".utf8))
    return (try? root?["paging"].map(PagingParser.parse)) != nil
  }

  /// Paging by the number of a page or by an offset, such as `{page: page, first: 0}`.
  private static func counting(_ way: String, _ name: String, isFromZero: Bool = false) -> String {
    "{\(way): \(YAMLText.scalar(name))\(isFromZero ? ", first: 0" : "")}"
  }

  /// Whether a number of items is a usual size of a page.
  private static func isPage(_ count: Int) -> Bool {
    [10, 12, 15, 16, 20, 24, 25, 30, 36, 40, 48, 50, 60, 100, 200, 250, 500].contains(count)
  }

  /// Paging by a page number in the path of the URL, such as `products/page/1` or `products/page-1.json`.
  private static func inPath(_ url: String) -> [PagingProposal] {
    let number = /(?:[^?#.]*\/)?(?:p|page[-_]?)?(0*[01])(?=[?#.]|$)/
    guard let digits = url.prefixMatch(of: number)?.output.1, let first = Int(digits) else {
      return []
    }
    let paged = url[..<digits.startIndex] + Placeholder.page.written + url[digits.endIndex...]
    let yaml = counting("page", "page", isFromZero: first == 0)
    return [Self(yaml, 0.6, "the URL ends in a number", nil, String(paged))]
  }

  /// Paging by ids: the request for a page names the id of the last item on the page before.
  ///
  /// It is proposed if the response says that there are more items but not how many.
  private static func behindLast(
    _ around: [Member],
    _ place: ItemPlace,
    _ id: String?
  ) -> [PagingProposal] {
    let isCounted = around.contains { $0.value.kind == .integer }
    guard saysMore(around), !isCounted, let id, place.kind == .list else { return [] }
    let from = "\(FieldPlace.path(place.path))[-1]\(id.dropFirst())"
    return ["starting_after", "after"].map { name in
      Self("{cursor: \(name), from: \(YAMLText.scalar(from))}", 0.3, "it says that there are more")
    }
  }

  /// Whether a member such as `has_more` says that there are more items.
  private static func saysMore(_ around: [Member]) -> Bool {
    around.contains { $0.isNamed("more") && $0.value.boolean == true }
  }

  init(
    _ yaml: String,
    _ confidence: Double,
    _ reason: String,
    _ body: String? = nil,
    _ url: String? = nil
  ) {
    self.yaml = yaml
    self.confidence = confidence
    self.reason = reason
    self.body = body
    self.url = url
  }

  /// A member of the response outside the items, such as `total`.
  struct Member {
    /// The names that lead to it.
    let names: [String]
    let value: JSONNode
    let path: String
    /// Whether the member is in an object that has the list too, or in one such as `meta` beside that.
    var isBesideList = false

    var name: String { names.last ?? "" }

    /// The parts of the names, each in the form of ``NameWords/plain(_:)``; `@odata.nextLink` has two parts.
    var words: [String] {
      names.flatMap { $0.split { ".[]'".contains($0) } }.map { NameWords.plain(String($0)) }
    }

    /// Whether the name has a meaning in ``FieldRules``.
    func isNamed(_ meaning: String) -> Bool {
      FieldRules.isNamed(meaning, NameWords.plain(name))
    }
  }

  /// The values outside the items, and the `href` of a link in a list whose `rel` is `next`.
  private static func members(around root: JSONNode, place: ItemPlace) -> [Member] {
    guard place.kind == .list else { return [] }
    return root.envelope().compactMap { names, value in
      let path = FieldPlace.path(names)
      if value.kind != .array {
        let outer = names.dropLast()
        let isBeside = place.path.starts(with: outer) || place.path.starts(with: outer.dropLast())
        return Member(names: names, value: value, path: path, isBesideList: isBeside)
      }
      // For example `{"links": [{"rel": "next", "href": "…"}]}`.
      let next = value.elements.first { $0["rel"]?.text == "next" }?["href"]
      return next.map { next in
        let path = "\(path)[?@.rel == 'next'].href"
        return Member(names: names + ["next", "href"], value: next, path: path)
      }
    }
  }

  /// The member with the cursor of the next page, and the path to the cursor.
  private static func cursor(_ around: [Member]) -> (member: Member, path: String)? {
    let found = around.first { member in
      guard let text = FieldReader.plainText(member.value), !text.isEmpty else { return false }
      let name = member.words.last ?? ""
      // Some shops call a cursor `offset`.
      let isOffset =
        ["offset", "start", "skip"].contains(name) && member.value.kind == .string
        && Int(text) == nil
      return FieldRules.isNamed("cursor", name) || isOffset
        || (name == "next" && !PictureText.isLink(text) && !text.hasPrefix("?"))
    }
    guard let found else { return nil }
    let more = around.first {
      $0.isNamed("more") && NameWords.plain($0.name) != "more" && $0.value.kind == .boolean
        && $0.names.dropLast() == found.names.dropLast()
    }
    // The last page can have a cursor too. Therefore the path selects the cursor only if the flag for more pages is
    // true.
    guard let more, found.names.count > 1 else { return (found, found.path) }
    let (outer, flag) = (FieldPlace.path(found.names.dropLast(2)), FieldPlace.segment(more.name))
    return (found, "\(outer)[?@\(flag) == true]\(FieldPlace.segment(found.name))")
  }

  /// Pagings by a cursor in the response, one for each request parameter that possibly takes the cursor.
  private static func cursors(
    _ around: [Member],
    _ query: [(name: String, value: String)]
  ) -> [PagingProposal]? {
    guard let (member, path) = cursor(around) else { return nil }
    let own = member.name
    let bare = String(own.trimmingPrefix(/(?:next|end)[_-]?/))
    let asked = query.map(\.name).filter { FieldRules.isNamed("cursor", NameWords.plain($0)) }
    let plain =
      bare.isEmpty || bare == own ? own : bare.prefix(1).lowercased() + bare.dropFirst()
    let names = asked + [plain, "cursor", "after", own, "page_token", "pageToken", "next"]
    return names.unique(by: \.self).filter { !$0.isEmpty }.map { name in
      let yaml = "{cursor: \(YAMLText.scalar(name)), from: \(YAMLText.scalar(path))}"
      return Self(yaml, name == names[0] ? 0.6 : 0.4, "it holds a cursor")
    }
  }

  private static func isNextURL(_ member: Member) -> Bool {
    guard let text = member.value.text,
      PictureText.isLink(text) || text.hasPrefix("?") || text.contains("?") && text.contains("=")
    else { return false }
    return isNext(member)
  }

  /// Whether a name on the member's path is a usual name for the next page's URL.
  private static func isNext(_ member: Member) -> Bool {
    member.words.contains { FieldRules.isNamed("next", $0) }
  }

  /// Pagings by a page number or an offset, if the response says how many items or pages there are.
  private static func counted(_ around: [Member], count: Int) -> [PagingProposal] {
    func number(_ meaning: String) -> (name: String, value: Int)? {
      around.lazy.compactMap { member in
        // In `{"total": {"value": 15}}`, the name of the enclosing member says what the number means.
        let called =
          member.name == "value"
          ? member.words.dropLast().last ?? "" : NameWords.plain(member.name)
        let isTotal = meaning == "total" && FieldRules.isNamed("stated", called)
        guard isTotal || FieldRules.isNamed(meaning, called) else { return nil }
        let number =
          member.value.integer ?? (isTotal ? member.value.text.flatMap { Int($0) } : nil)
        return number.map { (member.name, $0) }
      }.first
    }
    // A number beside the list that is larger than the list is the total, even under an unknown name. `count` can be
    // that of the list itself.
    let stated = number("total")
    let isStated = stated.map { $0.value > count || $0.name != "count" } ?? false
    let total = isStated ? stated : largerNumber(around, than: count) ?? stated
    let isGuess = !isStated && total?.value != stated?.value
    let pages = number("pages")
    let page = number("page")
    let isFromZero = page?.value == 0
    let goesOn =
      saysMore(around)
      || around.contains { NameWords.plain($0.name) == "next page" && $0.value.integer != nil }
    let hasMore = goesOn ? true : total.map { $0.value > count } ?? pages.map { $0.value > 1 }
    guard let hasMore else { return [] }
    let reason =
      !hasMore
      ? "it has all items now"
      : pages.map { $0.value > 1 } == true
        ? "it names further pages"
        : goesOn
          ? "it says that there are more"
          : isGuess
            ? "it has \(count) items, and \(total?.name ?? "") is \(total?.value ?? 0)"
            : "it has \(count) of \(total?.value ?? 0) items"
    var ranking: [PagingProposal] = []
    if let skipped = number("offset") {
      let sized = number("pageSize").map {
        ", size: {name: \(YAMLText.scalar($0.name)), value: \(max($0.value, 1))}"
      }
      let yaml = "{offset: \(YAMLText.scalar(skipped.name))\(sized ?? "")}"
      ranking.append(Self(yaml, hasMore ? isGuess ? 0.6 : 0.9 : 0.4, reason))
    }
    if pages != nil || page != nil {
      // If the response has the member `pageNo`, the parameter of the request has this name too. If the response has
      // `current_page`, the parameter is usually `page`.
      let own = page.flatMap {
        ["page no", "pageno", "page number"].contains(NameWords.plain($0.name)) ? $0.name : nil
      }
      let yaml = counting("page", own ?? "page", isFromZero: isFromZero)
      ranking.append(Self(yaml, hasMore ? isGuess ? 0.6 : 0.8 : 0.4, reason))
    }
    guard hasMore else { return ranking }
    let holder = page.flatMap { page in
      around.first { $0.name == page.name }?.names.dropLast().last
    }
    // Any number of the response that is 0 or 1 can be the page or the offset. A request shows which one is.
    let counts = counters(in: around).prefix(3)
    let names = [page?.name, holder.map { "\($0)[page]" }, "page"].compactMap(\.self)
    let pageNames: [(String, Bool)] =
      names.map { ($0, isFromZero) } + counts.map { ($0.name, $0.value.integer == 0) }
      + ["p", "pageNumber"].map { ($0, isFromZero) }
    let offsets =
      counts.filter { $0.value.integer == 0 }.map(\.name) + ["offset", "skip", "start", "from"]
    let others =
      pageNames.filter { $0.0 != "number" }.map { counting("page", $0.0, isFromZero: $0.1) }
      + offsets.map { counting("offset", $0) }
    return ranking + others.map { Self($0, 0.3, reason) }
  }

  /// A number around the list that is larger than the list and has no name of something else, such as a time.
  private static func largerNumber(
    _ around: [Member],
    than count: Int
  ) -> (name: String, value: Int)? {
    around.lazy.compactMap { member in
      let other = FieldRules.has("noTotal", in: NameWords.plain(member.name))
      guard let value = member.value.integer, value > count, value < 1_000_000_000, !other,
        member.isBesideList
      else { return nil }
      return (member.name, value)
    }.first
  }

  /// The members around the list whose value is 0 or 1, as the number of the first page is.
  private static func counters(in around: [Member]) -> [Member] {
    around.filter { [0, 1].contains($0.value.integer) }
  }
}

/// The members of a JSON request body that possibly select the page, such as `page` in `{"page": 1}`.
struct PostedPaging {
  /// A member of the request.
  struct Slot {
    /// The name of the member, such as `page`, or the name of the GraphQL argument that takes its value.
    ///
    /// In GraphQL, the meaning of the member `p` is `currentPage` if the query has `products(currentPage: $p)`.
    let meaning: String
    /// The value as it is written in the request: a number, `null`, or a text in quotes.
    let value: Substring

    var number: Int? { Int(value) }
    /// Whether the value is `null` or an empty text, as a cursor is in the request for the first page.
    var isEmpty: Bool { value == "null" || value == "\"\"" }
  }

  let request: String
  /// The members whose value is a number, a text or `null`, in their order.
  let slots: [Slot]

  /// Whether the request is GraphQL.
  ///
  /// No member can then be added, because the query would not use it.
  let isGraphQL: Bool

  /// Finds the members of a request, which is JSON.
  init(_ request: String) {
    self.request = request
    // A text that is not the name of a member is matched as a whole, without a value.
    let member = /"((?:[^"\\]|\\.)*)"(?:\s*:\s*("(?:[^"\\]|\\.)*"|[0-9n\-][^,}\]\s]*))?/
    let slots = request.matches(of: member).compactMap { match in
      match.output.2.map { Slot(meaning: String(match.output.1), value: $0) }
    }
    let query = slots.last { $0.meaning == "query" && $0.value.hasPrefix("\"") }?.value ?? ""
    isGraphQL = query.contains("{")
    self.slots = slots.map { slot in
      // The query uses the member as an argument, for example in `products(currentPage: $p)`.
      guard let use = query.firstRange(of: ": $\(slot.meaning)"),
        query[use.upperBound...].first.map({ !$0.isLetter && !$0.isNumber && $0 != "_" }) ?? true
      else { return slot }
      let argument = query[..<use.lowerBound].reversed().prefix { $0.isLetter || $0 == "_" }
      return Slot(meaning: String(argument.reversed()), value: slot.value)
    }
  }

  /// The request with a placeholder instead of a slot's value.
  func request(with place: Placeholder, at slot: Slot) -> String {
    let isText = slot.value.hasPrefix("\"")
    let written = isText ? "\"\(place.written)\"" : place.written
    return request[..<slot.value.startIndex] + written + request[slot.value.endIndex...]
  }

  /// The request with an additional member whose value is a placeholder, or nil if no member can be added.
  func request(with place: Placeholder, named name: String) -> String? {
    guard !isGraphQL, let end = request.lastIndex(of: "}") else { return nil }
    let head = String(request[..<end]).trimmed
    let comma = head.hasSuffix("{") ? "" : ", "
    return "\(head)\(comma)\(JQText.string(name)): \(place.written)}"
  }
}

extension PagingProposal {
  /// Pagings for a request with a body.
  ///
  /// A placeholder for the page's number or cursor replaces a value in the body.
  private static func posted(
    _ around: [Member],
    count: Int,
    _ posted: PostedPaging
  ) -> [PagingProposal] {
    if let (member, path) = cursor(around) { return [posted.paging(by: member, at: path)] }
    let signs = counted(around, count: count)
    let says = signs.first.map { ($0.reason, 0.8) } ?? ("it may be only the first page", 0.4)
    guard !signs.isEmpty || isPage(count) else { return [] }
    let ways: [(way: String, meaning: String, place: Placeholder, others: [String])] = [
      ("page", "postedPage", .page, ["page"]),
      ("offset", "postedOffset", .offset, ["offset", "skip", "from"]),
    ]
    let ranking = posted.slots.flatMap { slot -> [PagingProposal] in
      let named = ways.first { FieldRules.isNamed($0.meaning, NameWords.plain(slot.meaning)) }
      return (named.map { [$0] } ?? ways).compactMap { kind in
        guard let first = slot.number, first == 0 || first == 1 && kind.place == .page else {
          return nil
        }
        let isFromZero = first == 0 && kind.place == .page
        let yaml = counting(kind.way, slot.meaning, isFromZero: isFromZero)
        let body = posted.request(with: kind.place, at: slot)
        return Self(yaml, named == nil ? 0.3 : says.1, says.0, body)
      }
    }.ranked(by: \.confidence)
    guard ranking.isEmpty else { return ranking }
    // The request possibly takes a member with the name that the page's number has in the response.
    let counts = counters(in: around)
    return ways.flatMap { kind in
      (counts.filter { $0.isNamed(kind.meaning) }.map(\.name) + kind.others).compactMap { name in
        let isFromZero = counts.contains { $0.name == name && $0.value.integer == 0 }
        let yaml = counting(kind.way, name, isFromZero: isFromZero && kind.place == .page)
        return posted.request(with: kind.place, named: name).map { Self(yaml, 0.3, says.0, $0) }
      }
    }.unique(by: \.body)
  }
}

extension PostedPaging {
  /// The paging by a cursor that a member of the response holds.
  ///
  /// The cursor replaces the empty value of a slot, or becomes a member that is added to the request.
  fileprivate func paging(by member: PagingProposal.Member, at path: String) -> PagingProposal {
    let yaml = "{from: \(YAMLText.scalar(path))}"
    let names = [
      member.name, "after", "cursor", "afterCursor", "page_token", "pageToken", "starting_after",
    ].map(NameWords.plain)
    let slot = names.lazy.compactMap { name in
      slots.first { $0.isEmpty && NameWords.plain($0.meaning) == name }
    }.first
    if let slot {
      let body = request(with: .cursor, at: slot)
      return PagingProposal(yaml, 0.9, "it holds a cursor, and the request takes one", body)
    }
    guard let body = request(with: .cursor, named: member.name) else {
      let reason =
        "it holds a cursor; write {cursor} where the request takes it, outside of quotes"
      return PagingProposal(yaml, 0.3, reason)
    }
    let reason = "it has a cursor; the request probably takes it under that name"
    return PagingProposal(yaml, 0.7, reason, body)
  }
}
