import Base
import Cache
import Catalog
import Orders
import Pipeline

/// Which changes of a catalog somebody is told of.
package struct NoticeWish: Sendable, Hashable {
  /// The kinds; never empty.
  package var kinds = Set(Notice.Kind.allCases)
  /// Of the prices only those that fell by this share of the old one, at least; nil for all.
  package var drop: Double?
  /// Only these items; empty for all.
  package var items: Set<String> = []

  /// A wish for everything.
  package init() {}

  /// The wish in words, the same for the same wish.
  private var text: String {
    let kinds = kinds.map(\.rawValue).sorted().joined(separator: ",")
    let parts = [kinds, drop.map { "drop \($0)" } ?? ""] + items.sorted()
    // With lengths: SQLite ends a text at a zero byte, and an id may hold any other separator.
    return parts.map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// The changes of a catalog after a run, as far as they are wished for.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - run: The run.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func changes(
    of reader: CatalogReader,
    after run: RunID
  ) throws(LarderError) -> [Notice.Change] {
    let found = try reader.netChanges(after: run).filter { items.isEmpty || items.contains($0.id) }
    var changes = found.flatMap(changes)
    if kinds.contains(.failed) {
      for failure in try reader.newFailures(after: run) {
        if !items.isEmpty, failure.id.map(items.contains) != true { continue }
        var change = Notice.Change(.failed, id: failure.id)
        (change.toText, change.url) = (failure.reason, failure.url)
        changes.append(change)
      }
    }
    return changes
  }

  /// The changes of one item, the ones that are wished for.
  private func changes(of net: NetChange) -> [Notice.Change] {
    func change(_ kind: Notice.Kind) -> Notice.Change {
      var change = Notice.Change(kind, section: net.section, id: net.id)
      change.title = net.item?.title
      let images = net.item?.images ?? []
      change.url = (images.first { $0.role == .thumbnail } ?? images.first)?.url
      return change
    }
    var changes: [Notice.Change] = []
    switch net.presence {
    case .added, .back:
      var added = change(net.presence == .added ? .added : .back)
      added.toPrice = net.newPrice
      changes.append(added)
    case .removed: changes.append(change(.removed))
    case .stayed:
      if net.price != net.newPrice, hasFallen(net) {
        var price = change(.price)
        (price.fromPrice, price.toPrice) = (net.price, net.newPrice)
        changes.append(price)
      }
      if net.badges != net.newBadges {
        var badge = change(.badge)
        badge.fromText = net.badges.isEmpty ? nil : net.badges
        badge.toText = net.newBadges.isEmpty ? nil : net.newBadges
        changes.append(badge)
      }
      if net.hasNewPictures { changes.append(change(.picture)) }
    }
    return changes.filter { kinds.contains($0.kind) }
  }

  /// Whether the price fell as far as is wished for.
  private func hasFallen(_ net: NetChange) -> Bool {
    guard let drop else { return true }
    guard let old = net.price, let new = net.newPrice, old.currency == new.currency else {
      return false
    }
    // A share such as 0.1 is no exact number.
    return Double(old.minorUnits) - Double(new.minorUnits) >= drop * Double(old.minorUnits) - 1e-6
      && new.minorUnits < old.minorUnits
  }

  /// Queues a notice of the changes in a catalog since the last one; without changes, none.
  ///
  /// The first notice of a wish tells of the last run. Durable when this returns.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - cache: The cache's path, the same for the same cache.
  ///   - webhook: Where to.
  ///   - outbox: Where notices wait.
  ///   - language: In which people read it.
  ///   - now: When.
  /// - Throws: ``LarderError`` when the index cannot be read or the outbox cannot be written.
  package func tell(
    of reader: CatalogReader,
    cache: String,
    at webhook: Orders.Webhook,
    through outbox: Outbox,
    _ language: Language,
    now: OrderTime
  ) throws(LarderError) {
    let subscription = Subscription(cache: cache, catalog: reader.catalog.name, wish: text)
    while true {
      let (last, before) = try reader.lastRuns()
      let start = try outbox.start(of: subscription, at: webhook)
      // A rebuilt cache counts its runs from 1 again.
      var after = start.after ?? before.rawValue
      if max(after, start.told ?? 0) > last.id.rawValue { after = before.rawValue }
      let notice = Notice(
        catalog: reader.catalog.name,
        run: last.id.rawValue,
        time: OrderTime(seconds: (last.finished ?? last.started).seconds),
        language: language,
        try changes(of: reader, after: RunID(rawValue: after))
      )
      var random = SystemRandomNumberGenerator()
      let isKept = try outbox.keep(
        notice,
        for: subscription,
        at: webhook,
        behind: after,
        through: last.id.rawValue,
        from: start,
        at: now,
        id: OrderID(noticeAt: now, using: &random)
      )
      // Else another process was faster, and its message is not sent again.
      if isKept { return }
    }
  }
}
