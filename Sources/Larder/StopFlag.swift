import Dispatch
import Synchronization

/// A cancellation flag that any thread can raise, once; blocking work checks it or registers an action.
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

  /// Raises the flag, and calls the registered action.
  package func raise() {
    let action = state.withLock { state in
      state.isRaised = true
      return state.action
    }
    raised.signal()
    action?()
  }

  /// Registers the action that stops the current work; called at once if the flag was already raised.
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

/// Runs work that waits for disk or network on a Dispatch thread, so that Swift's own thread pool is not blocked.
enum Blocking {
  /// Runs `body` on a Dispatch thread and suspends the task until it returns.
  ///
  /// - Parameters:
  ///   - label: The thread's name in a debugger.
  ///   - body: The work; its flag is raised when the task is cancelled.
  /// - Returns: The result of the work.
  /// - Throws: ``LarderError`` for any error of the work.
  static func run<Value: Sendable>(
    _ label: String = "larder.shop",
    _ body: @escaping @Sendable (StopFlag) throws -> Value
  ) async throws(LarderError) -> Value {
    let stop = StopFlag()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: label).async {
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
