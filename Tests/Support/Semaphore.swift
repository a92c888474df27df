import Glibc

/// A POSIX semaphore, destroyed exactly once.
package final class Semaphore: @unchecked Sendable {
  // SAFETY: sem_t is designed for use by many threads, and its memory is never moved.
  private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  package init() { sem_init(raw, 0, 0) }

  deinit {
    sem_destroy(raw)
    raw.deallocate()
  }

  package func signal() { sem_post(raw) }

  package func wait() { while sem_wait(raw) != 0 {} }
}
