import CGlibc
import CJQ
import Glibc

/// One run of a jq program in a process of its own.
struct JQRun {
  /// The program.
  let program: String
  /// What the process may use.
  let limits: Transform.Limits
  /// Asked several times a second whether to end the process.
  var isStopped: @Sendable () -> Bool = { false }

  /// How a run ended.
  enum Outcome: Equatable {
    /// The program yields one value: its JSON.
    case value([UInt8])
    /// libjq does not know the program's words: its own about it.
    case notCompiled(String)
    /// The program fails on this input: why.
    case refused(String)
  }

  /// Why nothing can be run at all.
  struct Failure: Error {
    let reason: String
  }

  /// Runs the program on a JSON text; without one the program is compiled only.
  func outcome(of text: ArraySlice<UInt8>?) throws(Failure) -> Outcome {
    guard !program.utf8.contains(0) else { return .refused("a program holds no NUL") }
    var output: Int32 = -1
    let process = start(text, &output)
    guard process > 0 else {
      let words = String(cString: larder_error_words(errno))
      throw Failure(reason: "cannot start a process for jq: \(words)")
    }
    let read = answer(from: output)
    close(output)
    if case .left = read { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    switch read {
    case .left(let reason): return .refused(reason)
    case .whole(let answer): return outcome(answer, status: status)
    }
  }

  private func start(_ text: ArraySlice<UInt8>?, _ output: inout Int32) -> pid_t {
    let limits = cjq_limits(
      seconds: UInt32(clamping: max(limits.seconds, 1)),
      memory: max(limits.memory, 0)
    )
    guard let text else { return cjq_start(program, nil, 0, limits, &output) }
    return text.withUnsafeBytes {
      // An empty text has no address, which would mean none.
      let start = $0.baseAddress?.assumingMemoryBound(to: CChar.self)
      return cjq_start(program, start, $0.count, limits, &output)
    }
  }

  /// What came from a process.
  private enum Read {
    case whole([UInt8])
    /// The process has to be ended, and why.
    case left(String)
  }

  /// Reads until the process closes its end, for a few times as long as it may compute.
  private func answer(from output: Int32) -> Read {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(10 + 4 * limits.seconds)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let left = clock.now.duration(to: end).components.seconds
      guard !isStopped() else { return .left("the run ended while it ran") }
      guard left > 0 else { return .left("it takes longer than \(10 + 4 * limits.seconds) s") }
      var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, Int32(clamping: min(left * 1000, 200))) > 0 else { continue }
      let count = read(output, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return .whole(bytes) }
      guard bytes.count + count <= limits.output else {
        return .left("it yields more than \(limits.output >> 20) MiB")
      }
      bytes += chunk[..<count]
    }
  }

  private func outcome(_ answer: [UInt8], status: Int32) -> Outcome {
    let signal = status & 0x7F
    if signal == SIGKILL || signal == SIGXCPU {
      return .refused("it takes more than \(limits.seconds) s of processor time")
    }
    let memory = "\(limits.memory >> 20) MiB of memory"
    if signal == SIGABRT { return .refused("it takes more than \(memory)") }
    guard signal == 0, let letter = answer.first else {
      return .refused("libjq crashed; perhaps it needs more than \(memory), or more stack")
    }
    let rest = answer.dropFirst()
    func words() -> String { String(decoding: rest.prefix(300), as: UTF8.self) }
    switch letter {
    case UInt8(ascii: "v"): return .value(Array(rest))
    case UInt8(ascii: "c"): return .notCompiled(words())
    case UInt8(ascii: "e"): return .refused(words())
    case UInt8(ascii: "n"): return .refused("it yields nothing")
    case UInt8(ascii: "m"): return .refused("it yields more than one value; write [ ] around it")
    case UInt8(ascii: "h"): return .refused("it halts")
    default: return .refused("libjq gave no answer")
    }
  }
}
