import Glibc

extension Folder {
  /// Demands that the folder belongs to whom we run as.
  ///
  /// Root may write anywhere, and what it leaves in another's cache that one could never change or
  /// remove again.
  ///
  /// - Throws: ``CacheError/Code/unfit``.
  func demandOwnership() throws(CacheError) {
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("stat", path, errno: errno) }
    guard let remedy = Self.remedy(owner: status.st_uid, user: geteuid()) else { return }
    throw CacheError(
      .unfit,
      "cannot change \(path): it belongs to user \(status.st_uid), and you are \(geteuid()); \(remedy)"
    )
  }

  /// What to do when a folder belongs to another; nil when it is ours.
  static func remedy(owner: uid_t, user: uid_t) -> String? {
    guard owner != user else { return nil }
    return user == 0
      ? "run larder as that user, or give the cache to root with chown -R"
      : "choose a folder of your own with --cache"
  }
}
