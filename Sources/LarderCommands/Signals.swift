import Dispatch
import Glibc
import Larder
import Synchronization

/// Handles Ctrl-C and SIGTERM.
///
/// The first signal asks the work to stop, and the second signal ends the process soon, even if the work has not stopped.
final class Signals {
  private let handler: Handler
  private static let queue = DispatchQueue(label: "larder.signals")

  /// How long the work is allowed to take to stop after the second signal.
  ///
  /// A sync has placed files by then whose rows it still writes. Without the rows, `verify` would call the files stray.
  private static let haste = DispatchTimeInterval.milliseconds(300)

  /// The handlers of the objects that exist.
  private static let handlers = Mutex<[ObjectIdentifier: Handler]>([:])

  /// The sources of both signals, which exist from the first use to the end of the process.
  ///
  /// If each object had sources of its own, those of an object that ends could take a signal from the next object.
  // SAFETY: the array is made once, and nobody reads or changes its elements afterwards.
  nonisolated(unsafe) private static let sources = [SIGINT, SIGTERM].map { number in
    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    source.setEventHandler {
      let handlers = handlers.withLock { Array($0.values) }
      // Between two pieces of work, there is nothing to stop.
      if handlers.isEmpty { _exit(128 + number) }
      for handler in handlers { handler.receive(number) }
    }
    // Dispatch registers the source later, usually within a millisecond. If the signal were ignored until then, it would
    // be lost. If the system refuses what Dispatch needs, the work begins all the same.
    let isRegistered = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { isRegistered.signal() }
    source.resume()
    _ = isRegistered.wait(timeout: .now() + .milliseconds(200))
    return source
  }

  /// The flag that the first signal raises.
  var stop: StopFlag { handler.stop }

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
    handler = Handler(patience, action)
    let handler = handler
    Self.handlers.withLock { $0[ObjectIdentifier(handler)] = handler }
    _ = Self.sources
  }

  deinit {
    let handler = handler
    Self.handlers.withLock { $0[ObjectIdentifier(handler)] = nil }
  }

  /// Stops the work of one object when a signal arrives.
  private final class Handler: Sendable {
    let stop = StopFlag()
    let first = Mutex<Int32?>(nil)
    private let patience: DispatchTimeInterval
    private let action: @Sendable () -> Void

    init(_ patience: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) {
      (self.patience, self.action) = (patience, action)
    }

    func receive(_ number: Int32) {
      let isFirst = first.withLock { first in
        defer { first = first ?? number }
        return first == nil
      }
      if isFirst {
        stop.raise()
        action()
      }
      Signals.queue.asyncAfter(deadline: .now() + (isFirst ? patience : Signals.haste)) {
        // A write waits if nobody reads the output. The process ends all the same.
        let told = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
          let message = "interrupted: the work could not stop at once; run the command again"
          LarderCommand.tell(CommandFailure(message, ExitStatus(signal: number) ?? .interrupted))
          told.signal()
        }
        _ = told.wait(timeout: .now() + .milliseconds(100))
        _exit(128 + number)
      }
    }
  }

  /// The received signal, if any.
  var signal: Int32? { handler.first.withLock { $0 } }

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

  /// Sets how the process takes signals that need no handler.
  ///
  /// SIGPIPE is ignored, so that a write to a closed pipe or socket is an error instead of ending the process. SIGCHLD is
  /// not, even if the program that started this one ignores it: otherwise nobody learns that a child has ended.
  static func prepare() {
    Glibc.signal(SIGPIPE, SIG_IGN)
    Glibc.signal(SIGCHLD, SIG_DFL)
  }
}
