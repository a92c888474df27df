import Glibc

/// How the process keeps its open files.
enum Descriptors {
  /// Makes room for many descriptors while there is one thread.
  ///
  /// The kernel's table starts with 64. In a process of several threads each growth of it waits until
  /// no processor can be reading the old one, ten to twenty milliseconds in which no thread can open
  /// a file: a run of many connections and files stood still that long, once or twice.
  /// (`expand_fdtable` in Linux, fs/file.c)
  static func makeRoom() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    let last = min(limit.rlim_cur, 1024)
    guard last > 0 else { return }
    let highest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, Int32(last - 1))
    if highest >= 0 { close(highest) }
  }

  /// Lets the process have as many descriptors as the system allows it, for a server with many connections.
  static func raiseLimit() {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(kind, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    setrlimit(kind, &limit)
  }
}
