import CGlibc

/// How the process asks for memory.
enum Memory {
  /// Lets all threads share two heaps.
  ///
  /// glibc would give each of the few threads one of its own, and keep in each what the busiest
  /// moment of that thread needed: a third more at the peak of ten thousand pictures.
  static func limitArenas() {
    larder_limit_heaps(2)
  }
}
