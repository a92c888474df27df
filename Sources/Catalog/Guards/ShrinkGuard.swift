/// Protects the items of a catalog against a truncated feed, and against a feed of another shop.
///
/// The guard counts the items that vanished; new items do not offset them.
package enum ShrinkGuard {
  /// How to treat a section's new listing.
  package enum Decision: Sendable, Equatable {
    /// Show the new listing as it is.
    case take
    /// Show the new listing together with the vanished items.
    case keep(Union)
    /// Keep showing the previous listing, because the new listing has none of its items.
    case withhold
  }

  /// Compares a section's new listing with the held items: the items that the cache shows now.
  ///
  /// If a section has more than 10 items, at most 10 % of them may vanish at once. No section may lose all its items.
  /// In the next run, the kept items are held items again. Therefore the guard stays in force until the feed recovers
  /// or the user allows removals.
  ///
  /// - Parameters:
  ///   - held: The ids of the held items, in order.
  ///   - incoming: The ids of the items that the feed lists, in order.
  ///   - isUnread: Whether the feed still lists the held item at this index, but in a form that cannot be read.
  /// - Returns: The decision.
  package static func judge(
    held: PackedIDs,
    incoming: PackedIDs,
    isUnread: (Int) -> Bool = { _ in false }
  ) -> Decision {
    let gone = vanished(of: held, from: incoming).count { !isUnread($0) }
    guard gone > 0 else { return .take }
    if gone == held.count { return .withhold }
    guard held.count > 10, gone * 10 > held.count else { return .take }
    return .keep(union(of: held, and: incoming))
  }

  /// The indices of the held items that the feed does not list.
  package static func vanished(of held: PackedIDs, from incoming: PackedIDs) -> [Int] {
    (0..<held.count).filter { incoming.first(like: $0, in: held) == nil }
  }

  /// Whether the total number of vanished items, over all sections, looks like a fault.
  ///
  /// This finds a fault in which many small sections each lose only a few items.
  ///
  /// - Parameters:
  ///   - held: How many items all sections showed together.
  ///   - vanished: How many of these items no section lists any more.
  /// - Returns: Whether to keep showing the vanished items.
  package static func isSuspicious(catalog held: Int, vanished: Int) -> Bool {
    held >= 30 && vanished * 10 > held
  }

  /// Whether the number of suddenly missing details looks like a fault.
  package static func isSuspicious(details held: Int, missing: Int) -> Bool {
    missing >= 3 && missing * 10 > held
  }

  /// The merged items of a section: the feed's items, and held items that the feed no longer lists.
  ///
  /// Items are given by index.
  package struct Union: Sendable, Equatable {
    /// The origin of an item, with its index among the items of the feed or among the held items.
    package enum Source: Sendable, Equatable {
      case incoming(Int)
      case held(Int)
    }

    /// All items, in order.
    package var order: [Source] = []
    /// The indices of the held items that the feed no longer lists, in ascending order.
    package var withheld: [Int] = []
  }

  /// Merges the held items with the items that the feed lists.
  ///
  /// - Parameters:
  ///   - held: The ids of the held items.
  ///   - incoming: The ids of the items that the feed lists.
  ///   - stays: Whether the held item at this index may stay when the feed does not list it.
  /// - Returns: All items; each item that stays is placed after the item that it followed before.
  package static func union(
    of held: PackedIDs,
    and incoming: PackedIDs,
    where stays: (Int) -> Bool = { _ in true }
  ) -> Union {
    // A kept item is placed after the nearest earlier item that the feed still lists; -1 is the head of the section.
    var followers: [Int: [Int]] = [:]
    var union = Union()
    var anchor = -1
    for place in 0..<held.count {
      if let listed = incoming.first(like: place, in: held) {
        anchor = listed
      } else if stays(place) {
        followers[anchor, default: []].append(place)
        union.withheld.append(place)
      }
    }
    union.order = (followers[-1] ?? []).map(Union.Source.held)
    for place in 0..<incoming.count {
      union.order.append(.incoming(place))
      for follower in followers[place] ?? [] { union.order.append(.held(follower)) }
    }
    return union
  }
}
