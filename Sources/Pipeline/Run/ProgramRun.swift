import Base
import CGlibc
import Catalog
import Glibc

/// One run of a program that the user names, for example in `token: {command: …}` of a catalog file.
///
/// The program runs in a process of its own, and no shell is involved.
package struct ProgramRun {
  /// The program and its arguments.
  private let words: [String]
  /// The environment of the process.
  private let environment: [String: String]
  /// The bytes that the program reads from stdin.
  private let input: [UInt8]
  /// The time limit in seconds.
  private let seconds: Int
  /// Called several times a second.
  ///
  /// If it returns true, the process is killed.
  private let isStopped: @Sendable () -> Bool

  /// The number of bytes to keep of each output stream.
  ///
  /// Further bytes are discarded.
  private static let kept = 64 << 10

  /// Describes a run.
  ///
  /// Nothing is started yet.
  ///
  /// - Parameters:
  ///   - words: The program and its arguments. There must be at least one word.
  ///   - environment: The environment of the process.
  ///   - input: The bytes that the program reads from stdin.
  ///   - seconds: The time limit in seconds.
  ///   - isStopped: Called several times a second. If it returns true, the process is killed.
  package init(
    words: [String],
    environment: [String: String],
    input: [UInt8] = [],
    seconds: Int = 30,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) {
    self.words = words
    self.environment = environment
    self.input = input
    self.seconds = seconds
    self.isStopped = isStopped
  }

  /// Runs the program to its end.
  ///
  /// Blocks until the program ends, but not longer than the time limit. The process has its own process group, so that
  /// the processes that it starts are killed with it.
  ///
  /// - Returns: The program's exit status, and the beginning of its output.
  package func run() -> ProgramOutput {
    let entry = larder_readable(input, input.count)
    guard entry >= 0 else { return ProgramOutput(end: .notStarted(systemMessage(errno))) }
    defer { close(entry) }
    var (output, errors): ((Int32, Int32), (Int32, Int32)) = ((-1, -1), (-1, -1))
    guard Self.pipe(&output), Self.pipe(&errors) else {
      for end in [output.0, output.1, errors.0, errors.1] where end >= 0 { close(end) }
      return ProgramOutput(end: .notStarted(systemMessage(errno)))
    }
    var process: pid_t = 0
    let fault = start(&process, [entry, output.1, errors.1])
    close(output.1)
    close(errors.1)
    defer {
      close(output.0)
      close(errors.0)
    }
    guard fault == 0 else { return ProgramOutput(end: .notStarted(systemMessage(fault))) }
    return answer(of: process, output.0, errors.0)
  }

  private static func pipe(_ ends: inout (Int32, Int32)) -> Bool {
    var both: [Int32] = [-1, -1]
    guard larder_pipe(&both) == 0 else { return false }
    ends = (both[0], both[1])
    return fcntl(ends.0, F_SETFL, O_NONBLOCK) == 0
  }

  /// Starts the process.
  ///
  /// Returns 0, or the system's error number.
  private func start(_ process: inout pid_t, _ streams: [Int32]) -> Int32 {
    let arguments = words.map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + variables { free(text) } }
    return larder_start_program(&process, arguments, variables, streams)
  }

  /// Reads both output streams until the process ends or the time limit is reached.
  private func answer(of process: pid_t, _ output: Int32, _ errors: Int32) -> ProgramOutput {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    var streams = [Stream(descriptor: output), Stream(descriptor: errors)]
    func answer(_ end: ProgramOutput.End) -> ProgramOutput {
      ProgramOutput(end: end, output: streams[0].bytes, errors: streams[1].bytes)
    }
    while true {
      var watched = streams.map(\.watched)
      _ = poll(&watched, nfds_t(watched.count), 20)
      for place in streams.indices { streams[place].take() }
      var status: Int32 = 0
      if waitpid(process, &status, WNOHANG) == process {
        for place in streams.indices { streams[place].take() }
        return answer(
          status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
        )
      }
      if isStopped() || clock.now >= end { break }
    }
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return answer(isStopped() ? .signal(SIGKILL) : .tooSlow(seconds))
  }

  /// One end of a pipe that a process writes to.
  private struct Stream {
    let descriptor: Int32
    private(set) var bytes: [UInt8] = []
    private var hasEnded = false

    init(descriptor: Int32) {
      self.descriptor = descriptor
    }

    /// The entry for `poll(2)`.
    ///
    /// A descriptor of -1 makes `poll` ignore the entry after the end of the stream. Otherwise each call of `poll`
    /// would return at once until the process ends.
    var watched: pollfd {
      pollfd(fd: hasEnded ? -1 : descriptor, events: Int16(POLLIN), revents: 0)
    }

    /// Reads the available bytes, and records the end of the stream.
    mutating func take() {
      var chunk = [UInt8](repeating: 0, count: 4 << 10)
      while !hasEnded {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN { return }
        guard count > 0 else {
          hasEnded = true
          return
        }
        bytes += chunk[..<min(count, max(0, ProgramRun.kept - bytes.count))]
      }
    }
  }
}
