import Glibc
import Synchronization

/// A facility that a file system lacks, and that larder does without.
///
/// Noted when an operation meets it, so that a run can name what it did in its place.
package enum FileSystemGap: CaseIterable, Sendable {
  /// Hard links.
  case links
  /// `flock`.
  case locks
  /// `fsync` of a folder.
  case folderSync

  /// The gaps that this process has met, guarded by itself.
  private static let met = Mutex<Set<FileSystemGap>>([])

  /// The gaps that this process has met, in a fixed order.
  package static var found: [FileSystemGap] {
    let met = met.withLock { $0 }
    return allCases.filter(met.contains)
  }

  /// The gap and its consequence, as one sentence.
  package var words: String {
    switch self {
    case .links:
      "the cache's file system makes no hard links: equal pictures are kept as copies"
    case .locks:
      "the cache's file system has no flock: the claim in lock.host alone keeps runs apart, and "
        + "one that a killed run left is taken over after two minutes"
    case .folderSync:
      "the cache's file system does not sync folders: a power cut may undo the last renames"
    }
  }

  /// Notes that an operation met the gap.
  func note() { Self.met.withLock { _ = $0.insert(self) } }

  /// Notes the gap that a failed link tells of, if its number tells of one.
  static func note(link code: Int32) {
    if [ENOSYS, EOPNOTSUPP, EPERM, EINVAL].contains(code) { links.note() }
  }

  /// Whether a failed `flock` means that the file system has none. (NFS, Lustre, some of FUSE)
  static func isMissing(lock code: Int32) -> Bool { [ENOSYS, ENOLCK, EOPNOTSUPP].contains(code) }
}
