/// What a check of every file against its row found.
///
/// Paths are relative to the cache, sorted.
package struct VerifyReport: Sendable, Equatable {
  /// How many pictures were looked at.
  package var checked = 0
  /// Files whose bytes are not those that were committed.
  package var damaged: [String] = []
  /// Rows whose file is gone.
  package var missing: [String] = []
  /// Files that no row knows.
  package var orphans: [String] = []
  /// Files that the system would not let us read, which says nothing about their bytes.
  package var unreadable: [String] = []
  /// How the index itself stands.
  package var index = IndexState.whole
  /// Whether all pictures were looked at.
  package var isComplete = true
  /// How many pictures a check that was stopped did not come to.
  package var unchecked = 0

  /// How an index stands; the words are stable.
  package enum IndexState: String, Sendable {
    /// It is whole.
    case whole
    /// There is none, although there are pictures.
    case missing
    /// SQLite finds it damaged.
    case damaged
  }

  /// Whether nothing is wrong.
  package var isClean: Bool {
    damaged.isEmpty && missing.isEmpty && orphans.isEmpty && unreadable.isEmpty && index == .whole
      && isComplete
  }

  /// A report that found nothing.
  package init() {}

  /// Every file that something is wrong with.
  var paths: Set<String> { Set(damaged + missing + orphans + unreadable) }

  /// Adds what another part of the check found; paths stay sorted.
  mutating func add(_ other: VerifyReport) {
    checked += other.checked
    damaged = (damaged + other.damaged).sorted()
    missing = (missing + other.missing).sorted()
    orphans = (orphans + other.orphans).sorted()
    unreadable = (unreadable + other.unreadable).sorted()
  }

  /// Adds a file that was looked at.
  mutating func add(_ path: String, _ verdict: FileVerdict) {
    switch verdict {
    case .good: break
    case .damaged: damaged.append(path)
    case .missing: missing.append(path)
    case .unreadable: unreadable.append(path)
    }
  }

  /// Leaves these files out.
  mutating func remove(_ paths: Set<String>) {
    damaged.removeAll(where: paths.contains)
    missing.removeAll(where: paths.contains)
    orphans.removeAll(where: paths.contains)
  }
}
