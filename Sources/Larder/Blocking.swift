import Dispatch

/// Work that waits for disk or network, on a thread that Swift's pool does not need.
enum Blocking {
  /// Runs `body` on a thread of Dispatch, waits without blocking, and tells it when the task is cancelled.
  ///
  /// - Parameters:
  ///   - label: What the thread is called in a debugger.
  ///   - body: The work; its flag is raised when the task is cancelled.
  /// - Returns: What the work gave.
  /// - Throws: ``LarderError`` for whatever the work threw.
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
