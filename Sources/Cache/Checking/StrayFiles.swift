import Base
import GRDB
import Synchronization

/// The files that a killed run left without a row, until a picture claims them or they are swept.
///
/// The owner of a file is decided under the lock, and the file is changed after that: no other picture can claim it
/// in between. A run's picture asks its origin only after its claim has ended, and the run sweeps only once all
/// pictures have.
package final class StrayFiles: Sendable {
  private let layout: CacheLayout
  private let index: Index
  private let read: PictureReading
  private let unclaimed: Mutex<Set<String>>

  /// Files by their paths in the cache.
  init(_ paths: Set<String>, _ layout: CacheLayout, _ index: Index, read: @escaping PictureReading)
  {
    self.layout = layout
    self.index = index
    self.read = read
    unclaimed = Mutex(paths)
  }

  /// The unclaimed files, by their paths in the cache.
  package var paths: Set<String> { unclaimed.withLock { $0 } }

  /// Whether every file was claimed or swept.
  package var isEmpty: Bool { unclaimed.withLock { $0.isEmpty } }

  /// Enters the file at the place of the picture of a URL, which no other picture may claim from now on.
  ///
  /// Its row has no response headers, only the file's own date, with which the next request revalidates it.
  ///
  /// - Parameters:
  ///   - id: The picture's identity.
  ///   - url: Where it is fetched from.
  ///   - identity: Its identity; nil for its URL.
  /// - Returns: Its row; nil when there is no such file, it cannot be read, or it is no picture and is removed.
  /// - Throws: ``LarderError`` when the row cannot be written.
  package func adopt(
    _ id: PictureID,
    url: String,
    identity: String? = nil
  ) throws(LarderError) -> PictureEntry? {
    guard !isEmpty else { return nil }
    let claimed = PictureEntry(id: id, url: url, identity: identity)
    if unclaimed.withLock({ $0.remove(claimed.name.path) }) == nil {
      guard try takeOlder(claimed) else { return nil }
    }
    let renewed: PictureEntry?
    // A file that cannot be read is not removed; the fetch of its picture replaces it.
    do throws(LarderError) { renewed = claimed.renewed(by: try read(claimed.name)) } catch {
      return nil
    }
    guard let entry = renewed else {
      // Not a picture: if it stayed, no sweep would ever find it.
      try layout.remove(claimed.name.path)
      return nil
    }
    try index.save([entry])
    return entry
  }

  /// Gives the file that an older larder named for a picture the picture's name.
  ///
  /// - Returns: Whether there is such a file.
  private func takeOlder(_ claimed: PictureEntry) throws(LarderError) -> Bool {
    let older = PictureName(older: claimed.identity)
    guard unclaimed.withLock({ $0.remove(older.path) }) != nil,
      let source = try layout.existingFolder(older.folder)
    else { return false }
    let folder = try layout.folder(claimed.name.folder)
    let disk = SystemDisk()
    try disk.rename(older.file, in: source, to: claimed.name.file, in: folder)
    try disk.sync(folder)
    try layout.syncFolderNames(on: disk)
    return true
  }

  /// Leaves the file of a picture to the caller, who enters its row.
  package func pass(_ picture: PictureEntry) {
    unclaimed.withLock { _ = $0.remove(picture.name.path) }
  }

  /// Removes the unclaimed files.
  ///
  /// - Parameter kept: Paths that a catalog claims although this run did not ask for them.
  /// - Returns: How many were removed.
  /// - Throws: ``LarderError`` when one cannot be removed.
  @discardableResult
  package func sweep(except kept: Set<String> = []) throws(LarderError) -> Int {
    let nobodys = unclaimed.withLock { paths in
      defer { paths.formIntersection(kept) }
      return paths.subtracting(kept)
    }
    for path in nobodys { try layout.remove(path) }
    return nobodys.count
  }
}
