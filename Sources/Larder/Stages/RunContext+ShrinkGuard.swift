import Cache
import Catalog

extension RunContext {
  /// What to show of a section: the feed's items, and those whose sudden loss looks like a fault.
  func guardShrinking(
    _ section: DecodedSection,
    shown: Int64?
  ) throws(CacheError) -> (listing: Int64, withheld: [String]) {
    guard let shown, shown != section.listing,
      !options.allowRemovals,
      ShrinkGuard.isSuspicious(
        previous: try index.itemCount(listing: shown),
        incoming: try index.itemCount(listing: section.listing)
      )
    else { return (section.listing, []) }
    let before = try items(shown)
    let incoming = try items(section.listing)
    let verdict = ShrinkGuard.judge(previous: before, incoming: incoming, allowRemovals: false)
    guard !verdict.withheld.isEmpty else { return (section.listing, []) }
    let records = verdict.items.map { ItemRecord($0) }
    return (try index.keepListing(records), verdict.withheld)
  }
}
