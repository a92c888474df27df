import Base
import Dispatch
import Glibc
import Synchronization

/// Starts work at the moments of an ``ArrivalSchedule``, in the order in which it was added.
///
/// The first work to come is due at once and sets the schedule's start. Work that comes too late
/// for its moment starts at once and is told the moment it missed.
final class Pacer: Sendable {
  private struct Arrivals {
    var waiting: [@Sendable (MonotonicTime) -> Void] = []
    var next = 0
    var started = 0
    var schedule: ArrivalSchedule?
    var isRunning = false
    var isReleased = false
  }

  private let rate: Double
  private let now: @Sendable () -> MonotonicTime
  private let state = Mutex(Arrivals())
  private let queue = DispatchQueue(label: "larder.pacer")

  /// A pacer with this number of starts a second.
  init(rate: Double, now: @escaping @Sendable () -> MonotonicTime) {
    self.rate = rate
    self.now = now
  }

  /// Adds work; it is told when it was due.
  func add(_ work: @escaping @Sendable (MonotonicTime) -> Void) {
    let moment = now()
    let mustRun = state.withLock { state in
      if state.schedule == nil { state.schedule = ArrivalSchedule(start: moment, rate: rate) }
      state.waiting.append(work)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustRun { queue.async { self.run() } }
  }

  /// Lets all that waits start at once: called before it is cancelled, so that each piece of work ends.
  func release() {
    state.withLock { $0.isReleased = true }
  }

  /// Whether ``release()`` was called.
  var isReleased: Bool { state.withLock { $0.isReleased } }

  private func run() {
    while let (work, moment) = take() {
      sleep(until: moment)
      work(moment)
    }
  }

  private func take() -> ((@Sendable (MonotonicTime) -> Void), MonotonicTime)? {
    state.withLock { state in
      guard state.next < state.waiting.count, let schedule = state.schedule else {
        state.waiting = []
        state.next = 0
        state.isRunning = false
        return nil
      }
      defer {
        state.next += 1
        state.started += 1
      }
      return (state.waiting[state.next], schedule.moment(of: state.started))
    }
  }

  /// Sleeps in naps, so that a release does not have to wait.
  private func sleep(until moment: MonotonicTime) {
    while !isReleased {
      let left = moment - now()
      guard left > 0 else { return }
      let nap = min(left, 50_000_000)
      var time = timespec(tv_sec: 0, tv_nsec: Int(nap))
      nanosleep(&time, nil)
    }
  }
}

/// Requests at a constant rate: each has a due time, independent of earlier ones.
///
/// Latency counted from these moments has no coordinated omission: while an answer is late, the
/// requests that were due meanwhile are late too, and say so.
struct ArrivalSchedule: Sendable, Equatable {
  /// When the first is due.
  let start: MonotonicTime
  /// Requests a second.
  let rate: Double

  /// When the request of that number is due; numbers count from 0.
  func moment(of number: Int) -> MonotonicTime {
    start + .nanoseconds(Int64((Double(number) * 1e9 / rate).rounded()))
  }
}
