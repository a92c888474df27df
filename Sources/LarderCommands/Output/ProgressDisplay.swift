import Dispatch
import Pipeline
import Synchronization
import Transport

/// One line on stderr, redrawn ten times a second, gone when the work has ended.
final class ProgressDisplay {
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "larder.display")

  /// Starts drawing.
  init(_ progress: SyncProgress) {
    timer = DispatchSource.makeTimerSource(queue: queue)
    let began = ContinuousClock.now
    timer.setEventHandler { Self.draw(progress, since: began) }
    timer.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100))
    timer.resume()
  }

  /// Stops drawing and takes the line away.
  func end() {
    timer.cancel()
    queue.sync { Output.raw("\r\u{1B}[K") }
  }

  private static func draw(_ progress: SyncProgress, since began: ContinuousClock.Instant) {
    let elapsed = ContinuousClock.now - began
    let seconds =
      Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
    let line = ProgressLine(progress.snapshot, seconds: seconds).text(width: Terminal.width - 1)
    Output.raw("\r\(line)\u{1B}[K")
  }
}

/// The progress line as a value: what is done of all, bytes, rate, and the time that is left.
struct ProgressLine {
  private let snapshot: SyncProgress.Snapshot
  private let seconds: Double

  init(_ snapshot: SyncProgress.Snapshot, seconds: Double) {
    self.snapshot = snapshot
    self.seconds = seconds
  }

  /// The line, cut to `width` columns: what matters least goes first.
  func text(width: Int) -> String {
    var parts = [
      "sections \(count(snapshot.sections))", "details \(count(snapshot.details))",
      "pictures \(count(snapshot.pictures))",
    ]
    if snapshot.failed > 0 { parts.append("\(snapshot.failed) failed") }
    parts.append(Quantities.bytes(snapshot.bytes))
    if seconds > 0 {
      parts.append(
        "\(Quantities.bytes(ByteCount(Int64(Double(snapshot.bytes.count) / seconds))))/s"
      )
    }
    if let left = secondsLeft { parts.append("\(Quantities.duration(left)) left") }
    var line = "\(bar(20)) " + parts.joined(separator: "  ")
    if columns(line) > width { line = parts.joined(separator: "  ") }
    while columns(line) > width, parts.count > 1 {
      parts.removeLast()
      line = parts.joined(separator: "  ")
    }
    return columns(line) > width ? "" : line
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

  /// A guess from the pace so far, once every section is known and so the total is.
  private var secondsLeft: Double? {
    guard snapshot.sections.done == snapshot.sections.total, let fraction, fraction > 0.02,
      fraction < 1, seconds > 0.5
    else { return nil }
    return seconds * (1 - fraction) / fraction
  }

  private func bar(_ width: Int) -> String {
    let filled = Int((fraction ?? 0) * Double(width))
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: "-", count: width - filled) + "]"
  }
}
