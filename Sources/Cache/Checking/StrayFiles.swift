import Base
import Synchronization

/// The stray files of a cache: files that have no row in the index, because a run was killed before it wrote the rows.
///
/// If a catalog refers to the picture of such a file, the file is adopted, which means that it gets a row. The other
/// files are removed at the end of the run.
///
/// Several threads may adopt files at the same time. Each file is claimed under a mutex, and only the thread that
/// claimed it changes it. A picture is requested only after its adoption has succeeded or failed. The run calls
/// ``sweep(except:)`` after all pictures are finished.
package final class StrayFiles: Sendable {
  private let layout: CacheLayout
  private let index: Index
  private let read: PictureReading
  private let unclaimed: Mutex<Set<String>>

  /// Makes a collection of the files at these paths in the cache.
  init(_ paths: Set<String>, _ layout: CacheLayout, _ index: Index, read: @escaping PictureReading)
  {
    self.layout = layout
    self.index = index
    self.read = read
    unclaimed = Mutex(paths)
  }

  /// The paths of the unclaimed files.
  package var paths: Set<String> { unclaimed.withLock { $0 } }

  /// Whether all files were claimed or removed.
  package var isEmpty: Bool { unclaimed.withLock { $0.isEmpty } }

  /// Adopts the stray file that has the path of the given picture, if there is one, by writing the picture's row.
  ///
  /// The row has no response headers, but it has the file's modification date. With that date, the next request can
  /// ask whether the picture has changed.
  ///
  /// - Parameters:
  ///   - id: The picture's key.
  ///   - url: The URL that it is fetched from.
  ///   - identity: The picture's identity; nil if it is the same as the URL.
  /// - Returns: The row; nil if there is no such file or it cannot be read. It is also nil if the file was removed
  ///   because it is not a picture.
  /// - Throws: ``LarderError`` when the row cannot be written.
  package func adopt(
    _ id: PictureID,
    url: String,
    identity: String? = nil
  ) throws(LarderError) -> PictureEntry? {
    guard !isEmpty else { return nil }
    let claimed = PictureEntry(id: id, url: url, identity: identity)
    guard unclaimed.withLock({ $0.remove(claimed.name.path) }) != nil else { return nil }
    let renewed: PictureEntry?
    // A file that cannot be read is not removed here. The fetch of its picture will replace it.
    do throws(LarderError) { renewed = claimed.renewed(by: try read(claimed.name)) } catch {
      return nil
    }
    guard let entry = renewed else {
      // The file is not a picture. It is claimed now, so `sweep` will not remove it.
      try layout.remove(claimed.name.path)
      return nil
    }
    try index.save([entry])
    return entry
  }

  /// Removes the unclaimed files.
  ///
  /// - Parameter kept: The paths of files to keep, because a catalog refers to their pictures although this run did not
  ///   request them.
  /// - Returns: The number of removed files.
  /// - Throws: ``LarderError`` when a file cannot be removed.
  @discardableResult
  package func sweep(except kept: Set<String> = []) throws(LarderError) -> Int {
    let others = unclaimed.withLock { paths in
      defer { paths.formIntersection(kept) }
      return paths.subtracting(kept)
    }
    for path in others { try layout.remove(path) }
    return others.count
  }
}
