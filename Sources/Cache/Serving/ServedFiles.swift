import Glibc
import Synchronization

/// Opens files of a cache for `larder serve`.
///
/// The paths come from the index, and never from a request. Even so, no component of a path may be a symbolic link.
package final class ServedFiles: Sendable {
  private let root: String
  private let folders = Mutex<[String: Folder]>([:])

  /// The maximum number of folders that stay open.
  ///
  /// This is enough for 256 folders of pictures and 256 folders of squares for each of three sizes.
  private static let most = 1100

  /// Prepares to open files of the cache at `root`.
  package init(cache root: String) {
    self.root = root
  }

  /// Opens a file for reading.
  ///
  /// - Parameter path: The file's path in the cache: `images/3f/…` or `squares/256/3f/…`.
  /// - Returns: The descriptor, which the caller closes, and the stamp of the file; nil if there is no such regular
  ///   file.
  package func open(_ path: String) -> (descriptor: Int32, stamp: FileStamp)? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    let place = String(path[..<slash])
    let name = String(path[path.index(after: slash)...])
    guard let folder = folder(place) else { return nil }
    var descriptor = openat(folder.descriptor, name, Self.flags)
    if descriptor < 0, errno == ENOENT, let again = renewed(place, folder) {
      descriptor = openat(again.descriptor, name, Self.flags)
    }
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    return (descriptor, FileStamp(status))
  }

  /// Whether there is a regular file at a path in the cache, and no other program has cut it.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - stamp: The stamp that the index has for the file; nil if there is none.
  /// - Returns: Whether the file can be served.
  package func hold(_ path: String, as stamp: FileStamp?) -> Bool {
    guard let file = open(path) else { return false }
    close(file.descriptor)
    return stamp?.isSpoiled(file.stamp) != true
  }

  private static let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

  private func folder(_ place: String) -> Folder? {
    if let folder = folders.withLock({ $0[place] }) { return folder }
    return open(folder: place)
  }

  /// Opens a folder again if it was removed since it was opened, because another folder may have its path now.
  ///
  /// The result is nil if the folder was not removed.
  private func renewed(_ place: String, _ old: Folder) -> Folder? {
    var status = stat()
    guard fstat(old.descriptor, &status) == 0, status.st_nlink == 0 else { return nil }
    return open(folder: place)
  }

  private func open(folder place: String) -> Folder? {
    // Open each folder relative to its parent and without following links, so that no component of the path can be
    // replaced by a link. The path of the cache itself may be a link, because the user named it.
    guard var folder = try? Folder(path: root + "/.", creating: false) else { return nil }
    for part in place.split(separator: "/") {
      guard let next = try? Folder(String(part), in: folder) else { return nil }
      folder = next
    }
    let opened = folder
    folders.withLock { folders in
      if folders.count >= Self.most { folders = [:] }
      folders[place] = opened
    }
    return opened
  }
}
