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
  /// What is in the room, and who waits before it.
  struct Occupancy {
    private let room: ByteCount
    private var waiting: ByteCount = 0
    /// What the blocked thread brings; it cannot leave before that thread continues.
    private var blocked: ByteCount?

    /// A room for so many bytes.
    init(room: ByteCount) {
      self.room = room
    }

    /// Counts `bytes` in, and says whether who brings them has to wait.
    mutating func enter(_ bytes: ByteCount) -> Bool {
      precondition(bytes >= 0, "a negative number of bytes enters")
      precondition(blocked == nil, "a second thread enters while one waits")
      waiting += bytes
      blocked = waiting > room && waiting > bytes ? bytes : nil
      return blocked != nil
    }

    /// Counts `bytes` out, and says whether who waits may continue.
    mutating func leave(_ bytes: ByteCount) -> Bool {
      precondition(bytes >= 0, "a negative number of bytes leaves")
      precondition(bytes <= waiting - (blocked ?? 0), "more bytes leave than have entered")
      waiting -= bytes
      guard let blocked, waiting - blocked <= ByteCount(room.count / 2) else { return false }
      self.blocked = nil
      return true
    }
  }

  private let occupancy: Mutex<Occupancy>
  private let opened = DispatchSemaphore(value: 0)

  /// A gate with room for `room` bytes.
  init(room: ByteCount) {
    occupancy = Mutex(Occupancy(room: room))
  }

  /// Counts `bytes` in, and waits while there is no room.
  ///
  /// Whatever its size, one always fits when nothing else waits.
  func enter(_ bytes: ByteCount) {
    if occupancy.withLock({ $0.enter(bytes) }) { opened.wait() }
  }

  /// Counts `bytes` out.
  func leave(_ bytes: ByteCount) {
    if occupancy.withLock({ $0.leave(bytes) }) { opened.signal() }
  }
}
