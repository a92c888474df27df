import Base
import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import Cache

/// `ByteGate`, which blocks a thread until its bytes fit into the memory allowed.
///
/// The tests run one after the other, because the process of an exit test is not awaited while other tests run.
@Suite(.serialized) struct ByteGateTests {
  /// Enters the gate on another thread.
  ///
  /// The semaphore is signalled when that thread has entered.
  private func enter(_ gate: ByteGate, _ bytes: ByteCount) -> DispatchSemaphore {
    let through = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      gate.enter(bytes)
      through.signal()
    }
    return through
  }

  @Test func `bytes that fit enter at once, and an empty gate admits any number of bytes`() {
    let gate = ByteGate(capacity: 100)

    gate.enter(60)
    gate.enter(40)
    gate.leave(60)
    gate.leave(40)
    gate.enter(5000)
    gate.leave(5000)
  }

  @Test func `a waiter enters when half of the room is free`() {
    let gate = ByteGate(capacity: 100)
    gate.enter(60)
    gate.enter(40)

    let through = enter(gate, 10)
    #expect(through.wait(timeout: .now() + 0.02) == .timedOut)
    gate.leave(40)
    #expect(through.wait(timeout: .now() + 0.02) == .timedOut)
    gate.leave(60)

    #expect(through.wait(timeout: .now() + 10) == .success)
  }

  @Test func `an entry larger than half of the room enters once the gate is empty`() {
    let gate = ByteGate(capacity: 100)
    gate.enter(50)

    let through = enter(gate, 80)
    gate.leave(50)

    #expect(through.wait(timeout: .now() + 5) == .success)
  }

  @Test func `leaving with more bytes than entered ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let gate = ByteGate(capacity: 100)
      gate.enter(40)
      gate.leave(41)
    }
  }

  @Test func `leaving twice ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let gate = ByteGate(capacity: 100)
      gate.enter(40)
      gate.leave(40)
      gate.leave(40)
    }
  }

  @Test func `bytes that still wait cannot leave`() async {
    await #expect(processExitsWith: .failure) {
      var room = ByteGate.Occupancy(capacity: 100)
      guard !room.enter(90), room.enter(50) else { return }
      _ = room.leave(91)
    }
  }

  @Test func `no waiter is missed, however many enter and leave`() {
    let gate = ByteGate(capacity: 64)
    let waiting = Mutex<[ByteCount]>([])
    let there = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      for _ in 0..<20_000 {
        there.wait()
        gate.leave(waiting.withLock { $0.removeFirst() })
      }
      done.signal()
    }

    for number in 0..<20_000 {
      let bytes = ByteCount(number % 90 + 1)
      gate.enter(bytes)
      waiting.withLock { $0.append(bytes) }
      there.signal()
    }

    #expect(done.wait(timeout: .now() + 10) == .success)
  }
}
