import Synchronization

/// One line on stderr that counts what is done of a total, when progress is shown.
final class CountDisplay: Sendable {
  private let state: CountState
  private let display: ProgressDisplay?

  /// A display of what `verb` does to things that `noun` names, in the plural.
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

/// What the display draws, noted by the work and read by the drawing.
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

/// The line as a value: what is done of all, what failed, the time that is left, and the rate.
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
