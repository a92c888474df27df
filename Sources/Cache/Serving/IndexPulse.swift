import Glibc
import Synchronization

/// Tells at the cost of two system calls whether an index has changed, without opening a database.
///
/// Each transaction that changes a database in rollback mode raises a count in its header; an index that is made
/// anew is another file. (https://sqlite.org/fileformat.html, section 1.3.7)
package final class IndexPulse: Sendable {
  /// How an index stood at a moment; equal beats mean equal contents.
  package struct Beat: Sendable, Hashable {
    fileprivate var inode: UInt
    fileprivate var changes: UInt32
  }

  private struct State {
    var descriptor: Int32 = -1
    var inode: UInt = 0
  }

  private let path: String
  private let state = Mutex(State())

  /// A pulse of the cache at `root`.
  package init(cache root: String) {
    path = root + "/index.sqlite"
  }

  deinit {
    let descriptor = state.withLock { $0.descriptor }
    if descriptor >= 0 { close(descriptor) }
  }

  /// How the index stands now; nil when there is none that can be read.
  ///
  /// Read it before the index: what is read then is that old or newer.
  package func beat() -> Beat? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return state.withLock { state in
      if state.descriptor < 0 || state.inode != status.st_ino {
        // Closed only once the file is another: closing it drops the locks that SQLite holds on it for other
        // connections of this process. (fcntl(2), "Record locks")
        if state.descriptor >= 0 { close(state.descriptor) }
        state.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard state.descriptor >= 0, fstat(state.descriptor, &status) == 0 else { return nil }
        state.inode = status.st_ino
      }
      var changes: UInt32 = 0
      guard pread(state.descriptor, &changes, 4, 24) == 4 else { return nil }
      return Beat(inode: state.inode, changes: changes)
    }
  }
}
