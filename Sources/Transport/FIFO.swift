/// First in, first out, each at constant cost.
struct FIFO<Element: Sendable>: Sendable {
  private var items: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == items.count }
  var count: Int { items.count - head }
  var first: Element? { isEmpty ? nil : items[head] }

  mutating func append(_ item: Element) {
    items.append(item)
  }

  mutating func prepend(_ item: Element) {
    if head > 0 {
      head -= 1
      items[head] = item
    } else {
      items.insert(item, at: 0)
    }
  }

  mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    let item = items[head]
    head += 1
    // Moving the rest once half is used up costs each element one move on average.
    if head == items.count {
      items.removeAll(keepingCapacity: items.capacity <= 1024)
      head = 0
    } else if head > 1024, head * 2 > items.count {
      items.removeFirst(head)
      head = 0
    }
    return item
  }
}
