import Cache
import Synchronization

/// The URLs that a run's feeds name for pictures whose identity is less than their URL, on their way into the index.
///
/// An item keeps the identity alone, so that a new signature changes no item.
final class NewestURLs: Sendable {
  private let index: Index
  private let waiting = Mutex<[(id: PictureID, url: String, identity: String)]>([])
  private let failed: @Sendable (CacheError) -> Void

  /// How many are written in one transaction.
  private static let batch = 4096

  /// Writes into an index, and tells when that fails.
  init(_ index: Index, failed: @escaping @Sendable (CacheError) -> Void) {
    (self.index, self.failed) = (index, failed)
  }

  /// Notes the URLs of pictures.
  func add(_ references: [PictureReference]) {
    let full = waiting.withLock { waiting in
      for reference in references {
        guard case .success(let url) = reference.url else { continue }
        waiting.append((reference.id, url.text, reference.identity))
      }
      return waiting.count >= Self.batch
    }
    if full { flush() }
  }

  /// Writes what waits.
  func flush() {
    let waiting = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    do throws(CacheError) { try index.note(newest: waiting) } catch { failed(error) }
  }
}
