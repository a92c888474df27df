import Base
import CurlTransport
import Dispatch
import Pipeline
import Synchronization
import Transport

/// A progress line on stderr, which is redrawn ten times a second and removed at the end.
// SAFETY: all properties are constants, and it is safe to use Dispatch objects on any thread.
final class ProgressDisplay: @unchecked Sendable {
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "larder.display")
  private let draw: @Sendable () -> Void

  /// Starts drawing; nil if the terminal cannot show progress, or the options forbid it.
  ///
  /// - Parameters:
  ///   - output: The output options.
  ///   - line: Makes the line from the seconds since the start and the width of the terminal in columns. If the result
  ///     is empty, no line is shown.
  init?(
    _ output: OutputOptions,
    _ line: @escaping @Sendable (_ seconds: Double, _ width: Int) -> String
  ) {
    guard Terminal(output).showsProgress else { return nil }
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

  /// Shows the progress of a sync and the activity of its transport while `work` runs, if the terminal can show it.
  static func during<Value>(
    _ progress: ProgressMeter,
    of transport: CurlTransport,
    _ output: OutputOptions,
    _ work: () throws -> Value
  ) rethrows -> Value {
    let display = ProgressDisplay(output) {
      ProgressLine(snapshot: progress.current, activity: transport.activity, seconds: $0)
        .text(width: $1)
    }
    defer { display?.end() }
    return try work()
  }

  /// Stops drawing, and removes the line.
  ///
  /// The line is drawn once more before it is removed, so that a recording of the terminal contains the final counts.
  func end() {
    timer.cancel()
    queue.sync {
      draw()
      Self.clear()
    }
  }

  /// Prints text above the line.
  ///
  /// The line is removed, and drawn again right after the text. If it came back only with the next redraw, it would
  /// flicker.
  func above(_ print: () -> Void) {
    queue.sync {
      Self.clear()
      print()
      draw()
    }
  }

  private static func clear() { Output.raw("\r\u{1B}[K") }
}

/// The layout of all progress lines: a bar, then parts such as `pictures 12/40`.
///
/// On a narrow terminal, some parts are left out.
struct ProgressParts {
  /// The fraction of the work that is finished, from 0 to 1; nil while the total is unknown.
  let fraction: Double?
  /// The seconds since the start.
  let seconds: Double
  /// The parts.
  ///
  /// The least important part is the last.
  var words: [String] = []

  /// An estimate of the remaining seconds, from the speed so far.
  ///
  /// The value is nil if it is too early for an estimate, or if the work is finished.
  var secondsLeft: Double? {
    guard let fraction, fraction > 0.02, fraction < 1, seconds > 0.5 else { return nil }
    return seconds * (1 - fraction) / fraction
  }

  /// The width of the short bar in columns, with its brackets and a space.
  static let shortBar = 13

  /// The line, in at most `width` columns.
  ///
  /// If the line is too long, the bar is shortened first. If that is not enough, the bar is left out, and then the last
  /// parts.
  func text(width: Int) -> String {
    let lines = [20, 10].lazy.map { "\(bar($0)) " + Self.line(words) }
    return lines.first { columns($0) <= width } ?? Self.line(words, width: width)
  }

  /// The parts side by side, in at most `width` columns.
  ///
  /// If the line is too long, parts are left out, beginning with the last. A part is never cut.
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

/// The progress line of a sync: finished and total counts, retries, bytes, rate, remaining time and current host.
struct ProgressLine {
  let snapshot: SyncProgress
  var activity = TransferActivity()
  let seconds: Double

  /// The line, in at most `width` columns.
  ///
  /// The least important parts are left out first.
  func text(width: Int) -> String {
    var parts = ProgressParts(fraction: fraction, seconds: seconds)
    let trouble = Quantities.counts([
      (snapshot.failed, "failed"), (activity.retrying, "retrying"),
    ])
    var rest = [ByteCount(snapshot.bytes).formatted()]
    if seconds > 0 {
      let rate = ByteCount(Int64(Double(snapshot.bytes) / seconds))
      rest.append("\(rate.formatted())/s")
    }
    // The total is known only after all sections have been read.
    if snapshot.sections.isComplete, let left = parts.secondsLeft {
      rest.append("\(Quantities.duration(left)) left")
    }
    if let host = activity.host { rest.append(host) }
    // On a terminal of 60 columns or more, there is room for a bar.
    parts.words = chosen(width < 60 ? width : width - ProgressParts.shortBar, trouble, rest)
    return parts.text(width: width)
  }

  /// The parts that fit into `width` columns.
  ///
  /// The counts of work that is finished or has not begun are left out first, then the parts of `rest`, beginning with
  /// the last. The counts of work under way stay longest.
  private func chosen(_ width: Int, _ trouble: [String], _ rest: [String]) -> [String] {
    let counts = [
      ("sections", snapshot.sections), ("details", snapshot.details),
      ("pictures", snapshot.pictures),
    ]
    func words(_ counts: [(String, SyncProgress.Count)]) -> [String] {
      counts.map { "\($0) \($1.done)/\($1.total)" }
    }
    let all = words(counts)
    // A count that is complete, or has a total of 0, tells nothing new. `drop` stops at the first incomplete stage,
    // because the stages after that one cannot be complete yet.
    let open = words(counts.drop { $1.isComplete }.filter { $1.total > 0 })
    let last = open.last ?? all[2]
    let choices = (0...rest.count).reversed().flatMap { length in
      [all, open].filter { !$0.isEmpty }.map { $0 + trouble + rest.prefix(length) }
    }
    // The narrowest terminals have room for only one count. The last count stays, because pictures are most of the
    // work.
    return choices.first { columns(ProgressParts.line($0)) <= width } ?? [last] + trouble + rest
  }

  /// The fraction of the known work that is finished; nil while no work is known.
  private var fraction: Double? {
    let counts = [snapshot.sections, snapshot.details, snapshot.pictures]
    let total = counts.reduce(0) { $0 + $1.total }
    guard total > 0 else { return nil }
    return Double(counts.reduce(0) { $0 + $1.done }) / Double(total)
  }
}

/// A progress line with one count, such as `verify 120/311 pictures`, for commands other than `sync` and `warm`.
final class CountDisplay: Sendable {
  private let state: Mutex<(line: CountLine, display: ProgressDisplay?)>

  private init(_ line: CountLine, _ output: OutputOptions) {
    state = Mutex((line, nil))
    let display = ProgressDisplay(output) { [self] seconds, width in
      state.withLock(\.line).text(seconds: seconds, width: width)
    }
    state.withLock { $0.display = display }
  }

  /// Shows a line with a verb and a plural noun, such as "verify" and "pictures", while `work` runs.
  ///
  /// `work` receives the display, and passes the counts to ``show(_:of:failed:)``.
  static func during<Value>(
    _ verb: String,
    _ noun: String,
    _ output: OutputOptions,
    _ work: (CountDisplay) throws -> Value
  ) rethrows -> Value {
    let display = CountDisplay(CountLine(verb: verb, noun: noun), output)
    // The display refers to the line, and so it is released here.
    defer { display.state.withLock { $0.display.take() }?.end() }
    return try work(display)
  }

  /// Sets the counts: the pieces of work that are finished, all pieces, and the pieces that failed.
  func show(_ done: Int, of total: Int, failed: Int = 0) {
    state.withLock { ($0.line.done, $0.line.total, $0.line.failed) = (done, total, failed) }
  }

  /// Prints text above the line.
  func above(_ print: () -> Void) {
    if let display = state.withLock(\.display) { display.above(print) } else { print() }
  }
}

/// The content of a `CountDisplay`: the finished and total count, the failures, the remaining time and the rate.
private struct CountLine: Sendable {
  let verb: String
  let noun: String
  var done = 0
  var total = 0
  var failed = 0

  /// The line, in at most `width` columns; empty while the total is unknown.
  func text(seconds: Double, width: Int) -> String {
    guard total > 0 else { return "" }
    var parts = ProgressParts(fraction: Double(done) / Double(total), seconds: seconds)
    parts.words = ["\(verb) \(done)/\(total) \(noun)"]
    parts.words += Quantities.counts([(failed, "failed")])
    if let left = parts.secondsLeft { parts.words.append("\(Quantities.duration(left)) left") }
    if seconds > 0.5 { parts.words.append("\(Quantities.rate(Double(done) / seconds))/s") }
    return parts.text(width: width)
  }
}
