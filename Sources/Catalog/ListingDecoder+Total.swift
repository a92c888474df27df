extension ListingDecoder {
  /// What shops call the number of all items, as ``NameWords/plain(_:)`` writes it.
  static let totalNames: Set<String> = [
    "total", "total count", "total results", "total items", "total elements", "count",
  ]
  /// Objects that the number stands in, if not beside the items.
  private static let totalPlaces = ["meta", "pagination", "paging", "page", "data"]

  /// How many items a body says that there are; nil when it says nothing.
  static func total(in root: JSONNode) -> Int? {
    guard root.kind == .object else { return nil }
    for node in [root] + totalPlaces.compactMap({ root[$0] }) where node.kind == .object {
      for (name, value) in node.firstMembers(60) {
        guard let number = value.integer, totalNames.contains(NameWords.plain(name)) else {
          continue
        }
        return number
      }
    }
    return nil
  }

  /// What in a body says that the listing goes on behind it, as `has_more is true`; nil when nothing does.
  ///
  /// Looks at the objects around the items, not at the items.
  static func continuation(in root: JSONNode) -> String? {
    guard root.kind == .object else { return nil }
    return continuation(among: root.members.prefix(60), path: "", depth: 0)
  }

  private static func continuation(
    among members: some Collection<(name: String, value: JSONNode)>,
    path: String,
    depth: Int
  ) -> String? {
    var (page, pages): (Int?, Int?) = (nil, nil)
    for (name, value) in members {
      let words = NameWords.plain(name)
      let place = path + name
      switch value.kind {
      case .boolean where moreNames.contains(words) && value.boolean == true:
        return "\(place) is true"
      case .string where nextNames.contains(words) && value.text?.isEmpty == false:
        return "it has \(place)"
      case .integer where nextNames.contains(words) && value.integer ?? 0 > 0:
        return "it has \(place)"
      case .integer where pageNames.contains(words): page = value.integer
      case .integer where pagesNames.contains(words): pages = value.integer
      case .object where depth < 3:
        let found = continuation(
          among: value.members.prefix(60),
          path: place + ".",
          depth: depth + 1
        )
        // HAL: {"_links": {"next": {"href": "…"}}}
        if let found { return found }
        if nextNames.contains(words), value["href"]?.text?.isEmpty == false {
          return "it has \(place)"
        }
      default: break
      }
    }
    guard let page, let pages, page < pages else { return nil }
    return "it is page \(page) of \(pages)"
  }

  private static let moreNames: Set<String> = ["has more", "has next", "has next page"]
  private static let nextNames: Set<String> = [
    "next", "next page", "next url", "next link", "next page url", "next href", "next cursor",
    "next page token", "next token", "next cursor token", "continuation token",
  ]
  private static let pageNames: Set<String> = ["page", "current page"]
  private static let pagesNames: Set<String> = [
    "pages", "total pages", "page count", "last page",
  ]
}

extension DecodedListing {
  /// Judges whether a listing without paging has further pages.
  ///
  /// - Parameter hasNextLink: Whether a `Link` header names a next page.
  /// - Returns: The sign of further pages, and what to do; nil when there is none.
  package func unfollowed(hasNextLink: Bool) -> String? {
    if hasNextLink {
      return "the shop names a next page by a Link header, and it is not read; "
        + "write paging: {link: true} in the catalog file"
    }
    let advice = "say under paging in the catalog file how the listing goes on"
    if let total, elementCount > 0, total > elementCount {
      return "the shop says that there are \(total) items, and lists \(elementCount); \(advice)"
    }
    guard let continuation, elementCount > 0 else { return nil }
    return
      "the shop says that the listing goes on (\(continuation)), and no further page is read; "
      + advice
  }
}
