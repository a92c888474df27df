/// Protects the items of a catalog against a response that is truncated or is from another shop.
///
/// The held items of a section are the items that the cache shows now. The guard counts the held items that are not in
/// the section's new list. New items do not make up for them.
package enum ShrinkGuard {
  /// The decision about the new list of a section.
  package enum Decision: Sendable, Equatable {
    /// Show the new list as it is.
    case take
    /// Show the new list together with the items that vanished from it.
    case keep(Union)
    /// Show the held items instead of the new list, because the new list has none of them.
    case withhold
  }

  /// Compares a section's new list with its held items.
  ///
  /// If a section has more than 10 held items, at most 10 % of them are allowed to vanish at once. No section is
  /// allowed to lose all its items.
  ///
  /// In the next sync, the kept items are held items again. Therefore they stay until the shop lists them again, or the
  /// user allows removals.
  ///
  /// - Parameters:
  ///   - held: The ids of the held items in their order.
  ///   - incoming: The ids of the new list in their order.
  ///   - isUnread: Whether the new list has the held item at this index, but in a form that cannot be read.
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

  /// The indices of the held items that are not in the new list.
  package static func vanished(of held: PackedIDs, from incoming: PackedIDs) -> [Int] {
    (0..<held.count).filter { incoming.first(like: $0, in: held) == nil }
  }

  /// Whether the number of items that vanished from all sections together looks like a fault.
  ///
  /// This finds a fault that removes only a few items from each of many small sections.
  ///
  /// - Parameters:
  ///   - held: The number of held items in all sections.
  ///   - vanished: The number of these items that are in no section any more.
  /// - Returns: Whether the vanished items should stay in the catalog.
  package static func isSuspicious(catalog held: Int, vanished: Int) -> Bool {
    held >= 30 && vanished * 10 > held
  }

  /// Whether the number of items whose detail is suddenly missing looks like a fault.
  ///
  /// - Parameters:
  ///   - held: The number of items whose detail the cache already had.
  ///   - missing: The number of these items whose detail is missing now.
  /// - Returns: Whether the old details should stay in the catalog.
  package static func isSuspicious(details held: Int, missing: Int) -> Bool {
    missing >= 3 && missing * 10 > held
  }

  /// The items of a section's new list, together with held items that vanished from it.
  package struct Union: Sendable, Equatable {
    /// An item, given by its index.
    package enum Source: Sendable, Equatable {
      /// The item at an index in the new list.
      case incoming(Int)
      /// The held item at an index.
      case held(Int)
    }

    /// All items in their order.
    package var order: [Source] = []
    /// The indices of the held items that vanished from the new list, in ascending order.
    package var withheld: [Int] = []
  }

  /// Merges the held items that vanished from a section's new list with the new list.
  ///
  /// Each held item is placed after the item that it followed before.
  ///
  /// - Parameters:
  ///   - held: The ids of the held items.
  ///   - incoming: The ids of the new list.
  ///   - stays: Whether the held item at this index is merged if it is not in the new list.
  /// - Returns: The merged items.
  package static func union(
    of held: PackedIDs,
    and incoming: PackedIDs,
    where stays: (Int) -> Bool = { _ in true }
  ) -> Union {
    // The held items to be placed after each item of the new list, by its index. -1 is the beginning of the section.
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
