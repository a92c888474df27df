import Dispatch
import Glibc
import Larder
import Synchronization

/// Handles Ctrl-C and SIGTERM.
///
/// The first signal asks the work to stop, and the second signal ends the process soon, even if the work has not stopped.
final class Signals {
  private let sources: [any DispatchSourceSignal]
  private let box = SignalBox()
  private static let queue = DispatchQueue(label: "larder.signals")

  /// How long the work is allowed to take to stop after the second signal.
  ///
  /// A sync has placed files by then whose rows it still writes. Without the rows, `verify` would call the files stray.
  private static let haste = DispatchTimeInterval.milliseconds(300)

  /// The flag that the first signal raises.
  let stop = StopFlag()

  /// Handles signals while this object exists.
  ///
  /// The first signal raises ``stop``, and calls `action` on a queue of its own.
  ///
  /// - Parameters:
  ///   - patience: How long the work is allowed to take to stop. After that time, the process ends anyway.
  ///   - action: Asks the work to stop, if the work does not look at ``stop``.
  init(
    patience: DispatchTimeInterval = .milliseconds(1800),
    action: @escaping @Sendable () -> Void = {}
  ) {
    let (box, stop) = (box, stop)
    sources = [SIGINT, SIGTERM].map { number in
      Glibc.signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: Self.queue)
      source.setEventHandler {
        let isFirst = box.first.withLock { first in
          defer { first = first ?? number }
          return first == nil
        }
        if isFirst {
          stop.raise()
          action()
        }
        Self.queue.asyncAfter(deadline: .now() + (isFirst ? patience : Self.haste)) {
          _exit(128 + number)
        }
      }
      source.resume()
      return source
    }
  }

  /// The received signal, if any.
  var signal: Int32? { box.first.withLock { $0 } }

  /// The exit status for the received signal; nil if none was received.
  var status: ExitStatus? { ExitStatus(signal: signal) }

  /// Runs work that a signal stops, and shows a line with its counts, such as `verify 3/10 pictures`.
  ///
  /// - Parameters:
  ///   - verb: The verb in the line.
  ///   - noun: The plural noun in the line.
  ///   - output: The output options.
  ///   - work: The work. Its first argument is whether a signal came, and the second takes the counts of finished
  ///     pieces and of all pieces.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  func count<Value>(
    _ verb: String,
    _ noun: String,
    _ output: OutputOptions,
    _ work: (
      _ isStopped: @escaping @Sendable () -> Bool,
      _ progress: @escaping @Sendable (Int, Int) -> Void
    ) throws -> Value
  ) rethrows -> Value {
    try CountDisplay.during(verb, noun, output) { [stop] display in
      try work({ stop.isRaised }, { display.show($0, of: $1) })
    }
  }

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
  let first = Mutex<Int32?>(nil)
}
