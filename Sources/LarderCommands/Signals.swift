import Dispatch
import Glibc
import Synchronization

/// Ctrl-C and SIGTERM: the first asks the work to stop, the second ends the process at once.
final class Signals {
  private let sources: [any DispatchSourceSignal]
  private static let queue = DispatchQueue(label: "larder.signals")

  /// Calls `stop` on the first signal, on a queue of its own.
  ///
  /// - Parameters:
  ///   - patience: How long work may take to stop before the process ends without it.
  ///   - stop: Asks the work to stop; it is given the signal.
  init(
    patience: DispatchTimeInterval = .milliseconds(1800),
    stop: @escaping @Sendable (Int32) -> Void
  ) {
    let box = SignalBox()
    sources = [SIGINT, SIGTERM].map { number in
      Glibc.signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: Self.queue)
      source.setEventHandler {
        guard box.isFirst(number) else { _exit(128 + number) }
        stop(number)
        Self.queue.asyncAfter(deadline: .now() + patience) { _exit(128 + number) }
      }
      source.resume()
      return source
    }
    self.box = box
  }

  private let box: SignalBox

  /// The signal that came, if one did.
  var signal: Int32? { box.number }

  deinit {
    for source in sources { source.cancel() }
  }

  /// A write to a closed pipe or socket must be an error to handle, not the end.
  static func ignoreBrokenPipe() {
    Glibc.signal(SIGPIPE, SIG_IGN)
  }
}

/// Holds the first signal that came.
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
