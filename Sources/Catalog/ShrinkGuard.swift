/// Keeps a section from losing its items to a feed that came back cut short.
public enum ShrinkGuard {
  /// What a section shall hold now.
  public struct Verdict: Hashable, Sendable {
    /// The items to show: the incoming ones, and those withheld from removal.
    public let items: [StoreItem]
    /// The ids of items that the feed no longer lists and that stay all the same.
    public let withheld: [String]
  }

  /// Whether a section of `previous` items that comes back with `incoming` looks cut short: it is
  /// empty, or had more than 10 items and lost more than 10 %.
  public static func isSuspicious(previous: Int, incoming: Int) -> Bool {
    if incoming == 0 { return previous > 0 }
    return previous > 10 && (previous - incoming) * 10 > previous
  }

  /// Whether a catalog that showed `previous` items in all its sections, and would now show `incoming`,
  /// looks cut short: many small sections may each lose a little.
  public static func isSuspicious(catalog previous: Int, incoming: Int) -> Bool {
    previous >= 30 && (previous - incoming) * 10 > previous
  }

  /// Whether it looks like a fault that of `held` details so many are suddenly missing.
  public static func isSuspicious(details held: Int, missing: Int) -> Bool {
    missing >= 3 && missing * 10 > held
  }

  /// Judges a section's new items against those it held.
  ///
  /// A section that comes back empty, or one of more than 10 items with more than 10 % fewer, loses
  /// none: what is new and what changed applies, and each item that would go stays behind its former
  /// predecessor. Since the next run's `previous` holds the withheld ones too, the guard holds until
  /// the feed recovers or removals are allowed.
  ///
  /// - Parameters:
  ///   - previous: The items held, withheld ones included, in order.
  ///   - incoming: The items that the feed lists now, in order.
  ///   - allowRemovals: Whether the user wants the feed to be believed.
  /// - Returns: What to hold from now on.
  public static func judge(
    previous: [StoreItem],
    incoming: [StoreItem],
    allowRemovals: Bool
  ) -> Verdict {
    guard !allowRemovals, isSuspicious(previous: previous.count, incoming: incoming.count) else {
      return Verdict(items: incoming, withheld: [])
    }
    return restore(previous: previous, incoming: incoming)
  }

  /// Keeps all that a section held beside what the feed lists now.
  public static func restore(previous: [StoreItem], incoming: [StoreItem]) -> Verdict {
    let union = union(
      of: PackedIDs(previous.lazy.map(\.id)),
      and: PackedIDs(incoming.lazy.map(\.id))
    )
    let items = union.order.map { source in
      switch source {
      case .incoming(let place): incoming[place]
      case .held(let place): previous[place]
      }
    }
    return Verdict(items: items, withheld: union.withheld.map { previous[$0].id })
  }

  /// What a section holds when nothing of it goes, by the places of items alone.
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

    /// A section of what the feed lists.
    package init(incoming count: Int) { order = (0..<count).map(Source.incoming) }
  }

  /// Puts what a section held beside what the feed lists now.
  ///
  /// - Parameters:
  ///   - previous: The ids of the items held.
  ///   - incoming: The ids of those that the feed lists.
  ///   - stays: Whether an item held, by its place, may stay when the feed does not list it.
  /// - Returns: All of them, each withheld one behind its former predecessor.
  package static func union(
    of previous: PackedIDs,
    and incoming: PackedIDs,
    where stays: (Int) -> Bool = { _ in true }
  ) -> Union {
    // Each withheld item is hung behind the nearest listing before it that the feed still has;
    // -1 is the head of the section.
    var followers: [Int: [Int]] = [:]
    var union = Union(incoming: 0)
    var anchor = -1
    for place in 0..<previous.count {
      if let listed = incoming.counterpart(of: place, in: previous) {
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
