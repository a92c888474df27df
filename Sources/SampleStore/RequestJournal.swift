import Dispatch
import Synchronization

/// The requests that the store has received.
///
/// Each request is recorded before the first byte of its answer is sent.
final class RequestJournal: Sendable {
  private struct Entries {
    var records: [RequestRecord] = []
    var waiting: [(count: Int, signal: DispatchSemaphore)] = []
  }

  private let state = Mutex(Entries())

  var records: [RequestRecord] {
    state.withLock { $0.records }
  }

  func clear() {
    state.withLock { $0.records = [] }
  }

  func add(_ record: RequestRecord) {
    state.withLock { state in
      state.records.append(record)
      let count = state.records.count
      for waiter in state.waiting where waiter.count == count { waiter.signal.signal() }
      state.waiting.removeAll { $0.count == count }
    }
  }

  /// Blocks until at least `count` requests are recorded; returns false after `seconds`.
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

/// A request to the store, with the status and the size of its answer.
package struct RequestRecord: Sendable {
  /// The method, such as `GET`, `HEAD` or `POST`.
  package let method: String
  /// The path as it was sent.
  package let path: String
  /// The query as it was sent, without the question mark; nil if the request had none.
  package let query: String?
  /// The header lines as they were sent.
  package let headers: [HeaderField]
  /// The body as it was sent; empty if it was too long.
  package let body: [UInt8]
  /// The time at which the request had arrived completely, in seconds since 1970.
  package let arrival: Double
  /// The status of the answer; nil if a fault prevented the answer.
  package internal(set) var status: Int?
  /// The number of body bytes that the store meant to send, without the framing of chunks.
  package internal(set) var bytes = 0
}
