// Checks that the sanitizer, with race.c preloaded, still distinguishes a race from a contended lock: without an
// argument nothing may be reported, with one the race below must be.
import Dispatch
import Synchronization

final class Counter: @unchecked Sendable {
  // SAFETY: none, on purpose, for `unguarded`; `guarded` is a Mutex.
  var unguarded = 0
  let guarded = Mutex(0)
}

let counter = Counter()
/// Makes both blocks wait for each other, because a single thread that ran them in turn would not race.
/// Relaxed, because a stronger ordering would hide the planted race.
let arrived = Atomic(0)
let isPlanted = CommandLine.arguments.count > 1
let group = DispatchGroup()
for number in 0..<2 {
  DispatchQueue(label: "race.\(number)").async(group: group) {
    arrived.add(1, ordering: .relaxed)
    while arrived.load(ordering: .relaxed) < 2 {}
    for _ in 0..<20_000 { counter.guarded.withLock { $0 += 1 } }
    if isPlanted { counter.unguarded += 1 }
  }
}
group.wait()
