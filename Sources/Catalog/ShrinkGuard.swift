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
    var remaining: [String: Int] = [:]
    for item in incoming { remaining[item.id, default: 0] += 1 }

    // Each withheld item is hung behind the nearest listing before it that the feed still has;
    // nil is the head of the section.
    var followers: [Anchor?: [StoreItem]] = [:]
    var occurrences: [String: Int] = [:]
    var anchor: Anchor?
    var withheld: [String] = []
    for item in previous {
      let occurrence = occurrences[item.id, default: 0]
      occurrences[item.id] = occurrence + 1
      if occurrence < remaining[item.id, default: 0] {
        anchor = Anchor(id: item.id, occurrence: occurrence)
      } else {
        followers[anchor, default: []].append(item)
        withheld.append(item.id)
      }
    }
    return Verdict(items: arranged(incoming, with: followers), withheld: withheld)
  }

  private static func arranged(
    _ incoming: [StoreItem],
    with followers: [Anchor?: [StoreItem]]
  ) -> [StoreItem] {
    var items = followers[nil] ?? []
    var occurrences: [String: Int] = [:]
    for item in incoming {
      let occurrence = occurrences[item.id, default: 0]
      occurrences[item.id] = occurrence + 1
      items.append(item)
      items += followers[Anchor(id: item.id, occurrence: occurrence)] ?? []
    }
    return items
  }

  /// One listing of an item within its section.
  private struct Anchor: Hashable {
    let id: String
    let occurrence: Int
  }
}
