import Cache
import Catalog
import Synchronization
import Transport

/// The details of all items when the catalog keeps them in one document.
///
/// Fetched and decoded once, whoever asks first; those who ask meanwhile wait for the same answer.
final class SharedDetails: Sendable {
  /// What the document said.
  enum Answer: Sendable {
    /// A body: the details by item, and why those of some items could not be read.
    case decoded(
      [String: ItemDetail],
      unreadable: [String: String],
      DocumentEntry,
      base: WebURL?
    )
    /// What is held still stands.
    case unchanged(DocumentEntry)
    /// There is nothing to be had.
    case failed
  }

  private enum State {
    case idle
    case waiting([@Sendable (Answer) -> Void])
    case answered(Answer)
  }

  private let state = Mutex(State.idle)

  /// Asks for the document's answer.
  ///
  /// - Parameters:
  ///   - start: starts the request, for the first who asks.
  ///   - completion: called once with the answer, now or later.
  func ask(start: () -> Void, completion: @escaping @Sendable (Answer) -> Void) {
    enum Move {
      case start
      case wait
      case tell(Answer)
    }
    let move = state.withLock { state in
      switch state {
      case .idle:
        state = .waiting([completion])
        return Move.start
      case .waiting(let others):
        state = .waiting(others + [completion])
        return .wait
      case .answered(let answer):
        return .tell(answer)
      }
    }
    switch move {
    case .start: start()
    case .wait: break
    case .tell(let answer): completion(answer)
    }
  }

  /// Tells everybody who waits, and all who ask from now on.
  func resolve(_ answer: Answer) {
    let waiting = state.withLock { state in
      defer { state = .answered(answer) }
      if case .waiting(let waiting) = state { return waiting }
      return []
    }
    for completion in waiting { completion(answer) }
  }
}
