import Dispatch
import Glibc
import Synchronization

/// Handles Ctrl-C and SIGTERM.
///
/// The first signal asks the work to stop, and the second signal ends the process at once.
final class Signals {
  private let sources: [any DispatchSourceSignal]
  private static let queue = DispatchQueue(label: "larder.signals")

  /// Handles signals while this object exists.
  ///
  /// The first signal calls `stop` on a queue of its own.
  ///
  /// - Parameters:
  ///   - patience: How long the work may take to stop. After that time, the process ends anyway.
  ///   - stop: Asks the work to stop.
  init(
    patience: DispatchTimeInterval = .milliseconds(1800),
    stop: @escaping @Sendable () -> Void
  ) {
    let box = SignalBox()
    sources = [SIGINT, SIGTERM].map { number in
      Glibc.signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: Self.queue)
      source.setEventHandler {
        guard box.isFirst(number) else { _exit(128 + number) }
        stop()
        Self.queue.asyncAfter(deadline: .now() + patience) { _exit(128 + number) }
      }
      source.resume()
      return source
    }
    self.box = box
  }

  private let box: SignalBox

  /// The received signal, if any.
  var signal: Int32? { box.number }

  /// The exit status for the received signal; nil if none was received.
  var status: ExitStatus? { ExitStatus(signal: signal) }

  deinit {
    for source in sources { source.cancel() }
  }

  /// Ignores SIGPIPE, so that a write to a closed pipe or socket is an error instead of ending the process.
  static func ignoreBrokenPipe() {
    Glibc.signal(SIGPIPE, SIG_IGN)
  }
}

/// Holds the first received signal.
private final class SignalBox: Sendable {
  private let first = Mutex<Int32?>(nil)

  var number: Int32? { first.withLock { $0 } }

  func isFirst(_ number: Int32) -> Bool {
    first.withLock { first in
      defer { first = first ?? number }
      return first == nil
    }
  }
}
