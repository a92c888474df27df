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
    /// Items that no transaction has taken yet, in order.
    var waiting: [ListedRecords] = []
    /// Their bytes.
    var bytes = 0
  }

  private let index: Index
  private let queue = DispatchQueue(label: "larder.items")
  /// Held for as long as a transaction takes, and so of no use to anyone but the queue.
  private let kept = Mutex(Kept())
  /// Why the index could not be written; nothing is kept after that.
  private let failure = Mutex<CacheError?>(nil)
  /// How many windows wait, or are at work, before who decodes them has to wait: more than a transaction takes, so that
  /// neither waits for the other.
  private let places = DispatchSemaphore(value: 10)
  /// Items that were kept, for who adds to let go of.
  ///
  /// That thread also made them: memory that another one frees has both wait for the allocator's lock.
  private let spent = Mutex<[ListedRecords]>([])

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

  /// Keeps items behind those before; waits while too many windows are under way.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - listing: The listing that they belong to, counted from 0.
  /// - Throws: ``CacheError`` when the index could not be written.
  func add(_ items: [ItemRecord], to listing: Int = 0) throws(CacheError) {
    places.wait()
    letGo()
    queue.async { [self] in
      kept.withLock { take(ListedRecords(listing: listing, items: items), into: &$0) }
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
    letGo()
    try demandSuccess()
    return listings
  }

  private func letGo() {
    var items: [ListedRecords] = []
    spent.withLock { swap(&$0, &items) }
  }

  private func demandSuccess() throws(CacheError) {
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private func take(_ items: ListedRecords, into kept: inout Kept) {
    guard failure.withLock({ $0 == nil }) else { return }
    while kept.listings.count <= items.listing { kept.listings.append(ListingDraft()) }
    kept.waiting.append(items)
    kept.bytes += items.byteCount
    if kept.bytes >= batch { commit(&kept) }
  }

  private func commit(_ kept: inout Kept) {
    guard failure.withLock({ $0 == nil }) else { return }
    do throws(CacheError) {
      try index.keep(kept.waiting, in: &kept.listings)
    } catch {
      failure.withLock { $0 = error }
    }
    spent.withLock { $0 += kept.waiting }
    kept.waiting.removeAll(keepingCapacity: true)
    kept.bytes = 0
  }
}
