import Synchronization

/// One line on stderr that says how many of how many are done, where progress is shown at all.
final class CountDisplay: Sendable {
  private let verb: String
  private let isShown: Bool
  private let drawn = Mutex(ContinuousClock.now - .seconds(1))

  /// A display of what `verb` does.
  init(_ verb: String, _ terminal: Terminal) {
    self.verb = verb
    isShown = terminal.showsProgress
  }

  /// Shows a count, ten times a second at most.
  func show(_ done: Int, of total: Int) {
    guard isShown else { return }
    let isDue = drawn.withLock { drawn in
      let now = ContinuousClock.now
      guard now - drawn >= .milliseconds(100) else { return false }
      drawn = now
      return true
    }
    let percent = total > 0 ? done * 100 / total : 100
    if isDue { Output.raw("\r\(verb) \(done)/\(total) (\(percent) %)\u{1B}[K") }
  }

  /// Takes the line away.
  func end() {
    if isShown { Output.raw("\r\u{1B}[K") }
  }
}
