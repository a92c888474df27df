import Glibc

extension Folder {
  /// Demands that the folder belongs to the user of this process.
  ///
  /// Root may write anywhere, and the owner of the cache could neither change nor remove the files that root
  /// leaves in it.
  ///
  /// - Throws: ``CacheError/Code/unfit``.
  func demandOwnership() throws(CacheError) {
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("stat", path, errno: errno) }
    if let error = Self.refusal(of: path, owner: status.st_uid, user: geteuid()) { throw error }
  }

  /// What to say when a folder belongs to another; nil when it is ours.
  static func refusal(of path: String, owner: uid_t, user: uid_t) -> CacheError? {
    guard owner != user else { return nil }
    let problem = "cannot change \(path): it belongs to user \(owner), and you are \(user)"
    guard user == 0 else {
      return CacheError(.unfit, problem, remedy: .ownFolder, thing: path)
    }
    return CacheError(
      .unfit,
      problem + "; run larder as that user, or give the cache to root with chown -R",
      thing: path
    )
  }
}
