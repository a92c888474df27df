import Dispatch
import Pipeline
import Transport

/// One line on stderr, redrawn ten times a second, gone when the work has ended.
// SAFETY: nothing is changed after init, and dispatch's own objects may be used on any thread.
final class ProgressDisplay: @unchecked Sendable {
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "larder.display")
  private let draw: @Sendable () -> Void

  /// Starts drawing.
  ///
  /// - Parameter line: the line for so many seconds since the start and so many columns; empty for none.
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

  /// Starts drawing how far a sync is.
  convenience init(_ progress: SyncProgress) {
    self.init { ProgressLine(progress.snapshot, seconds: $0).text(width: $1) }
  }

  /// Stops drawing and takes the line away, drawn a last time so that a record of the terminal has it.
  func end() {
    timer.cancel()
    above(draw)
    above {}
  }

  /// Prints with the line out of the way; it comes back with the next drawing.
  func above(_ print: () -> Void) {
    queue.sync {
      Output.raw("\r\u{1B}[K")
      print()
    }
  }
}

/// What every progress line does: a bar for what is done, and parts that give way to a narrow terminal.
struct ProgressParts {
  /// How much of all is done, 0 to 1; nil while nothing is known.
  let fraction: Double?
  /// How long the work has taken.
  let seconds: Double
  /// The parts, what matters least last.
  var words: [String] = []

  /// A guess from the pace so far; nil when it is too early for one.
  var secondsLeft: Double? {
    guard let fraction, fraction > 0.02, fraction < 1, seconds > 0.5 else { return nil }
    return seconds * (1 - fraction) / fraction
  }

  /// The line, cut to `width` columns: the bar goes first, then the last parts.
  func text(width: Int) -> String {
    var words = words
    var line = "\(bar(20)) " + words.joined(separator: "  ")
    if columns(line) > width { line = words.joined(separator: "  ") }
    while columns(line) > width, words.count > 1 {
      words.removeLast()
      line = words.joined(separator: "  ")
    }
    return columns(line) > width ? "" : line
  }

  private func bar(_ width: Int) -> String {
    let filled = Int(min(max(fraction ?? 0, 0), 1) * Double(width))
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: "-", count: width - filled) + "]"
  }
}

/// How far a sync is, as a value: what is done of all, bytes, rate, and the time that is left.
struct ProgressLine {
  private let snapshot: SyncProgress.Snapshot
  private let seconds: Double

  init(_ snapshot: SyncProgress.Snapshot, seconds: Double) {
    self.snapshot = snapshot
    self.seconds = seconds
  }

  /// The line, cut to `width` columns: what matters least goes first.
  func text(width: Int) -> String {
    var parts = ProgressParts(fraction: fraction, seconds: seconds)
    parts.words = [
      "sections \(count(snapshot.sections))", "details \(count(snapshot.details))",
      "pictures \(count(snapshot.pictures))",
    ]
    if snapshot.failed > 0 { parts.words.append("\(snapshot.failed) failed") }
    parts.words.append(Quantities.bytes(snapshot.bytes))
    if seconds > 0 {
      let rate = ByteCount(Int64(Double(snapshot.bytes.count) / seconds))
      parts.words.append("\(Quantities.bytes(rate))/s")
    }
    // Once every section is known the total is, too.
    if snapshot.sections.done == snapshot.sections.total, let left = parts.secondsLeft {
      parts.words.append("\(Quantities.duration(left)) left")
    }
    // Three counts are more than the narrowest terminals hold; pictures are most of the work.
    if parts.words[..<3].joined(separator: "  ").count > width {
      parts.words.removeFirst(2)
    }
    return parts.text(width: width)
  }

  private func count(_ count: SyncProgress.Count) -> String {
    "\(count.done)/\(count.total)"
  }

  /// How much of all that is known is done; nil while nothing is known.
  private var fraction: Double? {
    let counts = [snapshot.sections, snapshot.details, snapshot.pictures]
    let total = counts.reduce(0) { $0 + $1.total }
    guard total > 0 else { return nil }
    return Double(counts.reduce(0) { $0 + $1.done }) / Double(total)
  }
}
