/// The ids of a section's items in order, packed into one array of bytes.
///
/// In a list of a million ids, each takes about 30 bytes. In a dictionary of texts, each would take five times as much.
/// Items with the same id are distinguished by their occurrence: the first, the second and so on.
package struct PackedIDs: Sendable {
  private let bytes: [UInt8]
  /// The offset in `bytes` where each id ends.
  private let ends: [Int]
  /// The number of bytes between two adjacent ids.
  private let gap: Int
  /// A hash table with open addressing: the index of the first item with each id, or -1.
  private var slots: [Int32]
  /// The indices of later items with the same id, by the index of the first item.
  private var later: [Int: [Int]] = [:]
  /// How many earlier items have the same id, by the item's index; first items are left out.
  private var occurrences: [Int: Int] = [:]

  /// Packs ids.
  package init(_ ids: some Sequence<String>) {
    var bytes: [UInt8] = []
    var ends: [Int] = []
    for id in ids {
      bytes += id.utf8
      ends.append(bytes.count)
    }
    self.init(bytes, ends, gap: 0)
  }

  /// Takes ids that are already packed; each ends with a zero byte.
  package init(zeroEnded bytes: [UInt8]) {
    self.init(bytes, bytes.indices.filter { bytes[$0] == 0 }, gap: 1)
  }

  private init(_ bytes: [UInt8], _ ends: [Int], gap: Int) {
    (self.bytes, self.ends, self.gap) = (bytes, ends, gap)
    var size = 1
    while size < 2 * ends.count { size *= 2 }
    slots = [Int32](repeating: -1, count: size)
    for place in ends.indices { enter(place) }
  }

  /// The number of items.
  package var count: Int { ends.count }

  /// The id of the item at an index.
  package subscript(place: Int) -> String { String(decoding: bytes[range(place)], as: UTF8.self) }

  /// The items that repeat an earlier id, each with the first item that has the id.
  ///
  /// They are in the order of the list.
  package var repeats: [(place: Int, first: Int)] {
    later.flatMap { first, places in places.map { ($0, first) } }.sorted { $0.place < $1.place }
  }

  /// How many earlier items have the same id as the item at the index `place`.
  package func occurrence(at place: Int) -> Int { occurrences[place] ?? 0 }

  /// Finds the item with the same id and the same occurrence (first, second and so on) as an item of another list.
  ///
  /// - Parameters:
  ///   - place: The index of the item in the other list.
  ///   - other: The ids of the other list.
  /// - Returns: The index in this list; nil when there is no such item.
  package func counterpart(of place: Int, in other: PackedIDs) -> Int? {
    guard let first = first(like: place, in: other) else { return nil }
    let occurrence = other.occurrence(at: place)
    guard occurrence > 0 else { return first }
    let others = later[first] ?? []
    return occurrence <= others.count ? others[occurrence - 1] : nil
  }

  /// The index of the first item with the same id as an item of another list; nil when there is none.
  package func first(like place: Int, in other: PackedIDs) -> Int? {
    let first = Int(slots[slot(of: other.bytes[other.range(place)])])
    return first < 0 ? nil : first
  }

  private func range(_ place: Int) -> Range<Int> {
    (place == 0 ? 0 : ends[place - 1] + gap)..<ends[place]
  }

  private mutating func enter(_ place: Int) {
    let slot = slot(of: bytes[range(place)])
    guard slots[slot] >= 0 else {
      slots[slot] = Int32(place)
      return
    }
    let first = Int(slots[slot])
    later[first, default: []].append(place)
    occurrences[place] = later[first]?.count
  }

  /// The slot of the hash table that holds an id, or the free slot for it.
  private func slot(of id: ArraySlice<UInt8>) -> Int {
    // Each process has its own seed. Therefore no feed can choose ids that share a slot.
    var hasher = Hasher()
    id.withUnsafeBytes { hasher.combine(bytes: $0) }
    var slot = hasher.finalize() & (slots.count - 1)
    while slots[slot] >= 0, !bytes[range(Int(slots[slot]))].elementsEqual(id) {
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }
}
