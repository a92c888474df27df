import Base
import Cache
import Catalog
import Orders
import Pipeline

/// A filter for change notices: the kinds, price drops and items that a webhook receives.
package struct NoticeWish: Sendable, Hashable {
  /// The kinds of changes; never empty.
  package var kinds = Set(Notice.Kind.allCases)
  /// The least price drop to report, as a share of the old price: 0.1 is 10 %.
  ///
  /// Nil reports every change of a price.
  package var drop: Double?
  /// The ids of the items to report; empty for all items.
  package var items: Set<String> = []

  /// Makes a filter that matches every change.
  package init() {}

  /// A string that identifies the filter: equal filters have equal strings.
  private var text: String {
    let kinds = kinds.map(\.rawValue).sorted().joined(separator: ",")
    let parts = [kinds, drop.map { "drop \($0)" } ?? ""] + items.sorted()
    // Each part is prefixed with its length. No separator is safe: SQLite ends a text at a zero byte, and an id may
    // contain any other character.
    return parts.map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// The changes in a catalog since a run, without those that the filter excludes.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - run: The run after which the changes begin.
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

  /// One item's changes, without those that the filter excludes.
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

  /// Whether the price fell by at least ``drop``.
  private func hasFallen(_ net: NetChange) -> Bool {
    guard let drop else { return true }
    guard let old = net.price, let new = net.newPrice, old.currency == new.currency else {
      return false
    }
    // The tolerance is needed because a share such as 0.1 is not exact in binary.
    return Double(old.minorUnits) - Double(new.minorUnits) >= drop * Double(old.minorUnits) - 1e-6
      && new.minorUnits < old.minorUnits
  }

  /// Queues a notice of the changes in a catalog since the last notice; queues nothing when there are none.
  ///
  /// The first notice of a filter covers the changes of the last run. The notice is durable when this returns.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - cache: The cache's path, which must always be spelt the same: it is a part of the subscription's key.
  ///   - webhook: The webhook that receives the notice.
  ///   - outbox: The database in which the notice waits for its delivery.
  ///   - language: The language of the notice.
  ///   - now: The current time.
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
      // If this notice was not stored, another process has just queued another notice. The next round looks for changes
      // after that notice.
      if isKept { return }
    }
  }
}
