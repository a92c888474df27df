import Base
import Dispatch
import Glibc
import Synchronization

/// Starts pieces of work at the times of an ``ArrivalSchedule``, in the order in which they were added.
///
/// The first piece of work is due at once, and its time is the start of the schedule. A piece that is added after its
/// due time starts at once; it is given the due time that it missed.
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

  /// Makes a pacer with a number of starts per second.
  init(rate: Double, now: @escaping @Sendable () -> MonotonicTime) {
    self.rate = rate
    self.now = now
  }

  /// Adds a piece of work, a function that is given its due time.
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

  /// Starts all waiting work at once, without regard to the schedule.
  ///
  /// Call it before a cancellation, so that each piece of work can end.
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

  /// Sleeps in short intervals, so that ``release()`` takes effect quickly.
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

/// The schedule of requests at a constant rate.
///
/// Each request has a due time, which does not depend on earlier requests.
///
/// Latencies are measured from the due times. This avoids coordinated omission: if a slow answer delays later requests,
/// their delay is measured too.
struct ArrivalSchedule: Sendable, Equatable {
  /// The due time of the first request.
  let start: MonotonicTime
  /// The number of requests per second.
  let rate: Double

  /// The due time of a request, given the request's number, counted from 0.
  func moment(of number: Int) -> MonotonicTime {
    start + .nanoseconds(Int64((Double(number) * 1e9 / rate).rounded()))
  }
}
