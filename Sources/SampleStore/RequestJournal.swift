import Dispatch
import Synchronization

/// The requests so far; a record is there before the first byte of its answer leaves.
final class RequestJournal: Sendable {
  private struct State {
    var records: [RequestRecord] = []
    var waiting: [(count: Int, signal: DispatchSemaphore)] = []
  }

  private let state = Mutex(State())
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

  /// Blocks until so many records are there; false when time runs out first.
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
