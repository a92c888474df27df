/// The ids of a section's items in order, packed into one array of bytes.
///
/// A million ids take some 30 bytes each, where a dictionary of texts takes five times that. Items with the same id are
/// distinguished by their occurrence: the first, the second and so on.
package struct PackedIDs: Sendable {
  private let bytes: [UInt8]
  /// Where each id ends, counted from the beginning.
  private let ends: [Int]
  /// The number of bytes between two ids.
  private let gap: Int
  /// A hash table with open addressing: the first item of each id, or -1.
  private var slots: [Int32]
  /// The later items with the same id, by the place of the first.
  private var later: [Int: [Int]] = [:]
  /// How many items with the same id precede an item, unless it is the first.
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

  /// Takes ids that are packed already, each ended by a zero byte.
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

  /// How many items there are.
  package var count: Int { ends.count }

  /// The id of an item.
  package subscript(place: Int) -> String { String(decoding: bytes[range(place)], as: UTF8.self) }

  /// The items that repeat an earlier id, each with the first item of that id, in order.
  package var repeats: [(place: Int, first: Int)] {
    later.flatMap { first, places in places.map { ($0, first) } }.sorted { $0.place < $1.place }
  }

  /// How many items before this one have its id.
  package func occurrence(at place: Int) -> Int { occurrences[place] ?? 0 }

  /// The item with the same id and the same occurrence, first or second, as an item of another list.
  ///
  /// - Parameters:
  ///   - place: The item's place in the other list.
  ///   - other: The ids of the other list.
  /// - Returns: The place in this list; nil when there is none.
  package func counterpart(of place: Int, in other: PackedIDs) -> Int? {
    guard let first = first(like: place, in: other) else { return nil }
    let occurrence = other.occurrence(at: place)
    guard occurrence > 0 else { return first }
    let others = later[first] ?? []
    return occurrence <= others.count ? others[occurrence - 1] : nil
  }

  /// The first item with the id of an item of another list; nil when there is none.
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

  /// The slot that holds an id, or is free for it.
  private func slot(of id: ArraySlice<UInt8>) -> Int {
    // The seed differs in each process: no feed can choose ids that share a slot.
    var hasher = Hasher()
    id.withUnsafeBytes { hasher.combine(bytes: $0) }
    var slot = hasher.finalize() & (slots.count - 1)
    while slots[slot] >= 0, !bytes[range(Int(slots[slot]))].elementsEqual(id) {
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }
}
