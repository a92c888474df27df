import Base
import Glibc
import Synchronization
import SystemPackage

/// A pool of processes that make pictures for this one.
///
/// A picture in another process cannot block this process, crash it, or use up its memory. If a library hangs, crashes,
/// or takes too much memory, only that picture fails: its process is killed, and the next picture gets a new process. A
/// process is used for many pictures. There are as many processes as threads that call ``make(_:of:for:isStopped:)`` at
/// the same time.
package final class PictureWorkers: PictureWorking {
  private let program: [String]
  private let patience: Double
  /// Processes that are waiting for a picture.
  private let idle = Mutex<[WorkerProcess]>([])

  /// Prepares a pool.
  ///
  /// A process is started only when it is needed.
  ///
  /// - Parameters:
  ///   - program: The path of a program that calls ``PictureWorker/run(on:)`` with descriptor 3, and its arguments.
  ///   - patience: The processor time, in seconds, that a new process is allowed to take before it begins with its first
  ///     picture. A process counts as stalled after the same time on the clock, plus twenty seconds for each second of
  ///     its processor time limit. The default is enough for a slow and busy machine.
  package init(_ program: [String], patience: Double = 60) {
    (self.program, self.patience) = (program, patience)
  }

  deinit { end() }

  /// Kills the processes that are waiting for a picture.
  package func end() {
    let all = idle.withLock { idle in
      defer { idle = [] }
      return idle
    }
    for worker in all { worker.end() }
  }

  /// The PIDs of the processes that are waiting for a picture.
  package var waiting: [Int32] { idle.withLock { $0.map(\.process) } }

  package func make(
    _ order: PictureOrder,
    of input: PictureInput,
    for output: FilePath?,
    isStopped: () -> Bool
  ) throws(LarderError) -> EncodedPicture {
    var wasKilled = false
    while true {
      // Each attempt opens the picture again, because a worker that was killed may have read a part of it.
      let descriptor = try input.opened()
      defer { close(descriptor) }
      let kept = idle.withLock { $0.popLast() }
      if let kept, !kept.isWaiting {
        // This process has ended while it was idle.
        kept.end()
        continue
      }
      let worker: WorkerProcess
      do throws(Errno) {
        if let kept { worker = kept } else { worker = try WorkerProcess(program, patience) }
      } catch {
        throw LarderError(
          .worker,
          "cannot process \(input.name): no process can be started for it "
            + "(\(systemMessage(error.rawValue))); try again"
        )
      }
      let made: Result<EncodedPicture, LarderError>
      do throws(WorkerLoss) {
        made = try worker.make(order, of: input, descriptor, for: output, isStopped: isStopped)
      } catch {
        let signal = worker.end()
        // A signal that was sent to an idle process may take effect only after the process got this picture. So the
        // picture is tried again in another process.
        guard case .closed = error, Self.kills.contains(signal), kept != nil || !wasKilled else {
          throw self.error(input.name, order, error, signal)
        }
        if kept == nil { wasKilled = true }
        continue
      }
      idle.withLock { $0.append(worker) }
      return try made.get()
    }
  }

  /// The signals that end a process from outside, for example when the machine runs out of memory.
  private static let kills = [SIGKILL, SIGTERM]

  private func error(
    _ name: String,
    _ order: PictureOrder,
    _ loss: WorkerLoss,
    _ signal: Int32
  ) -> LarderError {
    func error(_ code: LarderError.Code, _ reason: String) -> LarderError {
      LarderError(code, "cannot process \(name): \(reason)")
    }
    func text(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10) s" }
    return switch loss {
    case .overTime(let seconds):
      error(
        .overTime,
        "it took more than \(text(seconds)) of processor time, which no picture of its size needs; download it again"
      )
    case .stalled(let seconds):
      error(.overTime, "it did not finish in \(text(seconds)); download it again")
    case .stopped: error(.stopped, "the work was stopped; run again")
    case .closed where signal == SIGXCPU:
      error(
        .overTime,
        "it took more processor time than a picture of its size needs; download it again"
      )
    case .closed where Self.kills.contains(signal):
      error(
        .worker,
        "its process was killed twice (signal \(signal)); check that the machine has enough memory, and run again"
      )
    case .closed where signal != 0:
      error(
        .crashed,
        "it takes more than \(order.memory >> 20) MiB of memory, or a library crashed on it (signal \(signal)); "
          + "make it smaller first"
      )
    case .closed, .nonsense:
      error(.worker, "its worker process gave no valid answer; run again")
    }
  }
}

/// The place where pictures are made: in this process, or in worker processes, which protect it from hostile pictures.
package protocol PictureWorking: Sendable {
  /// Makes a picture.
  ///
  /// This blocks, and is called on several threads at the same time.
  ///
  /// - Parameters:
  ///   - order: The crop or the stamp to make.
  ///   - input: The picture.
  ///   - output: The file to which the caller will write the result; nil if the result stays in memory.
  ///   - isStopped: Called several times a second while another process makes the picture. If it returns true, the work
  ///     is abandoned.
  /// - Returns: The result.
  /// - Throws: ``LarderError`` when the picture cannot be made.
  func make(
    _ order: PictureOrder,
    of input: PictureInput,
    for output: FilePath?,
    isStopped: () -> Bool
  ) throws(LarderError) -> EncodedPicture
}

extension PictureWorking {
  /// A function that makes the pictures of a batch by `order`.
  package func making(_ order: PictureOrder) -> PictureBatch.Make {
    { (input, output) throws(LarderError) in
      try self.make(order, of: input, for: output, isStopped: { false })
    }
  }
}

/// Makes pictures in this process, on the thread of the caller, where nothing can stop them.
package struct PicturesHere: PictureWorking {
  package init() {}

  package func make(
    _ order: PictureOrder,
    of input: PictureInput,
    for output: FilePath?,
    isStopped: () -> Bool
  ) throws(LarderError) -> EncodedPicture {
    try order.make(from: input.file(order.limits), opening: output.map(PartFile.opening))
  }
}
