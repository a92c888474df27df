extension ListingDecoder {
  /// What shops call the number of all items, as ``NameWords/plain(_:)`` writes it.
  static let totalNames: Set<String> = [
    "total", "total count", "total results", "total items", "count",
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
    guard let total, elementCount > 0, total > elementCount else { return nil }
    return "the shop says that there are \(total) items, and lists \(elementCount); "
      + "say under paging in the catalog file how the listing goes on"
  }
}
