import Base
import Dispatch
import Glibc
import Synchronization

/// Starts pieces of work at the times of an ``ArrivalSchedule``, in the order in which they were added.
///
/// The first piece starts at once, and its time is the start of the schedule. If a piece is added after its planned
/// time, it starts at once too, but it is still given the planned time.
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

  /// Creates a pacer for a number of starts per second.
  init(rate: Double, now: @escaping @Sendable () -> MonotonicTime) {
    self.rate = rate
    self.now = now
  }

  /// Adds a piece of work: a function that is called with its planned time.
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

  /// Starts all waiting work at once, before its planned time.
  ///
  /// Call this before a cancellation, so that each piece of work can end.
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

  /// Sleeps until a time, in short intervals, so that ``release()`` takes effect quickly.
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

/// The planned times of requests at a constant rate.
///
/// The planned time of a request does not depend on earlier requests. If a slow answer delays later requests, their
/// latencies include the delay, because they are measured from the planned times. Otherwise the measurement would hide
/// the delay (coordinated omission).
struct ArrivalSchedule: Sendable, Equatable {
  /// The planned time of the first request.
  let start: MonotonicTime
  /// The number of requests per second.
  let rate: Double

  /// The planned time of a request, given the request's number, counted from 0.
  func moment(of number: Int) -> MonotonicTime {
    start + .nanoseconds(Int64((Double(number) * 1e9 / rate).rounded()))
  }
}
