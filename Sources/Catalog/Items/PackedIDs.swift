/// The ids of a section's items in their order, packed into one array of bytes and indexed by a hash table.
///
/// If there are a million ids, each takes about 30 bytes. In a dictionary of strings, each would take five times as
/// much.
///
/// A section can list the same id several times. The items with this id are then its first occurrence, its second
/// occurrence and so on.
package struct PackedIDs: Sendable {
  /// The ids, each with a zero byte behind it.
  private let bytes: [UInt8]
  /// The offset in `bytes` where each id ends.
  private let ends: [Int]
  /// A hash table with open addressing.
  ///
  /// A slot has the index of the first item with an id, or -1 if it is free.
  private var slots: [Int32]
  /// The indices of the second, third, … item with an id, by the index of the first item with this id.
  private var later: [Int: [Int]] = [:]
  /// The number of earlier items with the same id, by the item's index.
  ///
  /// Items without such an earlier item are left out.
  private var occurrences: [Int: Int] = [:]

  /// Packs the ids of a section's items.
  package init(_ ids: some Sequence<String>) {
    var bytes: [UInt8] = []
    var ends: [Int] = []
    for id in ids {
      bytes += id.utf8
      ends.append(bytes.count)
      bytes.append(0)
    }
    self.init(bytes, ends)
  }

  /// Takes ids that are already packed.
  ///
  /// Each id must end with a zero byte.
  package init(zeroEnded bytes: [UInt8]) {
    self.init(bytes, bytes.indices.filter { bytes[$0] == 0 })
  }

  private init(_ bytes: [UInt8], _ ends: [Int]) {
    (self.bytes, self.ends) = (bytes, ends)
    var size = 1
    while size < 2 * ends.count { size *= 2 }
    slots = [Int32](repeating: -1, count: size)
    for place in ends.indices { enter(place) }
  }

  /// The number of items.
  package var count: Int { ends.count }

  /// The id of the item at an index.
  package subscript(place: Int) -> String { String(decoding: bytes[range(place)], as: UTF8.self) }

  /// The items that repeat the id of an earlier item.
  ///
  /// `place` is the index of such an item, and `first` is the index of the first item with the same id.
  ///
  /// The items are in the order of the section.
  package var repeats: [(place: Int, first: Int)] {
    later.flatMap { first, places in places.map { ($0, first) } }.sorted { $0.place < $1.place }
  }

  /// The number of earlier items with the same id as the item at the index `place`.
  package func occurrence(at place: Int) -> Int { occurrences[place] ?? 0 }

  /// Finds the item that corresponds to an item of another section.
  ///
  /// Both have the same id. If the other item is, for example, the second one with this id in its section, the result
  /// is the second one in this section.
  ///
  /// - Parameters:
  ///   - place: The index of the item in the other section.
  ///   - other: The ids of the other section.
  /// - Returns: The index in this section, or nil if there is no such item.
  package func counterpart(of place: Int, in other: PackedIDs) -> Int? {
    guard let first = first(like: place, in: other) else { return nil }
    let occurrence = other.occurrence(at: place)
    guard occurrence > 0 else { return first }
    let others = later[first] ?? []
    return occurrence <= others.count ? others[occurrence - 1] : nil
  }

  /// The index of the first item with the same id as an item of another section, or nil if there is none.
  package func first(like place: Int, in other: PackedIDs) -> Int? {
    let first = Int(slots[slot(of: other.bytes[other.range(place)])])
    return first < 0 ? nil : first
  }

  private func range(_ place: Int) -> Range<Int> {
    (place == 0 ? 0 : ends[place - 1] + 1)..<ends[place]
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

  /// The index of the slot with an id, or of the free slot where the id belongs.
  private func slot(of id: ArraySlice<UInt8>) -> Int {
    // `Hasher` has a different seed in each process. Therefore a shop cannot choose ids that all get the same slot,
    // which would make the search slow.
    var hasher = Hasher()
    id.withUnsafeBytes { hasher.combine(bytes: $0) }
    var slot = hasher.finalize() & (slots.count - 1)
    while slots[slot] >= 0, !bytes[range(Int(slots[slot]))].elementsEqual(id) {
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }
}
