import Base
import Cache
import Pipeline
import Synchronization

/// The current catalog of the server, and the answers made from it so far.
///
/// When a run changes the index, the next request opens a new ``CatalogSnapshot``.
package final class OpenCatalog: Sendable {
  private let cache: String
  private let catalog: String?
  private let counter: IndexChangeCounter
  private let edition = Mutex<CatalogSnapshot?>(nil)
  /// Held while a snapshot is opened, so that concurrent requests open only one.
  private let opening = Mutex<Void>(())

  /// Opens a catalog.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - catalog: The catalog's name; nil for the only one.
  /// - Throws: ``LarderError`` when there is no such cache or catalog.
  package init(cache: String, catalog: String?) throws(LarderError) {
    (self.cache, self.catalog) = (cache, catalog)
    counter = IndexChangeCounter(cache: cache)
    _ = try renewed()
  }

  /// The catalog's name.
  package var name: String { edition.withLock { $0?.reader.catalog.name } ?? "" }

  /// The snapshot; nil if it is not up to date.
  ///
  /// In that case, call ``renewed()``, but not on an event loop.
  var current: CatalogSnapshot? {
    guard let reading = counter.read() else { return nil }
    return edition.withLock { $0?.reading == reading ? $0 : nil }
  }

  /// An up-to-date snapshot, opened if necessary; blocks.
  func renewed() throws(LarderError) -> CatalogSnapshot {
    if let current { return current }
    let result: Result<CatalogSnapshot, LarderError> = opening.withLock { _ in
      if let current { return .success(current) }
      do throws(LarderError) {
        // Read the counter before the index is opened, so that the data is never older than the counter.
        let reading = counter.read()
        let reader = try CatalogReader(cache: cache, catalog: catalog)
        let edition = CatalogSnapshot(reader, reading)
        self.edition.withLock { $0 = edition }
        return .success(edition)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Checks that the catalog's sections can be read, for `/healthz`; blocks.
  ///
  /// - Throws: ``LarderError`` when they cannot be read.
  func demandReadable() throws(LarderError) { _ = try renewed().reader.sections() }
}

/// A catalog as of one state of the index, with the answers made from it.
final class CatalogSnapshot: Sendable {
  let reader: CatalogReader
  let reading: IndexChangeCounter.Reading?
  /// Requested pictures, by path and size of square.
  let images = LRUCache<ServedImage>(most: 8 << 20)
  /// Answers of the interface, by ``InterfaceQuery/key``.
  let answers = LRUCache<PreparedAnswer>(most: 16 << 20)

  init(_ reader: CatalogReader, _ reading: IndexChangeCounter.Reading?) {
    (self.reader, self.reading) = (reader, reading)
  }
}

/// An approximate LRU cache of two generations, limited in bytes.
///
/// When the young generation reaches half of the limit, it replaces the old generation. Values of the replaced
/// generation that were not requested in the meantime are dropped.
final class LRUCache<Value: Sendable>: Sendable {
  private struct Generations {
    var young: [String: (value: Value, cost: Int)] = [:]
    var old: [String: (value: Value, cost: Int)] = [:]
    var cost = 0
  }

  private let most: Int
  private let state = Mutex(Generations())

  /// Creates an empty cache.
  ///
  /// - Parameter most: The limit for all values together, in bytes.
  init(most: Int) { self.most = most }

  subscript(key: String) -> Value? {
    state.withLock { state in
      if let found = state.young[key] { return found.value }
      guard let found = state.old[key] else { return nil }
      add(found.value, found.cost, key, &state)
      return found.value
    }
  }

  /// Adds a value, unless it is larger than an eighth of the limit.
  func add(_ value: Value, cost: Int, for key: String) {
    let cost = cost + 2 * key.utf8.count + 128
    guard cost < most / 8 else { return }
    state.withLock { add(value, cost, key, &$0) }
  }

  private func add(_ value: Value, _ cost: Int, _ key: String, _ state: inout Generations) {
    if state.cost + cost > most / 2 {
      state.old = state.young
      (state.young, state.cost) = ([:], 0)
    }
    state.cost += cost - (state.young[key]?.cost ?? 0)
    state.young[key] = (value, cost)
  }
}
