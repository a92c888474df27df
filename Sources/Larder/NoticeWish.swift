import Base
import Cache
import Catalog
import Orders
import Pipeline

/// A filter for notices of changes.
///
/// It selects the kinds of changes, the price drops and the items that a webhook receives.
package struct NoticeWish: Sendable, Hashable {
  /// The kinds of changes; never empty.
  package var kinds = Set(Notice.Kind.allCases)
  /// The smallest price drop to report, as a share of the old price, such as 0.1 for 10 %.
  ///
  /// With nil, every change of a price is reported.
  package var drop: Double?
  /// The ids of the items to report; empty for all items.
  package var items: Set<ExactText> = []

  /// Makes a filter that matches every change.
  package init() {}

  /// A string that identifies the filter.
  ///
  /// Equal filters have equal strings.
  private var text: String {
    let kinds = kinds.map(\.rawValue).sorted().joined(separator: ",")
    let parts = [kinds, drop.map { "drop \($0)" } ?? ""] + items.map(\.text).sorted()
    // Each part follows its own length. A separator would not be safe, because SQLite ends a text at a zero byte, and
    // an id can contain any other character.
    return parts.map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// The changes in a catalog since a run that the filter selects.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - run: The last run before the changes.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func changes(
    of reader: CatalogReader,
    after run: RunID
  ) throws(LarderError) -> [Notice.Change] {
    let found = try reader.netChanges(after: run).filter {
      items.isEmpty || items.contains($0.id.exact)
    }
    var changes = found.flatMap(changes)
    if kinds.contains(.failed) {
      for failure in try reader.newFailures(after: run) {
        if !items.isEmpty, failure.id.map({ items.contains($0.exact) }) != true { continue }
        var change = Notice.Change(.failed, id: failure.id)
        (change.toText, change.url) = (failure.reason, failure.url)
        changes.append(change)
      }
    }
    return changes
  }

  /// The changes of a notice that later syncs took back, in the opposite direction, and those that it told so itself.
  ///
  /// The notice may have arrived, and then its receiver believes something that is no longer true.
  ///
  /// - Parameters:
  ///   - told: The notice.
  ///   - changes: The changes that the next notice tells anyway.
  ///   - reader: The catalog.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  private func reversals(
    of told: Notice,
    besides changes: [Notice.Change],
    _ reader: CatalogReader
  ) throws(LarderError) -> [Notice.Change] {
    let known = Set(changes.compactMap { $0.id?.exact })
    var reversals: [Notice.Change] = []
    for old in told.changes {
      guard let id = old.id, old.kind != .failed, !known.contains(id.exact) else { continue }
      let item = try reader.show(id)
      if let reversal = Self.reversal(of: old, at: id, now: item) {
        if kinds.contains(reversal.kind) { reversals.append(reversal) }
      } else if told.mayRepeat, (item == nil) == (old.kind == .removed) {
        // The notice that it corrected may have arrived, and this one not.
        reversals.append(old)
      }
    }
    return reversals
  }

  /// The change from what a notice told of an item to what holds now; nil if that is the same.
  private static func reversal(
    of old: Notice.Change,
    at id: String,
    now item: ShownItem?
  ) -> Notice.Change? {
    var change = old
    (change.fromPrice, change.fromText) = (old.toPrice, old.toText)
    (change.toPrice, change.toText) = (nil, nil)
    switch (old.kind, item) {
    case (.price, let item?):
      change.toPrice = item.item.price
      return change.toPrice == old.toPrice ? nil : change
    case (.badge, let item?):
      let badges = item.item.badges.joined(separator: ", ")
      change.toText = badges.isEmpty ? nil : badges
      return change.toText == old.toText ? nil : change
    case (.picture, _?): return change
    case (.added, nil), (.back, nil):
      change = Notice.Change(.removed, section: old.section, id: id)
      (change.title, change.url) = (old.title, old.url)
      return change
    case (.removed, let item?):
      change = Notice.Change(.back, section: item.sections.first, id: id)
      (change.title, change.toPrice, change.url) = (item.item.title, item.item.price, old.url)
      return change
    default: return nil
    }
  }

  /// The changes of one item that the filter selects.
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
    // The tolerance of 1e-6 is needed because a share such as 0.1 is not exact in binary.
    return Double(old.minorUnits) - Double(new.minorUnits) >= drop * Double(old.minorUnits) - 1e-6
      && new.minorUnits < old.minorUnits
  }

  /// Queues a notice of the changes in a catalog since the last notice.
  ///
  /// If there are no changes, nothing is queued.
  ///
  /// The first notice of a filter reports the changes of the last run. When this function returns, the notice survives
  /// a crash.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - cache: The path of the cache. It must always be spelt the same, because it is a part of the outbox's key for
  ///     the record of the changes that were already reported.
  ///   - webhook: The webhook that the notice is sent to.
  ///   - outbox: The database that stores the notice until it is delivered.
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
      // If the cache was rebuilt, its runs are counted from 1 again, so a reported run can have a higher number than
      // the last run.
      var after = start.after ?? before.rawValue
      if max(after, start.told ?? 0) > last.id.rawValue { after = before.rawValue }
      var changes = try changes(of: reader, after: RunID(rawValue: after))
      if start.mayRepeat, let told = start.content {
        changes += try reversals(of: told, besides: changes, reader)
      }
      let notice = Notice(
        catalog: reader.catalog.name,
        run: last.id.rawValue,
        time: OrderTime(seconds: (last.finished ?? last.started).seconds),
        language: language,
        changes
      )
      let isKept = try outbox.keep(
        notice,
        for: subscription,
        at: webhook,
        behind: after,
        through: last.id.rawValue,
        from: start,
        at: now
      )
      // If this notice was not stored, another process has queued a notice meanwhile. The next round of the loop looks
      // for changes after that other notice.
      if isKept { return }
    }
  }
}
