import CGlibc
import CSQLite

/// How the process asks for memory.
enum Memory {
  /// Sets what holds for every command, before there is a thread or a database.
  static func prepare() {
    limitArenas()
    // SQLite as Debian builds it allocates at each step of a row, and locks a count of it all each time.
    larder_sqlite_count_no_memory()
  }

  /// Lets all threads share four heaps, and keeps what is large out of them.
  ///
  /// glibc would give each of the few threads one of its own, and keep in each what the busiest
  /// moment of that thread needed; with two, threads wait for one another. It would also
  /// raise, with each large block that is freed, the size from which blocks are mapped on their own,
  /// until the body of a section and its tree are cut from a heap that then never shrinks.
  private static func limitArenas() {
    larder_limit_heaps(4)
    larder_map_from(512 << 10)
  }
}
