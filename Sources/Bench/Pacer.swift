import Base
import Dispatch
import Glibc
import Synchronization

/// Starts pieces of work at the times of an ``ArrivalSchedule``, in the order in which they were added.
///
/// The first piece starts at once, and its time is the start of the schedule. If a piece is added after its planned
/// time, it starts at once too, but it is still given the planned time.
final class Pacer: Sendable {
  private let rate: Double
  private let arrivals = Mutex<(schedule: ArrivalSchedule?, started: Int)>((nil, 0))
  private let released = Atomic(false)
  private let queue = DispatchQueue(label: "larder.pacer")

  /// Creates a pacer for a number of starts per second.
  init(rate: Double) {
    self.rate = rate
  }

  /// Adds a piece of work: a function that is called with its planned time.
  func add(_ work: @escaping @Sendable (MonotonicTime) -> Void) {
    queue.async { [self] in
      let moment = next()
      sleep(until: moment)
      work(moment)
    }
  }

  /// Starts all waiting work at once, before its planned time.
  ///
  /// Call this before a cancellation, so that each piece of work can end.
  func release() { released.store(true, ordering: .sequentiallyConsistent) }

  /// Whether ``release()`` was called.
  var isReleased: Bool { released.load(ordering: .sequentiallyConsistent) }

  private func next() -> MonotonicTime {
    arrivals.withLock { arrivals in
      let schedule = arrivals.schedule ?? ArrivalSchedule(start: .now(), rate: rate)
      arrivals.schedule = schedule
      defer { arrivals.started += 1 }
      return schedule.moment(of: arrivals.started)
    }
  }

  /// Sleeps until a time, in short intervals, so that ``release()`` takes effect quickly.
  private func sleep(until moment: MonotonicTime) {
    while !isReleased {
      let left = moment - .now()
      guard left > 0 else { return }
      var time = timespec(tv_sec: 0, tv_nsec: Int(min(left, 50_000_000)))
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
