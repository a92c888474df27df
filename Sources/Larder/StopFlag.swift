import Dispatch
import Synchronization

/// A flag for cancelling blocking work.
///
/// Any thread can raise the flag, once.
///
/// The work looks at the flag, or registers an action that stops the work.
package final class StopFlag: Sendable {
  private struct Raised {
    var isRaised = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(Raised())
  private let raised = DispatchSemaphore(value: 0)

  /// Makes a flag that is not raised.
  package init() {}

  /// Whether the flag was raised.
  package var isRaised: Bool { state.withLock { $0.isRaised } }

  /// Raises the flag, and calls the registered action, if there is one.
  package func raise() {
    let action = state.withLock { state in
      state.isRaised = true
      return state.action
    }
    raised.signal()
    action?()
  }

  /// Registers the action that stops the present work, instead of an earlier action.
  ///
  /// If the flag was already raised, the action is called at once.
  package func whenRaised(_ action: @escaping @Sendable () -> Void) {
    let isRaised = state.withLock { state in
      state.action = action
      return state.isRaised
    }
    if isRaised { action() }
  }

  /// Waits for a number of seconds, or until the flag is raised.
  package func wait(seconds: Double) {
    _ = raised.wait(timeout: .now() + seconds)
  }
}

/// Runs work that waits for disk or network.
///
/// The work has a Dispatch thread of its own, so that it does not block the thread pool of Swift's tasks.
enum Blocking {
  /// Runs `body` on a Dispatch thread and suspends the task until it returns.
  ///
  /// - Parameter body: The work. The flag that it receives is raised when the task is cancelled.
  /// - Returns: The result of the work.
  /// - Throws: ``LarderError`` for any error of the work.
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable (StopFlag) throws -> Value
  ) async throws(LarderError) -> Value {
    let stop = StopFlag()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "larder.blocking").async {
          continuation.resume(
            returning: Result { () throws(LarderError) in
              try LarderError.translating { try body(stop) }
            }
          )
        }
      }
    } onCancel: {
      stop.raise()
    }
    return try result.get()
  }
}
