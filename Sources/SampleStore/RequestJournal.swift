import Dispatch
import NIOHTTP1
import Synchronization

/// The requests so far; a record is there before the first byte of its answer leaves.
final class RequestJournal: Sendable {
  private struct Entries {
    var records: [RequestRecord] = []
    var waiting: [(count: Int, signal: DispatchSemaphore)] = []
  }

  private let state = Mutex(Entries())
  private let isOn = Atomic(true)

  var keeps: Bool {
    get { isOn.load(ordering: .relaxed) }
    set { isOn.store(newValue, ordering: .relaxed) }
  }

  var records: [RequestRecord] {
    state.withLock { $0.records }
  }

  func clear() {
    state.withLock { $0.records = [] }
  }

  func add(_ record: @autoclosure () -> RequestRecord) {
    guard keeps else { return }
    let record = record()
    state.withLock { state in
      state.records.append(record)
      guard !state.waiting.isEmpty else { return }
      for waiter in state.waiting where waiter.count <= state.records.count {
        waiter.signal.signal()
      }
      state.waiting.removeAll { $0.count <= state.records.count }
    }
  }

  /// Blocks until there are `count` records; false when time runs out first.
  func wait(for count: Int, seconds: Double) -> Bool {
    let signal = DispatchSemaphore(value: 0)
    let isThere = state.withLock { state in
      if state.records.count >= count { return true }
      state.waiting.append((count, signal))
      return false
    }
    return isThere || signal.wait(timeout: .now() + seconds) == .success
  }
}

/// One request to the store, with its answer.
package struct RequestRecord: Sendable {
  /// `GET`, `HEAD`, `POST` and so on.
  package let method: String
  /// The path as sent.
  package let path: String
  /// The query as sent, without its question mark.
  package let query: String?
  /// The status in the answer; nil when a fault left none.
  package let status: Int?
  /// Body bytes that were to be sent, without framing.
  package let bytes: Int

  let head: HTTPHeaders

  /// The header lines as sent.
  package var headers: [HeaderField] {
    head.map { HeaderField($0.name, $0.value) }
  }
}
