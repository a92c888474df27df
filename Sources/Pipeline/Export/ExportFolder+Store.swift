import Cache
import Glibc

extension ExportFolder {
  /// Puts a picture that a store keeps at a path below the folder, in one step.
  ///
  /// - Parameters:
  ///   - source: Where the store keeps it.
  ///   - keeper: The store.
  ///   - relative: The path.
  ///   - digest: The SHA-256 of its bytes in hexadecimal: a file that has it stays, and nothing is fetched.
  ///   - cache: The cache's folder, in which the bytes wait until they are whole.
  /// - Returns: How it came there.
  /// - Throws: ``CacheError`` when the store cannot be read or the folder not written.
  func place(
    _ source: String,
    of keeper: any PictureKeeping,
    at relative: String,
    ifNot digest: String?,
    by cache: String
  ) throws(CacheError) -> Arrival {
    if let digest, KeptCopy.digest(ofFile: "\(path)/\(relative)") == digest { return .unchanged }
    let copy = try KeptCopy(of: source, in: keeper, to: "\(cache)/partial/export-\(getpid())")
    defer { copy.remove() }
    guard copy.isThere else { return .missing }
    let arrival = try place(copy.path, at: relative, links: true)
    return arrival == .linked ? .copied : arrival
  }
}
