import Dispatch
import Synchronization
import Transport

/// Holds the transfer thread back while too many received bytes wait to be written.
///
/// One thread enters and may wait; any other leaves. The waiting one is woken once half of the
/// room is free again, so that it does not wake for every picture.
///
/// What enters leaves, once and with the same number of bytes. Every breach of that ends the process: more
/// that leaves than entered would let any amount of memory fill, and less would stop the transfers for ever.
final class ByteGate: Sendable {
  private struct State {
    var waiting: ByteCount = 0
    /// What the blocked thread brings; it cannot leave before that thread continues.
    var blocked: ByteCount?
  }

  private let state = Mutex(State())
  private let opened = DispatchSemaphore(value: 0)
  private let room: ByteCount

  /// A gate with room for `room` bytes.
  init(room: ByteCount) {
    self.room = room
  }

  /// Counts `bytes` in, and waits while there is no room.
  ///
  /// Whatever its size, one always fits when nothing else waits.
  func enter(_ bytes: ByteCount) {
    precondition(bytes >= 0, "a negative number of bytes enters")
    let mustWait = state.withLock { state in
      precondition(state.blocked == nil, "a second thread enters while one waits")
      state.waiting += bytes
      state.blocked = state.waiting > room && state.waiting > bytes ? bytes : nil
      return state.blocked != nil
    }
    if mustWait { opened.wait() }
  }

  /// Counts `bytes` out.
  func leave(_ bytes: ByteCount) {
    precondition(bytes >= 0, "a negative number of bytes leaves")
    let wakes = state.withLock { state in
      precondition(
        bytes <= state.waiting - (state.blocked ?? 0),
        "more bytes leave than have entered"
      )
      state.waiting -= bytes
      guard let blocked = state.blocked, state.waiting - blocked <= ByteCount(room.count / 2)
      else { return false }
      state.blocked = nil
      return true
    }
    if wakes { opened.signal() }
  }

  /// Whether nobody waits.
  var isFree: Bool { state.withLock { $0.blocked == nil } }
}
