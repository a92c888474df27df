import Base
import Cache
import Pipeline
import Synchronization

/// The present catalog, and the answers made from it so far.
///
/// A run beside the server changes the index; the next request then finds a new ``CatalogSnapshot``.
package final class OpenCatalog: Sendable {
  private let cache: String
  private let catalog: String?
  private let counter: IndexChangeCounter
  private let edition = Mutex<CatalogSnapshot?>(nil)
  /// Held while an edition is opened, so that many who find the old one out of date open one new one.
  private let opening = Mutex<Void>(())

  /// Opens a catalog.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - catalog: Which of its catalogs; nil for the only one.
  /// - Throws: ``LarderError`` when there is no such cache or catalog.
  package init(cache: String, catalog: String?) throws(LarderError) {
    (self.cache, self.catalog) = (cache, catalog)
    counter = IndexChangeCounter(cache: cache)
    _ = try renewed()
  }

  /// The catalog's name.
  package var name: String { edition.withLock { $0?.reader.catalog.name } ?? "" }

  /// The edition that is up to date; nil when it has yet to be opened, with ``renewed()`` and off the event loop.
  var current: CatalogSnapshot? {
    guard let reading = counter.read() else { return nil }
    return edition.withLock { $0?.reading == reading ? $0 : nil }
  }

  /// The edition that is up to date, opened now if it has to be; blocks.
  func renewed() throws(LarderError) -> CatalogSnapshot {
    if let current { return current }
    let result: Result<CatalogSnapshot, LarderError> = opening.withLock { _ in
      if let current { return .success(current) }
      do throws(LarderError) {
        // Before the index is opened: the data read then is of that state, or newer.
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

  /// Reads the catalog's sections, as each request does; blocks.
  ///
  /// - Throws: ``LarderError`` when they cannot be read.
  func demandReadable() throws(LarderError) { _ = try renewed().reader.sections() }
}

/// The catalog at a moment, with the answers that were made of it.
final class CatalogSnapshot: Sendable {
  let reader: CatalogReader
  let reading: IndexChangeCounter.Reading?
  /// Pictures that were asked for, by path and size of square.
  let images = LRUCache<ServedImage>(most: 8 << 20)
  /// Answers of the interface, by target.
  let answers = LRUCache<PreparedAnswer>(most: 16 << 20)

  init(_ reader: CatalogReader, _ reading: IndexChangeCounter.Reading?) {
    (self.reader, self.reading) = (reader, reading)
  }
}

/// A cache of values by key, limited in bytes: when half of that is full, values without a request since the last time
/// go.
final class LRUCache<Value: Sendable>: Sendable {
  private struct Generations {
    var young: [String: (value: Value, cost: Int)] = [:]
    var old: [String: (value: Value, cost: Int)] = [:]
    var cost = 0
  }

  private let most: Int
  private let state = Mutex(Generations())

  /// An empty cache of values.
  ///
  /// - Parameter most: The most bytes that all values may take together.
  init(most: Int) { self.most = most }

  subscript(key: String) -> Value? {
    state.withLock { state in
      if let found = state.young[key] { return found.value }
      guard let found = state.old[key] else { return nil }
      add(found.value, found.cost, key, &state)
      return found.value
    }
  }

  /// Adds a value, unless it is too large for the cache.
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
