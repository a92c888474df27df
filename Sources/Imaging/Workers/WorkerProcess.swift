import Base
import CGlibc
import Glibc
import Synchronization
import SystemPackage

/// A worker process, as seen by larder; it makes one picture at a time.
final class WorkerProcess: Sendable {
  let process: pid_t
  private let socket: Int32
  private let patience: WorkerPatience
  /// Whether the process has answered at least once.
  private let hasStarted = Atomic(false)

  /// Whether the process is idle: it is running, and sends nothing.
  var isWaiting: Bool {
    var one = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&one, 1, 0) == 0
  }

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - program: The program and its arguments. It gets the socket as descriptor 3.
  ///   - patience: How long to wait for the process.
  /// - Throws: The system's error number.
  init(_ program: [String], _ patience: WorkerPatience) throws(Errno) {
    var ends: [Int32] = [-1, -1]
    guard larder_socket_pair(&ends) == 0 else { throw Errno(rawValue: errno) }
    defer { close(ends[1]) }
    var process: pid_t = 0
    let arguments = program.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let code = larder_start(&process, program[0], arguments, ends[1], -1)
    guard code == 0 else {
      close(ends[0])
      throw Errno(rawValue: code)
    }
    (self.process, socket, self.patience) = (process, ends[0], patience)
  }

  /// The answer to a request.
  enum Outcome {
    case made(EncodedPicture)
    case refused(LarderError)
    /// The process was ended, for this reason.
    ///
    /// `signal` is the number of the signal that ended it, or 0.
    case lost(WorkerLoss, signal: Int32)
  }

  /// Makes a picture in the process.
  ///
  /// This blocks. If the outcome is `lost`, do not use this process again.
  func make(
    _ order: PictureOrder,
    of input: PictureInput,
    for output: FilePath?,
    isStopped: () -> Bool
  ) -> Outcome {
    var watch = WorkerWatch(process, socket, patience, isNew: !hasStarted.load(ordering: .relaxed))
    do throws(LarderError) {
      let descriptor = try input.opened()
      defer { close(descriptor) }
      do throws(WorkerLoss) {
        let made = try make(order, input, descriptor, output, &watch, isStopped)
        hasStarted.store(true, ordering: .relaxed)
        switch made {
        case .success(let picture): return .made(picture)
        case .failure(let error): return .refused(error)
        }
      } catch {
        return .lost(error, signal: end())
      }
    } catch {
      return .refused(error)
    }
  }

  private func make(
    _ order: PictureOrder,
    _ input: PictureInput,
    _ descriptor: Int32,
    _ output: FilePath?,
    _ watch: inout WorkerWatch,
    _ isStopped: () -> Bool
  ) throws(WorkerLoss) -> Result<EncodedPicture, LarderError> {
    var isFile = false
    if case .path = input { isFile = true }
    let request = WorkerChannel.Request(
      name: input.name,
      isFile: isFile,
      becomesFile: output != nil
    )
    let limits = order.limits
    let channel = WorkerChannel(socket: socket, most: limits.memory + limits.fileBytes)
    func wait(_ events: Int32) throws(WorkerLoss) { try watch.wait(events, isStopped) }
    try channel.send(.make, request.text, order.wire, descriptor: descriptor, wait: wait)
    var part: PartFile?
    while true {
      let message = try channel.receive(wait: wait)
      switch message.kind {
      case .seconds:
        let seconds = try message.seconds()
        watch.allow(min(max(seconds, 0), order.mostSeconds))
      case .place:
        // The process is allowed to ask once for each picture, and only if the result will be written to a file.
        guard let output, part == nil else { throw .nonsense }
        let begun: PartFile
        do throws(LarderError) {
          begun = try PartFile(for: output)
        } catch {
          try channel.send(.failed, ErrorAnswer(error).text, wait: wait)
          continue
        }
        part = begun
        try begun.lend { (descriptor) throws(WorkerLoss) in
          try channel.send(.placed, descriptor: descriptor, wait: wait)
        }
      case .made:
        let summary = try message.decoded(EncodedPicture.Summary.self)
        guard (part == nil) != message.bytes.isEmpty else { throw .nonsense }
        let file = part.map { EncodedFile.waiting($0) } ?? .held(message.bytes)
        return .success(EncodedPicture(file: file, summary: summary))
      case .failed: return .failure(try message.decoded(ErrorAnswer.self).error)
      case .make, .placed: throw .nonsense
      }
    }
  }

  /// Kills the process if it is still running, and returns the number of the signal that ended it, or 0.
  @discardableResult
  func end() -> Int32 {
    kill(process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F
  }

  deinit { close(socket) }
}

/// How long to wait for a worker process.
package struct WorkerPatience: Sendable {
  /// The processor time, in seconds, that a new process is allowed to take before it begins with its first picture.
  package var start: Double
  /// A process counts as stalled after this many seconds, plus twenty seconds for each second of its processor time
  /// limit.
  package var idle: Double

  /// Makes limits.
  ///
  /// The defaults are enough for a slow and busy machine.
  package init(start: Double = 60, idle: Double = 60) {
    (self.start, self.idle) = (start, idle)
  }

  /// The number of seconds after which a process counts as stalled, if it is allowed to use `seconds` of processor
  /// time.
  func wait(for seconds: Double) -> Double { idle + 20 * seconds }
}

/// Watches whether a worker stays within its limits while it makes a picture.
private struct WorkerWatch {
  private let process: pid_t
  private let socket: Int32
  private let patience: WorkerPatience
  /// Whether the process is still starting.
  ///
  /// The processor time of the start does not count for the picture.
  private var isStarting: Bool
  /// The processor time that the process had used when it began with the picture.
  private var before: Double
  /// The limit of processor time for the picture, in seconds.
  private var seconds: Double
  private var deadline: ContinuousClock.Instant

  init(_ process: pid_t, _ socket: Int32, _ patience: WorkerPatience, isNew: Bool) {
    (self.process, self.socket, self.patience, isStarting) = (process, socket, patience, isNew)
    before = larder_processor_seconds(process)
    seconds = isNew ? patience.start : PictureOrder.secondsUnasked
    deadline = .now + .seconds(patience.wait(for: seconds))
  }

  /// Sets the limit of processor time, which counts from the beginning of the picture.
  mutating func allow(_ seconds: Double) {
    if isStarting { before = larder_processor_seconds(process) }
    isStarting = false
    self.seconds = seconds
    deadline = .now + .seconds(patience.wait(for: seconds))
  }

  /// Waits for the socket, and throws if the process exceeds its limits meanwhile.
  func wait(_ events: Int32, _ isStopped: () -> Bool) throws(WorkerLoss) {
    var one = pollfd(fd: socket, events: Int16(events), revents: 0)
    while true {
      let left = seconds - (larder_processor_seconds(process) - before)
      if poll(&one, 1, Int32(min(max(left * 1000, 1), 100))) > 0 { return }
      if left <= 0 { throw .overTime(seconds) }
      if isStopped() { throw .stopped }
      if .now > deadline { throw .stalled(patience.wait(for: seconds)) }
    }
  }
}
