import NIOCore

/// Runs Swift tasks on one event loop.
///
/// `SampleStore.start` blocks its thread until the port is bound. Were the server to run on Swift's
/// own few threads, as many blocked starts as there are threads would wait for ever.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) {
    self.loop = loop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
