import Glibc

/// The right to make one attempt, held by one process at a time.
///
/// An exclusive `flock` on a file beside the outbox, which the kernel drops when the process ends,
/// however it ends. Whoever holds it knows that no other attempt is under way: a message that is
/// `sending` then is one whose courier died. Placing an order needs no lock.
final class CourierLock {
  private let descriptor: Int32

  /// Takes the lock; nil when another process has it.
  ///
  /// - Parameter outbox: the outbox's path.
  /// - Throws: ``OrdersError`` when the system refuses.
  init?(_ outbox: String) throws(OrdersError) {
    let path = outbox + ".lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("open", path, errno: errno) }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(descriptor)
      guard code == EWOULDBLOCK else { throw .system("lock", path, errno: code) }
      return nil
    }
    self.descriptor = descriptor
  }

  deinit {
    // The file stays: removing it would let two couriers hold two files of one name.
    // Closing is not enough: a child that some other thread has forked holds the lock until it becomes another program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
