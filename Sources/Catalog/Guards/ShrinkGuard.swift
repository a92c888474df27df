/// Keeps a catalog from losing its items to a truncated feed, or to one that lists another shop.
///
/// The guard counts the items that vanished. New items do not make up for them.
package enum ShrinkGuard {
  /// How to treat a section's new listing.
  package enum Decision: Sendable, Equatable {
    /// Show it as it is.
    case take
    /// Show it together with the items that vanished.
    case keep(Union)
    /// Do not show it, and keep the last one: it has none of the items held.
    case withhold
  }

  /// Judges a section's new listing against the items held.
  ///
  /// More than 10 % of more than 10 items may not vanish at once, nor all items of any section. Since the next run's
  /// `held` has the items that were kept, the guard holds until the feed recovers or removals are allowed.
  ///
  /// - Parameters:
  ///   - held: The ids of the items held, in order.
  ///   - incoming: The ids of those that the feed lists, in order.
  ///   - isUnread: Whether the feed still lists the item held at a place, but in a form that cannot be read.
  /// - Returns: The verdict.
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

  /// The places of the items held that the feed does not list.
  package static func vanished(of held: PackedIDs, from incoming: PackedIDs) -> [Int] {
    (0..<held.count).filter { incoming.first(like: $0, in: held) == nil }
  }

  /// Whether the items lost by all sections together look like a fault: many small sections may
  /// each lose only a few.
  ///
  /// - Parameters:
  ///   - held: How many items all sections showed together.
  ///   - vanished: How many of them no section lists any more.
  /// - Returns: Whether to keep the items.
  package static func isSuspicious(catalog held: Int, vanished: Int) -> Bool {
    held >= 30 && vanished * 10 > held
  }

  /// Whether the number of details missing suddenly looks like a fault.
  package static func isSuspicious(details held: Int, missing: Int) -> Bool {
    missing >= 3 && missing * 10 > held
  }

  /// A section with its new items and those held that the feed no longer lists, given by their places.
  package struct Union: Sendable, Equatable {
    /// Where an item comes from: its place among those that the feed lists, or among those held.
    package enum Source: Sendable, Equatable {
      case incoming(Int)
      case held(Int)
    }

    /// The items, in order.
    package var order: [Source] = []
    /// The places of those held that the feed no longer lists, in ascending order.
    package var withheld: [Int] = []
  }

  /// Merges the items held with those that the feed lists.
  ///
  /// - Parameters:
  ///   - held: The ids of the items held.
  ///   - incoming: The ids of those that the feed lists.
  ///   - stays: Whether an item held, by its place, may stay when the feed does not list it.
  /// - Returns: All of them; each item that stays is after the item that it followed.
  package static func union(
    of held: PackedIDs,
    and incoming: PackedIDs,
    where stays: (Int) -> Bool = { _ in true }
  ) -> Union {
    // Each kept item follows the nearest one before it that the feed still has; -1 is the head of the
    // section.
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
