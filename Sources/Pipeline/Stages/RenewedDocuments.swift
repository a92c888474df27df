import Cache
import Synchronization

/// The rows of documents that did not change, which wait to be written together.
///
/// Each would be a transaction of its own, of five `fdatasync`. Until it is written, the row of before holds: were it
/// lost, the next run would ask about the document once more.
final class RenewedDocuments: Sendable {
  /// How many wait at most.
  static let most = 128

  private let index: Index
  private let waiting = Mutex<[DocumentID: DocumentEntry]>([:])

  /// Nothing yet, for `index`.
  init(_ index: Index) {
    self.index = index
  }

  /// Takes a document with what its origin now says of it.
  ///
  /// - Throws: ``CacheError`` when many waited and the index cannot be written.
  func add(_ document: DocumentEntry) throws(CacheError) {
    let count = waiting.withLock { waiting in
      waiting[document.id] = document
      return waiting.count
    }
    if count >= Self.most { try write() }
  }

  /// Drops a document that is about to be written by itself, for its body is another now.
  func forget(_ id: DocumentID) {
    waiting.withLock { $0[id] = nil }
  }

  /// Takes out what waits, to be written with something else.
  func take() -> [DocumentEntry] {
    waiting.withLock { waiting in
      defer { waiting = [:] }
      return Array(waiting.values)
    }
  }

  private func write() throws(CacheError) {
    let documents = take()
    if !documents.isEmpty { try index.store(documents) }
  }
}
