import Base
import CGlibc
import Glibc
import Synchronization
import SystemPackage

/// A worker process, as seen by larder; it makes one picture at a time.
final class WorkerProcess: Sendable {
  let process: pid_t
  fileprivate let socket: Int32
  /// How long to wait for the process, in seconds; see ``PictureWorkers``.
  fileprivate let patience: Double
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
  ///   - patience: How long to wait for the process, in seconds.
  /// - Throws: The system's error number.
  init(_ program: [String], _ patience: Double) throws(Errno) {
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

  /// Makes a picture in the process.
  ///
  /// This blocks.
  ///
  /// - Parameters:
  ///   - order: The crop or the stamp to make.
  ///   - input: The picture.
  ///   - descriptor: The open picture.
  ///   - output: The file to which the caller will write the result; nil if the result stays in memory.
  ///   - isStopped: Called several times a second. If it returns true, the work is abandoned.
  /// - Returns: The picture, or why it cannot be made.
  /// - Throws: ``WorkerLoss``. After that, the process must be ended.
  func make(
    _ order: PictureOrder,
    of input: PictureInput,
    _ descriptor: Int32,
    for output: FilePath?,
    isStopped: () -> Bool
  ) throws(WorkerLoss) -> Result<EncodedPicture, LarderError> {
    var watch = WorkerWatch(self, isNew: !hasStarted.load(ordering: .relaxed))
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
      hasStarted.store(true, ordering: .relaxed)
      switch message.kind {
      case .seconds:
        watch.allow(min(max(try Double(text: message.text), 0), order.mostSeconds))
      case .place:
        // The process is allowed to ask once for each picture, and only if the result will be written to a file.
        guard let output, part == nil else { throw .nonsense }
        let begun: PartFile
        do throws(LarderError) {
          begun = try PartFile(for: output)
        } catch {
          try channel.send(.failed, error.text, wait: wait)
          continue
        }
        part = begun
        try withExtendedLifetime(begun) { () throws(WorkerLoss) in
          try channel.send(.placed, descriptor: begun.descriptor, wait: wait)
        }
      case .made:
        let summary = try EncodedPicture.Summary(text: message.text)
        guard (part == nil) != message.bytes.isEmpty else { throw .nonsense }
        let file = part.map { EncodedFile.waiting($0) } ?? .held(message.bytes)
        return .success(EncodedPicture(file: file, summary: summary))
      case .failed: return .failure(try LarderError(text: message.text))
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

/// Watches whether a worker stays within its limits while it makes a picture.
private struct WorkerWatch {
  private let worker: WorkerProcess
  /// Whether the process is still starting.
  ///
  /// The processor time of the start does not count for the picture.
  private var isStarting: Bool
  /// The processor time that the process had used when it began with the picture.
  private var before: Double
  /// The limit of processor time for the picture, in seconds.
  private var seconds: Double
  private var deadline: ContinuousClock.Instant

  init(_ worker: WorkerProcess, isNew: Bool) {
    (self.worker, isStarting) = (worker, isNew)
    before = larder_processor_seconds(worker.process)
    seconds = isNew ? worker.patience : PictureOrder.secondsUnasked
    deadline = .now + .seconds(worker.patience + 20 * seconds)
  }

  /// Sets the limit of processor time, which counts from the beginning of the picture.
  mutating func allow(_ seconds: Double) {
    if isStarting { before = larder_processor_seconds(worker.process) }
    isStarting = false
    self.seconds = seconds
    deadline = .now + .seconds(worker.patience + 20 * seconds)
  }

  /// Waits for the socket, and throws if the process exceeds its limits meanwhile.
  func wait(_ events: Int32, _ isStopped: () -> Bool) throws(WorkerLoss) {
    var one = pollfd(fd: worker.socket, events: Int16(events), revents: 0)
    while true {
      let left = seconds - (larder_processor_seconds(worker.process) - before)
      if poll(&one, 1, Int32(min(max(left * 1000, 1), 100))) > 0 { return }
      if left <= 0 { throw .overTime(seconds) }
      if isStopped() { throw .stopped }
      if .now > deadline { throw .stalled(worker.patience + 20 * seconds) }
    }
  }
}
