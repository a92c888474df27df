import Synchronization
import Transport

/// What a store listed once, for those who look up many pictures.
final class KeptListing: Sendable {
  /// The store.
  let keeper: any PictureKeeping
  private let found = Mutex<[String: KeptObject]?>(nil)

  init(_ keeper: any PictureKeeping) {
    self.keeper = keeper
  }

  /// What is kept, by path; asked for when it is first wanted.
  ///
  /// - Throws: ``CacheError`` when the store does not tell.
  func objects() throws(CacheError) -> [String: KeptObject] {
    if let known = found.withLock({ $0 }) { return known }
    var objects: [String: KeptObject] = [:]
    try keeper.forEach { object in objects[object.path] = object }
    found.withLock { [objects] in $0 = objects }
    return objects
  }

  /// Has the next look ask again.
  func forget() { found.withLock { $0 = nil } }
}
