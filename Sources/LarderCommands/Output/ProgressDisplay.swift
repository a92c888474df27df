import Base
import CurlTransport
import Dispatch
import Pipeline
import Synchronization
import Transport

/// One line on stderr, redrawn ten times a second, gone when the work has ended.
// SAFETY: nothing is changed after init, and dispatch's own objects may be used on any thread.
final class ProgressDisplay: @unchecked Sendable {
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "larder.display")
  private let draw: @Sendable () -> Void

  /// Starts drawing.
  ///
  /// - Parameter line: the line for the seconds since the start and the columns; empty for none.
  init(_ line: @escaping @Sendable (_ seconds: Double, _ width: Int) -> String) {
    timer = DispatchSource.makeTimerSource(queue: queue)
    let began = ContinuousClock.now
    draw = {
      let text = line((ContinuousClock.now - began) / .seconds(1), Terminal.width - 1)
      Output.raw("\r\(text)\u{1B}[K")
    }
    timer.setEventHandler(handler: draw)
    timer.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100))
    timer.resume()
  }

  /// Starts drawing the progress of a sync and of its transport.
  convenience init(_ progress: ProgressMeter, of transport: CurlTransport) {
    self.init {
      ProgressLine(progress.current, transport.activity, seconds: $0).text(width: $1)
    }
  }

  /// Stops drawing and takes the line away, drawn a last time so that a record of the terminal has it.
  func end() {
    timer.cancel()
    queue.sync {
      draw()
      Self.clear()
    }
  }

  /// Prints with the line out of the way, and draws it again: it would flicker if it came back with the next
  /// drawing alone.
  func above(_ print: () -> Void) {
    queue.sync {
      Self.clear()
      print()
      draw()
    }
  }

  private static func clear() { Output.raw("\r\u{1B}[K") }
}

/// The common part of all progress lines: a bar, and parts that are dropped on a narrow terminal.
struct ProgressParts {
  /// How much of all is done, 0 to 1; nil while nothing is known.
  let fraction: Double?
  /// How long the work has taken.
  let seconds: Double
  /// The parts, the least important last.
  var words: [String] = []

  /// A guess from the pace so far; nil when it is too early for one.
  var secondsLeft: Double? {
    guard let fraction, fraction > 0.02, fraction < 1, seconds > 0.5 else { return nil }
    return seconds * (1 - fraction) / fraction
  }

  /// The columns of the short bar, with its brackets.
  static let shortBar = 13

  /// The line, cut to `width` columns: the bar is cut and goes first, then the last parts.
  func text(width: Int) -> String {
    let lines = [20, 10].lazy.map { "\(bar($0)) " + Self.line(words) }
    return lines.first { columns($0) <= width } ?? Self.line(words, width: width)
  }

  /// The parts side by side, cut to `width` columns: the last go first, and none is cut.
  static func line(_ words: [String], width: Int = .max) -> String {
    var words = words
    var line = words.joined(separator: "  ")
    while columns(line) > width {
      words.removeLast()
      line = words.joined(separator: "  ")
    }
    return line
  }

  private func bar(_ width: Int) -> String {
    let filled = Int(min(max(fraction ?? 0, 0), 1) * Double(width))
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: "-", count: width - filled) + "]"
  }
}

/// The progress of a sync, as a value: finished and total counts, retries, bytes, rate, the remaining time and the
/// present host.
struct ProgressLine {
  private let snapshot: SyncProgress
  private let activity: TransferActivity
  private let seconds: Double

  init(
    _ snapshot: SyncProgress,
    _ activity: TransferActivity = TransferActivity(),
    seconds: Double
  ) {
    self.snapshot = snapshot
    self.activity = activity
    self.seconds = seconds
  }

  /// The line, cut to `width` columns: the least important parts go first.
  func text(width: Int) -> String {
    var parts = ProgressParts(fraction: fraction, seconds: seconds)
    var trouble: [String] = []
    if snapshot.failed > 0 { trouble.append("\(snapshot.failed) failed") }
    if activity.retrying > 0 { trouble.append("\(activity.retrying) retrying") }
    var rest = [ByteCount(snapshot.bytes).formatted()]
    if seconds > 0 {
      let rate = ByteCount(Int64(Double(snapshot.bytes) / seconds))
      rest.append("\(rate.formatted())/s")
    }
    // Once every section is known the total is, too.
    if snapshot.sections.isComplete, let left = parts.secondsLeft {
      rest.append("\(Quantities.duration(left)) left")
    }
    if let host = activity.host { rest.append(host) }
    // A terminal of 80 columns has room for a bar, too.
    parts.words = chosen(width < 60 ? width : width - ProgressParts.shortBar, trouble, rest)
    return parts.text(width: width)
  }

  /// The parts that there is room for.
  ///
  /// Counts without information go before the last part of `rest`, and that before the counts of unfinished work.
  private func chosen(_ width: Int, _ trouble: [String], _ rest: [String]) -> [String] {
    let counts = [
      ("sections", snapshot.sections), ("details", snapshot.details),
      ("pictures", snapshot.pictures),
    ]
    func words(_ counts: [(String, SyncProgress.Count)]) -> [String] {
      counts.map { "\($0) \($1.done)/\($1.total)" }
    }
    let all = words(counts)
    // Details are complete for good once the sections are; a count of nothing has not begun.
    let open = words(counts.drop { $1.isComplete }.filter { $1.total > 0 })
    let last = open.last ?? all[2]
    for length in stride(from: rest.count, through: 0, by: -1) {
      for counts in [all, open] where !counts.isEmpty {
        let words = counts + trouble + rest.prefix(length)
        if columns(ProgressParts.line(words)) <= width { return words }
      }
    }
    // Three counts are more than the narrowest terminals hold; pictures are most of the work.
    return [last] + trouble + rest
  }

  /// How much of all that is known is done; nil while nothing is known.
  private var fraction: Double? {
    let counts = [snapshot.sections, snapshot.details, snapshot.pictures]
    let total = counts.reduce(0) { $0 + $1.total }
    guard total > 0 else { return nil }
    return Double(counts.reduce(0) { $0 + $1.done }) / Double(total)
  }
}

/// One line on stderr with the finished part of a total, when progress is shown.
final class CountDisplay: Sendable {
  private let state: CountState
  private let display: ProgressDisplay?

  /// A display with a verb and a plural noun, such as "verify" and "pictures".
  init(_ verb: String, _ noun: String, _ terminal: Terminal) {
    let state = CountState(CountLine(verb: verb, noun: noun))
    self.state = state
    display =
      terminal.showsProgress
      ? ProgressDisplay { state.line.text(seconds: $0, width: $1) } : nil
  }

  /// Notes how many of how many are done, and how many of those failed.
  func show(_ done: Int, of total: Int, failed: Int = 0) {
    state.note(done, of: total, failed: failed)
  }

  /// Prints with the line out of the way.
  func above(_ print: () -> Void) {
    if let display { display.above(print) } else { print() }
  }

  /// Takes the line away.
  func end() { display?.end() }
}

/// The values that the display draws, recorded by the work and read by the drawing.
private final class CountState: Sendable {
  private let held: Mutex<CountLine>

  init(_ line: CountLine) {
    held = Mutex(line)
  }

  var line: CountLine { held.withLock { $0 } }

  func note(_ done: Int, of total: Int, failed: Int) {
    held.withLock { line in
      line.done = done
      line.total = total
      line.failed = failed
    }
  }
}

/// The line as a value: finished and total count, failures, the remaining time, and the rate.
struct CountLine: Sendable {
  let verb: String
  let noun: String
  var done = 0
  var total = 0
  var failed = 0

  /// The line, cut to `width` columns; empty while nothing is known.
  func text(seconds: Double, width: Int) -> String {
    guard total > 0 else { return "" }
    var parts = ProgressParts(fraction: Double(done) / Double(total), seconds: seconds)
    parts.words = ["\(verb) \(done)/\(total) \(noun)"]
    if failed > 0 { parts.words.append("\(failed) failed") }
    if let left = parts.secondsLeft { parts.words.append("\(Quantities.duration(left)) left") }
    if seconds > 0.5 { parts.words.append("\(Quantities.rate(Double(done) / seconds))/s") }
    return parts.text(width: width)
  }
}
