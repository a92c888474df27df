import Cache
import Dispatch
import Synchronization

/// Keeps the items of a page's listings in the index while the page's next windows are decoded.
///
/// Many windows share a transaction: items are found by their digests, and as these are scattered, each transaction
/// writes most of that index anew.
final class ItemLane: Sendable {
  private struct Kept {
    var listings: [ListingDraft] = []
    /// Items that no transaction has taken yet.
    var waiting: [ItemRecord] = []
    /// How many of these, one after the other, belong to which listing.
    var shares: [(listing: Int, count: Int)] = []
    /// Their bytes.
    var bytes = 0
  }

  private let index: Index
  private let queue = DispatchQueue(label: "larder.items")
  /// Held for as long as a transaction takes, and so of no use to anyone but the queue.
  private let kept = Mutex(Kept())
  /// Why the index could not be written; nothing is kept after that.
  private let failure = Mutex<CacheError?>(nil)
  /// How many windows wait, or are at work, before who decodes them has to wait: each is several times its bytes.
  private let places = DispatchSemaphore(value: 4)

  /// How many bytes of items make a transaction.
  private let batch: Int

  /// A lane into an index.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - batch: How many bytes of items make a transaction.
  init(_ index: Index, batch: Int = 16 << 20) {
    self.index = index
    self.batch = batch
  }

  /// Keeps the items that `append` adds, behind those before; waits while too many windows are under way.
  ///
  /// - Parameters:
  ///   - listing: The listing that they belong to, counted from 0.
  ///   - append: Adds them.
  /// - Throws: ``CacheError`` when the index could not be written.
  func add(
    to listing: Int = 0,
    _ append: @escaping @Sendable (inout [ItemRecord]) -> Void
  ) throws(CacheError) {
    places.wait()
    queue.async { [self] in
      kept.withLock { take(append, to: listing, into: &$0) }
      places.signal()
    }
    try demandSuccess()
  }

  /// Waits until all items are kept.
  ///
  /// - Returns: The listings that they make.
  /// - Throws: ``CacheError`` when the index could not be written.
  func finish() throws(CacheError) -> [ListingDraft] {
    let listings = queue.sync {
      kept.withLock { kept in
        commit(&kept)
        return kept.listings
      }
    }
    try demandSuccess()
    return listings
  }

  private func demandSuccess() throws(CacheError) {
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private func take(
    _ append: (inout [ItemRecord]) -> Void,
    to listing: Int,
    into kept: inout Kept
  ) {
    guard failure.withLock({ $0 == nil }) else { return }
    while kept.listings.count <= listing { kept.listings.append(ListingDraft()) }
    let first = kept.waiting.count
    append(&kept.waiting)
    kept.shares.append((listing, kept.waiting.count - first))
    for record in kept.waiting[first...] { kept.bytes += record.body.count }
    if kept.bytes >= batch { commit(&kept) }
  }

  private func commit(_ kept: inout Kept) {
    guard failure.withLock({ $0 == nil }) else { return }
    do throws(CacheError) {
      try index.keep(kept.waiting, kept.shares, in: &kept.listings)
    } catch {
      failure.withLock { $0 = error }
    }
    kept.waiting.removeAll(keepingCapacity: true)
    kept.shares.removeAll(keepingCapacity: true)
    kept.bytes = 0
  }
}
