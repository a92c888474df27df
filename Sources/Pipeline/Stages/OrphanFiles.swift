import Cache
import Synchronization
import Transport

/// The files that a killed run left without a row, until a picture claims them or the end of the run sweeps them.
///
/// Who gets a file is decided under the lock, and what is done to it is done after: no other picture can claim a
/// file that is claimed, the picture asks its origin only after its claim has ended, and the run sweeps only once
/// all pictures have.
final class OrphanFiles: Sendable {
  private let recovery: Recovery
  private let paths: Mutex<Set<String>>

  /// The orphans that a recovery found.
  init(_ recovery: Recovery) {
    self.recovery = recovery
    paths = Mutex(recovery.orphans)
  }

  /// Whether there are files that nobody claimed.
  var isEmpty: Bool { paths.withLock { $0.isEmpty } }

  /// Adopts the file that lies where a picture belongs; nil when there is none, or it is no picture.
  func adopt(_ id: PictureID, url: WebURL) throws(CacheError) -> PictureEntry? {
    guard !isEmpty else { return nil }
    let claimed = PictureEntry(id: id, url: url.text)
    guard paths.withLock({ $0.remove(claimed.name.path) }) != nil else { return nil }
    return try recovery.adopt(claimed)
  }

  /// Removes the files that nobody claimed.
  ///
  /// - Parameter kept: paths that a catalog claims although this run did not ask for them.
  /// - Throws: ``CacheError`` when one cannot be removed.
  func sweep(except kept: Set<String>) throws(CacheError) {
    let nobodys = paths.withLock { paths in
      defer { paths.formIntersection(kept) }
      return paths.subtracting(kept)
    }
    try recovery.remove(nobodys)
  }
}
