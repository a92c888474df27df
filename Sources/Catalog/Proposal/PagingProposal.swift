/// The paging that a listing seems to have.
struct PagingProposal: Equatable {
  /// The value of `paging:` in the catalog file.
  let yaml: String
  /// How sure that is, 0 to 1; below one half it is a comment in the file.
  let confidence: Double
  /// Why.
  let reason: String

  /// Judges by the response's `Link` header, what stands around the items, and the URL's query.
  ///
  /// - Parameters:
  ///   - root: The response.
  ///   - place: Where its items are.
  ///   - formats: The built-in formats that read it as well.
  ///   - query: The names and values of the URL's query.
  ///   - hasNextLink: Whether the `Link` header names a next page.
  init?(
    root: JSONNode,
    place: ItemPlace,
    formats: [String] = [],
    query: [(name: String, value: String)],
    hasNextLink: Bool
  ) {
    if hasNextLink {
      self.init("{link: true}", 0.95, "the response has a Link header with rel=next")
      return
    }
    let around = Self.members(around: root, place: place)
    let count = place.items.count
    if let next = around.first(where: { Self.isNextURL($0) }) {
      self.init("{next: \(YAMLText.scalar(next.path))}", 0.9, "it holds the next page's URL")
      return
    }
    if let cursor = around.first(where: { Self.cursorNames.contains(NameWords.plain($0.name)) }),
      let text = cursor.value.text, !text.isEmpty
    {
      let yaml = "{cursor: cursor, from: \(YAMLText.scalar(cursor.path))}"
      self.init(yaml, 0.4, "it holds a cursor; name the parameter that takes it")
      return
    }
    for (format, size) in [
      ("shopify", "limit, value: 250"), ("woocommerce", "per_page, value: 100"),
    ]
    where formats.contains(format) {
      self.init("{page: page, size: {name: \(size)}}", 0.8, "the shop looks like \(format)")
      return
    }
    if around.contains(where: { $0.path.contains("search_criteria") }) {
      let name = "\"searchCriteria[currentPage]\""
      self.init("{page: \(name)}", 0.8, "it has search_criteria, as Magento does")
      return
    }
    if let counted = Self.counted(around, count: count) {
      self = counted
      return
    }
    for name in ["page", "skip", "offset", "start"]
    where query.contains(where: { $0.name == name }) {
      let way = name == "page" ? "page" : "offset"
      self.init("{\(way): \(name)}", 0.6, "the URL has \(name)=")
      return
    }
    let isRound = [10, 20, 24, 25, 30, 48, 50, 60, 100, 200, 250].contains(count)
    guard isRound else { return nil }
    self.init("{page: page}", 0.2, "\(count) items may be one page of more")
  }

  private init(_ yaml: String, _ confidence: Double, _ reason: String) {
    self.yaml = yaml
    self.confidence = confidence
    self.reason = reason
  }

  /// A member that stands around the items.
  private struct Member {
    let name: String
    let path: String
    let value: JSONNode
  }

  /// The scalars around the items, and those one or two objects below.
  private static func members(around root: JSONNode, place: ItemPlace) -> [Member] {
    var members: [Member] = []
    func gather(_ node: JSONNode, _ path: String, _ depth: Int) {
      for (name, value) in node.members.prefix(60) {
        let place = path + FieldPlace.segment(name)
        if value.kind == .object, depth < 3 {
          gather(value, place, depth + 1)
        } else if value.kind != .array {
          members.append(Member(name: name, path: place, value: value))
        }
      }
    }
    if case .list = place.shape { gather(root, "$", 0) }
    return members
  }

  private static let cursorNames: Set<String> = [
    "cursor", "next cursor", "end cursor", "next page token", "continuation token", "after",
  ]

  private static func isNextURL(_ member: Member) -> Bool {
    guard let text = member.value.text, PictureText.isLink(text) || text.hasPrefix("?") else {
      return false
    }
    let words = member.path.split(whereSeparator: { ".[]'".contains($0) }).map(String.init)
      .map(NameWords.plain)
    return words.contains {
      ["next", "next page", "next url", "next link", "next page url"].contains($0)
    }
  }

  /// Pages or elements that are counted: there are more than the response has.
  private static func counted(_ around: [Member], count: Int) -> PagingProposal? {
    func number(_ names: Set<String>) -> (name: String, value: Int)? {
      around.lazy.compactMap { member in
        guard names.contains(NameWords.plain(member.name)) else { return nil }
        return member.value.integer.map { (member.name, $0) }
      }.first
    }
    let total = number(ListingDecoder.totalNames)
    let skipped = number(["skip", "offset", "start"])
    let size = number(["limit", "per page", "page size"])
    let hasMore = total.map { $0.value > count }
    if let skipped, let hasMore {
      let sized = size.map {
        ", size: {name: \(YAMLText.scalar($0.name)), value: \(max($0.value, 1))}"
      }
      return PagingProposal(
        "{offset: \(YAMLText.scalar(skipped.name))\(sized ?? "")}",
        hasMore ? 0.9 : 0.4,
        hasMore ? "it has \(count) of \(total?.value ?? 0) items" : "it has all items now"
      )
    }
    let pages = number(["total pages", "last page", "pages", "page count"])
    let page = number(["page", "current page", "page number"])
    guard pages != nil || page != nil, let hasMore = pages.map({ $0.value > 1 }) ?? hasMore else {
      return nil
    }
    let first = page.map { $0.value == 0 ? ", first: 0" : "" } ?? ""
    return PagingProposal(
      "{page: page\(first)}",
      hasMore ? 0.8 : 0.4,
      hasMore ? "it names further pages" : "it has all items now"
    )
  }
}
