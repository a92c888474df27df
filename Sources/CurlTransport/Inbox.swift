import Synchronization
import Transport

/// What other threads ask of the transfer thread, and whether it must be woken to see it.
final class Inbox: Sendable {
  /// What came since the loop last looked.
  struct Mail: Sendable {
    /// To be started, in order.
    var submitted: [Transfer] = []
    /// Submitted and then cancelled before the loop looked.
    var cancelled: [Transfer] = []
    /// Names that were looked up, with their addresses.
    var names: [(host: String, addresses: [IPAddress])] = []
    /// Whether everything that was unfinished is to be cancelled.
    var cancelsAll = false
    /// Whether the loop is to end.
    var stops = false

    var isEmpty: Bool { submitted.isEmpty && names.isEmpty && !cancelsAll && !stops }

    mutating func cancelAll() {
      cancelsAll = true
      cancelled.append(contentsOf: submitted)
      submitted.removeAll()
    }
  }

  struct State: Sendable {
    var mail = Mail()
    var isLoopAsleep = false
    var isClosed = false
  }

  private let state = Mutex(State())

  /// What the caller has to do after posting.
  enum Receipt {
    case posted
    case mustWake
    case closed
  }

  func submit(_ transfer: Transfer) -> Receipt {
    post { $0.submitted.append(transfer) }
  }

  func note(_ addresses: [IPAddress], of host: String) -> Receipt {
    post { $0.names.append((host, addresses)) }
  }

  func cancelAll() -> Receipt {
    post { $0.cancelAll() }
  }

  /// Takes no further mail; what was submitted is cancelled.
  func close() -> Receipt {
    // In one step: between two the loop could fall asleep and never see the second.
    post(closing: true) {
      $0.cancelAll()
      $0.stops = true
    }
  }

  /// Takes what came, or, when nothing did, notes that the loop goes to sleep.
  func collect(orSleep: Bool) -> Mail {
    state.withLock { state in
      state.isLoopAsleep = orSleep && state.mail.isEmpty
      guard !state.mail.isEmpty else { return Mail() }
      let mail = state.mail
      state.mail = Mail()
      return mail
    }
  }

  private func post(closing: Bool = false, _ body: (inout Mail) -> Void) -> Receipt {
    state.withLock { state in
      guard !state.isClosed else { return .closed }
      body(&state.mail)
      state.isClosed = closing
      guard state.isLoopAsleep else { return .posted }
      // One wakeup serves all that is posted until the loop looks.
      state.isLoopAsleep = false
      return .mustWake
    }
  }
}
