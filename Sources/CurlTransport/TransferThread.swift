import CCurl
import Glibc
import Synchronization

/// The thread that runs the loop, joined exactly once.
final class TransferThread: Sendable {
  private let handle: Mutex<pthread_t?>

  /// Starts the thread with every signal blocked: signals belong to the program, and OpenSSL's writes to a closed
  /// connection must not kill it with SIGPIPE.
  init?(_ core: TransferCore) {
    var thread = pthread_t()
    var all = sigset_t()
    var former = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
    // SAFETY: the retain here is balanced by `takeRetainedValue` in the thread, or below when there is none.
    let context = Unmanaged.passRetained(core)
    let code = pthread_create(
      &thread,
      nil,
      { context in
        guard let context else { return nil }
        larder_name_thread("larder-transfer")
        let core = Unmanaged<TransferCore>.fromOpaque(context).takeRetainedValue()
        TransferLoop(core).run()
        return nil
      },
      context.toOpaque()
    )
    pthread_sigmask(SIG_SETMASK, &former, nil)
    guard code == 0 else {
      context.release()
      return nil
    }
    handle = Mutex(thread)
  }

  /// Waits for the thread to end; from the thread itself, as when a completion drops the last reference, lets it go.
  func join() {
    let thread = handle.withLock { handle in
      defer { handle = nil }
      return handle
    }
    guard let thread else { return }
    if pthread_equal(thread, pthread_self()) != 0 {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }
}
