import Base
import Cache
import Pipeline
import Synchronization

/// The catalog that the server serves, as of the last change of the cache's index.
///
/// The index is the SQLite database of the cache. When a run or the server itself changes it, the next request opens a
/// new ``CatalogSnapshot``.
package final class OpenCatalog: Sendable {
  /// The catalog's name.
  package let name: String
  private let cache: String
  private let counter: IndexChangeCounter
  private let snapshot: Mutex<CatalogSnapshot>
  /// Held while a snapshot is opened, so that concurrent requests open only one.
  private let opening = Mutex<Void>(())

  /// Opens a catalog.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - catalog: The catalog's name. If it is nil, the cache must have exactly one catalog.
  /// - Throws: ``LarderError`` when there is no such cache or catalog.
  package init(cache: String, catalog: String?) throws(LarderError) {
    self.cache = cache
    counter = IndexChangeCounter(cache: cache)
    let first = try CatalogSnapshot(cache, catalog, counter)
    name = first.reader.catalog.name
    snapshot = Mutex(first)
  }

  /// The currency of the catalog's prices, such as `KRW`.
  package var currency: String { snapshot.withLock { $0.reader.catalog.currency } }

  /// The open snapshot; nil if the index has changed since the snapshot was opened.
  ///
  /// If the result is nil, call ``renewed()`` on a thread that is not an event loop.
  var current: CatalogSnapshot? {
    guard let reading = counter.read() else { return nil }
    return snapshot.withLock { $0.reading == reading ? $0 : nil }
  }

  /// The open snapshot, if the index has not changed and can be read; blocks.
  ///
  /// A writer that was killed can leave a journal, which SQLite rolls back when the index is opened again.
  private var readable: CatalogSnapshot? {
    current.flatMap { $0.reader.isReadable ? $0 : nil }
  }

  /// A snapshot of the present index, which is opened if necessary; blocks.
  func renewed() throws(LarderError) -> CatalogSnapshot {
    if let readable { return readable }
    return try opening.withLock { _ throws(LarderError) in
      if let readable { return readable }
      let new = try CatalogSnapshot(cache, name, counter)
      snapshot.withLock { $0 = new }
      return new
    }
  }

  /// Checks that the catalog's sections can be read, for `/healthz`; blocks.
  ///
  /// - Throws: ``LarderError`` when they cannot be read.
  func demandReadable() throws(LarderError) { _ = try renewed().reader.sections() }
}

/// A catalog as of one state of the index, with the answers that were made from that state.
final class CatalogSnapshot: Sendable {
  let reader: CatalogReader
  /// The state of the index when it was opened; nil if the state could not be read.
  let reading: IndexChangeCounter.Reading?
  /// The pictures that were requested, by their path, with the side of a square before it.
  let images = LRUCache<ServedImage>(most: 8 << 20)
  /// The identities of pictures that were requested and that the catalog does not show.
  let unknown = LRUCache<Void>(most: 2 << 20)
  /// The answers of the JSON interface, by ``InterfaceQuery/key``.
  let answers = LRUCache<PreparedAnswer>(most: 16 << 20)

  init(_ cache: String, _ catalog: String?, _ counter: IndexChangeCounter) throws(LarderError) {
    // Read the counter before the index is opened, so that the data is never older than the counter.
    reading = counter.read()
    reader = try CatalogReader(cache: cache, catalog: catalog)
  }

  /// Whether the catalog shows a picture; blocks.
  ///
  /// A picture that it does not show is looked up only once, because that can take long.
  func shows(_ picture: PictureEntry) throws(LarderError) -> Bool {
    guard unknown[picture.identity] == nil else { return false }
    if try reader.shows(picture) { return true }
    unknown.add((), cost: 0, for: picture.identity)
    return false
  }
}

/// A cache that drops the values that were not used for the longest time, approximately.
///
/// The values are in two generations, a young one and an old one. When the young generation reaches half of the limit,
/// it becomes the old generation, and the previous old generation is dropped. A value that is used moves to the young
/// generation, so it is not dropped.
final class LRUCache<Value: Sendable>: Sendable {
  private struct Generations {
    var young: [ExactText: (value: Value, cost: Int)] = [:]
    var old: [ExactText: (value: Value, cost: Int)] = [:]
    /// The cost of the young generation, in bytes.
    var cost = 0
  }

  private let most: Int
  private let state = Mutex(Generations())

  /// Creates an empty cache.
  ///
  /// - Parameter most: The limit for all values together, in bytes.
  init(most: Int) { self.most = most }

  subscript(key: String) -> Value? {
    let key = key.exact
    return state.withLock { state in
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
    state.withLock { add(value, cost, key.exact, &$0) }
  }

  private func add(_ value: Value, _ cost: Int, _ key: ExactText, _ state: inout Generations) {
    if state.cost + cost > most / 2 {
      state.old = state.young
      (state.young, state.cost) = ([:], 0)
    }
    state.cost += cost - (state.young[key]?.cost ?? 0)
    state.young[key] = (value, cost)
  }
}
