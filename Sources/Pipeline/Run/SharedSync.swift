import Base
import Cache
import Transport

/// The differences between a plain sync and the runs of a shared sync, which many machines carry out together.
///
/// One run plans a shared sync. Then each shard fetches some of the pictures into the cache. At the end, a sync merges
/// the results.
package struct SharedSync: Sendable {
  /// The name of the list to which a picture with this URL is assigned; nil unless this run is a plan.
  ///
  /// The run does not request the pictures that are due. Afterwards, ``Index/forEachDue(_:_:)`` reads them.
  package var list: (@Sendable (WebURL) -> String)?
  /// Takes pictures into the index: those of the shards in a merge, or those of the cache in a plan.
  ///
  /// It is called when the run holds the cache's lock, and before anything is fetched.
  package var imported: (@Sendable (CacheLayout, Index) throws(LarderError) -> ImportedPictures)?

  /// Makes the value for a plain sync.
  package init() {}
}

/// The pictures that a merge or a plan has taken into the index.
package struct ImportedPictures: Sendable {
  /// The counts of these pictures.
  package var counts = SyncReport.Pictures()
  /// The number of requests that the shards sent.
  package var requests = 0
  /// In a merge, the pictures that the shards fetched.
  package var answers: ShardAnswers?

  /// Makes the value for no pictures yet.
  package init() {}
}

extension SyncReport.Pictures {
  /// Counts pictures as the shards did, although the merge itself found them fresh.
  mutating func add(_ shards: SyncReport.Pictures) {
    let fetched = min(shards.fetched, fresh)
    let revalidated = min(shards.revalidated, fresh - fetched)
    fresh -= fetched + revalidated
    self.fetched += fetched
    self.revalidated += revalidated
    changed += min(shards.changed, fetched)
    if fetched > 0 { bytesFetched += shards.bytesFetched }
  }
}
