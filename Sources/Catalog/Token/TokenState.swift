/// What a run knows of the token that its command prints, and what follows from each 401.
///
/// A value: its owner guards it, and runs the command when told to. However many requests are refused at
/// once, one of them starts the command and the others wait for it.
package struct TokenState<Waiting> {
  private enum Phase {
    case unasked
    case asking([Waiting])
    case held(String)
    case failed(String)
  }

  /// What to do about a refused request.
  package enum Step: Hashable, Sendable {
    /// Run the command; the request waits for it.
    case run
    /// The command runs already; the request waits for it.
    case wait
    /// Send the request again with that value.
    case again(String)
    /// The refusal stands: the origin refuses what the command printed, too.
    case refusedAgain
    /// The refusal stands, because the command failed; see ``ProgramFault/words``.
    case stand(String)
  }

  private var phase = Phase.unasked

  /// Makes the state of a run that begins.
  package init() {}

  /// The value that requests are sent with from now on; nil before the command has ended well.
  package var value: String? {
    if case .held(let value) = phase { value } else { nil }
  }

  /// Judges a request that came back with 401.
  ///
  /// - Parameters:
  ///   - sent: The command's value that it was sent with; nil when it went out before there was one.
  ///   - waiting: What to keep until the command has ended.
  /// - Returns: What to do.
  package mutating func refused(sentWith sent: String?, _ waiting: Waiting) -> Step {
    switch phase {
    case .unasked:
      phase = .asking([waiting])
      return .run
    case .asking(let others):
      phase = .asking(others + [waiting])
      return .wait
    case .held(let value):
      return sent == value ? .refusedAgain : .again(value)
    case .failed(let words): return .stand(words)
    }
  }

  /// Notes how the command ended.
  ///
  /// - Parameter result: The value, or why there is none.
  /// - Returns: What waits for it.
  package mutating func ended(_ result: Result<String, ProgramFault>) -> [Waiting] {
    guard case .asking(let waiting) = phase else { return [] }
    switch result {
    case .success(let value): phase = .held(value)
    case .failure(let fault): phase = .failed(fault.words)
    }
    return waiting
  }
}
