import Base
import GRDB
import Synchronization

/// The files without a row in the index, which a killed run leaves.
///
/// If a catalog refers to the picture of a file, the picture adopts the file: the file gets a row. The other files are
/// removed.
///
/// The mutex decides which picture gets a file; the file is changed afterwards, when no other picture can claim it. A
/// picture is requested only after its adoption has succeeded or failed. The run calls `sweep` only after all pictures
/// are finished.
package final class StrayFiles: Sendable {
  private let layout: CacheLayout
  private let index: Index
  private let read: PictureReading
  private let unclaimed: Mutex<Set<String>>

  /// Makes a collection of files, given by their paths in the cache.
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

  /// Adopts the stray file at a picture's path, if there is one: writes the picture's row from the file.
  ///
  /// The row has no response headers, only the file's modification date, with which the next request revalidates the
  /// picture.
  ///
  /// - Parameters:
  ///   - id: The picture's key.
  ///   - url: The URL that it is fetched from.
  ///   - identity: The picture's identity as text; nil when it is the URL.
  /// - Returns: The row; nil when there is no such file, it cannot be read, or it is no picture and was removed.
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
      // The file is no picture. Because it is claimed now, `sweep` would not remove it.
      try layout.remove(claimed.name.path)
      return nil
    }
    try index.save([entry])
    return entry
  }

  /// Renames the picture's file to its present name, if an older larder stored it under another name.
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

  /// Removes a picture's file from this collection, because the caller writes its row.
  package func pass(_ picture: PictureEntry) {
    unclaimed.withLock { _ = $0.remove(picture.name.path) }
  }

  /// Removes the unclaimed files.
  ///
  /// - Parameter kept: Paths of pictures that a catalog refers to, although this run did not request them.
  /// - Returns: How many were removed.
  /// - Throws: ``LarderError`` when a file cannot be removed.
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
