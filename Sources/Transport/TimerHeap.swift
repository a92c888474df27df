/// Things that are due at a moment, the earliest first.
struct TimerHeap<Element: Sendable>: Sendable {
  private var entries: [(moment: MonotonicTime, order: Int, element: Element)] = []
  private var pushed = 0

  var earliest: MonotonicTime? { entries.first?.moment }

  mutating func push(_ element: Element, at moment: MonotonicTime) {
    pushed += 1
    entries.append((moment, pushed, element))
    var child = entries.count - 1
    while child > 0, isBefore(child, (child - 1) / 2) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func pop() -> Element? {
    guard let last = entries.indices.last else { return nil }
    entries.swapAt(0, last)
    let earliest = entries.removeLast()
    var parent = 0
    while true {
      let children = (2 * parent + 1)..<min(2 * parent + 3, max(entries.count, 2 * parent + 1))
      guard let least = children.min(by: isBefore), isBefore(least, parent) else { break }
      entries.swapAt(least, parent)
      parent = least
    }
    return earliest.element
  }

  /// Equal moments keep the order in which they were pushed.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (entries[left].moment, entries[left].order) < (entries[right].moment, entries[right].order)
  }
}
