import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Cache

/// `WorkGroup`, which waits for the end of started work and checks its own use.
///
/// The tests run one after the other, because the process of an exit test is not awaited while other tests run.
@Suite(.serialized) struct WorkGroupTests {
  @Test func `join waits for all work, including work that enters later`() {
    let group = WorkGroup()
    let done = Atomic<Int>(0)
    let queue = DispatchQueue(label: "work", attributes: .concurrent)
    for _ in 0..<100 {
      group.enter()
      queue.async {
        group.enter()
        queue.async {
          done.add(1, ordering: .relaxed)
          group.leave()
        }
        done.add(1, ordering: .relaxed)
        group.leave()
      }
    }

    group.join()

    #expect(done.load(ordering: .relaxed) == 200)
  }

  @Test func `joining an empty group returns at once, also repeatedly`() {
    let group = WorkGroup()

    group.join()
    group.join()
  }

  @Test func `notify runs after the last leave`() {
    let group = WorkGroup()
    let told = DispatchSemaphore(value: 0)
    group.enter()
    group.notify(queue: .global()) { told.signal() }

    #expect(told.wait(timeout: .now()) == .timedOut)
    group.leave()

    #expect(told.wait(timeout: .now() + 5) == .success)
  }

  @Test func `leaving more often than entering ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let group = WorkGroup()
      group.enter()
      group.leave()
      group.leave()
    }
  }

  @Test func `leaving after the join ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let group = WorkGroup()
      group.join()
      group.leave()
    }
  }

  @Test func `entering after the join ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let group = WorkGroup()
      group.enter()
      group.leave()
      group.join()
      group.enter()
    }
  }

  @Test func `releasing a group before all have left ends the process`() async {
    await #expect(processExitsWith: .failure) {
      func forget() {
        let group = WorkGroup()
        group.enter()
      }
      forget()
    }
  }
}
