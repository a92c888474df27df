import Base
import CGlibc
import Glibc
import Synchronization
import SystemPackage

/// A process that makes pictures for this one, one at a time.
final class WorkerProcess: Sendable {
  /// Its number.
  let process: pid_t
  private let socket: Int32
  private let patience: WorkerPatience
  /// Whether it has made a picture, or refused one.
  private let hasStarted = Atomic(false)

  /// Whether it waits for a picture, while it says nothing; false once it has ended.
  var isWaiting: Bool {
    var one = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&one, 1, 0) == 0
  }

  /// Starts one.
  ///
  /// - Parameters:
  ///   - program: The program and its arguments; it finds the socket as descriptor 3.
  ///   - patience: How long it is waited for.
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

  /// How a picture went that was asked for.
  enum Outcome {
    case made(EncodedPicture)
    case refused(LarderError)
    /// The process is gone: why, and the signal that it ended by, or 0.
    case lost(WorkerLoss, signal: Int32)
  }

  /// Has a picture made.
  ///
  /// Blocks. Unless the picture was made or refused, this is of no more use.
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
    let sent = watch
    try channel.send(.make, request.text, order.wire, descriptor: descriptor) {
      (events) throws(WorkerLoss) in try sent.wait(events, isStopped)
    }
    var part: PartFile?
    while true {
      let now = watch
      let message = try channel.receive { (events) throws(WorkerLoss) in
        try now.wait(events, isStopped)
      }
      switch message.kind {
      case .seconds:
        let seconds = try message.seconds()
        watch.allow(min(max(seconds, 0), order.mostSeconds))
      case .place:
        // Once a picture, and where it becomes a file.
        guard let output, part == nil else { throw .nonsense }
        let begun: PartFile
        do throws(LarderError) {
          begun = try PartFile(for: output)
        } catch {
          try channel.send(.failed, ErrorAnswer(error).text) { (events) throws(WorkerLoss) in
            try now.wait(events, isStopped)
          }
          continue
        }
        part = begun
        let loss: WorkerLoss? = begun.lend { descriptor in
          do throws(WorkerLoss) {
            try channel.send(.placed, descriptor: descriptor) { (events) throws(WorkerLoss) in
              try now.wait(events, isStopped)
            }
            return nil
          } catch {
            return error
          }
        }
        if let loss { throw loss }
      case .made:
        let answer = try message.decoded(PictureAnswer.self)
        guard (part == nil) != message.bytes.isEmpty else { throw .nonsense }
        return .success(answer.picture(part.map { .waiting($0) } ?? .held(message.bytes)))
      case .failed: return .failure(try message.decoded(ErrorAnswer.self).error)
      case .make, .placed: throw .nonsense
      }
    }
  }

  /// Ends the process, unless it has ended; returns the signal that it ended by, or 0.
  @discardableResult
  func end() -> Int32 {
    kill(process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F
  }

  deinit { close(socket) }
}

/// How long a worker is waited for.
package struct WorkerPatience: Sendable {
  /// Seconds of processor time until it begins with a picture.
  package var start: Double
  /// Seconds that pass beyond twenty for each of processor time, before it is taken to do nothing at all.
  package var idle: Double

  /// Waits; the defaults are enough for a slow and busy machine.
  package init(start: Double = 60, idle: Double = 60) {
    (self.start, self.idle) = (start, idle)
  }

  /// Seconds until a process is given up that is to compute for some.
  func wait(for seconds: Double) -> Double { idle + 20 * seconds }
}

/// The limits of a worker while a picture is made.
private struct WorkerWatch {
  private let process: pid_t
  private let socket: Int32
  private let patience: WorkerPatience
  /// Whether it is still starting, whose processor time is none of the picture's.
  private var isStarting: Bool
  /// The processor time that it had used when it began with the picture.
  private var before: Double
  /// Seconds of processor time that it may use.
  private var seconds: Double
  private var deadline: ContinuousClock.Instant

  init(_ process: pid_t, _ socket: Int32, _ patience: WorkerPatience, isNew: Bool) {
    (self.process, self.socket, self.patience, isStarting) = (process, socket, patience, isNew)
    before = larder_processor_seconds(process)
    seconds = isNew ? patience.start : PictureOrder.secondsUnasked
    deadline = .now + .seconds(patience.wait(for: seconds))
  }

  /// Lets it compute for `seconds`, from when it began with the picture.
  mutating func allow(_ seconds: Double) {
    if isStarting { before = larder_processor_seconds(process) }
    isStarting = false
    self.seconds = seconds
    deadline = .now + .seconds(patience.wait(for: seconds))
  }

  /// Waits for the socket while the process keeps to its limits.
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
