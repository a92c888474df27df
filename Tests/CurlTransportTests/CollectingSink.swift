import Base
import Support
import Synchronization
import Transport

/// A sink that keeps the body and a transcript of the calls.
final class CollectingSink: BodySink {
  struct State {
    var bytes: [UInt8] = []
    var events: [String] = []
    var head: ResponseHead?
  }

  private let state: Mutex<State>
  private let resumes: Bool
  private let firstResume: ResumePoint?
  private let onBegin: BodyDecision
  private let onBytes: BodyDecision

  /// Makes a sink.
  ///
  /// If `resuming` is true, the sink keeps the bytes of a failed attempt. `holding` is the text
  /// that it has at the start, as from an earlier run.
  init(
    resuming: Bool = false,
    holding: String = "",
    from resume: ResumePoint? = nil,
    onBegin: BodyDecision = .accept,
    onBytes: BodyDecision = .accept
  ) {
    var state = State()
    state.bytes = Array(holding.utf8)
    self.state = Mutex(state)
    resumes = resuming
    firstResume = resume
    self.onBegin = onBegin
    self.onBytes = onBytes
  }

  var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }
  var count: Int { state.withLock { $0.bytes.count } }
  var events: [String] { state.withLock { $0.events } }

  var resumePoint: ResumePoint? {
    state.withLock { state in
      guard let head = state.head else { return firstResume }
      guard resumes,
        let validator = Validators(head.headers).resumeValidator(date: head.headers["Date"])
      else { return nil }
      return ResumePoint(offset: ByteCount(state.bytes.count), validator: validator)
    }
  }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    state.withLock {
      $0.head = head
      $0.events.append("begin \(head.status) at \(offset)")
    }
    return onBegin
  }

  func receive(_ bytes: RawSpan) -> BodyDecision {
    state.withLock { state in
      for offset in 0..<bytes.byteCount {
        state.bytes.append(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      }
    }
    return onBytes
  }

  func restart() {
    state.withLock {
      $0.bytes.removeAll()
      $0.head = nil
      $0.events.append("restart")
    }
  }
}

/// A sink that accepts everything and signals the head; it can then wait for a semaphore.
final class SignallingSink: BodySink {
  private let begun: Semaphore
  private let released: Semaphore?

  init(_ begun: Semaphore, waitingFor released: Semaphore? = nil) {
    self.begun = begun
    self.released = released
  }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    begun.signal()
    released?.wait()
    return .accept
  }

  func receive(_ bytes: RawSpan) -> BodyDecision { .accept }

  func restart() {}
}
