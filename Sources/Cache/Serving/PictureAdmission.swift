import Base
import Glibc

/// Moves pictures into the cache, after `larder serve` has fetched them into a temporary cache.
///
/// In this way the server holds the cache's lock only for milliseconds, and not while it fetches. All files are
/// complete and synced before the lock is taken. Under the lock, the files are renamed, their folders are synced, and
/// the rows are written. So a crash leaves each picture whole, or leaves nothing of it. If an object store has the
/// cache's pictures, the fetch has uploaded them, and only their rows are written.
package final class PictureAdmission: Sendable {
  private let cache: String
  private let folder: String
  private let remote: (any RemotePictures)?

  /// Prepares to move pictures into a cache.
  ///
  /// - Parameters:
  ///   - folder: The path of the temporary cache with the fetched pictures, on the same file system.
  ///   - cache: The path of the cache to move them into.
  ///   - remote: The object store that has the pictures; nil if the cache's folder has them.
  package init(
    from folder: String,
    into cache: String,
    remote: (any RemotePictures)? = nil
  ) {
    (self.folder, self.cache, self.remote) = (folder, cache, remote)
  }

  /// Moves pictures into the cache and writes their rows.
  ///
  /// The rows of pictures that could not be fetched are written too. If the cache has a picture already, that picture
  /// stays as it is. If the cache has the row of a picture but not its file, the picture is moved into the cache.
  ///
  /// - Parameter entries: The rows of the pictures.
  /// - Returns: The rows that the cache now has.
  /// - Throws: ``LarderError``. The code is `locked` if a run holds the cache's lock; in that case nothing is changed.
  package func admit(_ entries: [PictureEntry]) throws(LarderError) -> [PictureEntry] {
    let layout = try CacheLayout(creating: cache, remote: remote)
    let lock = try CacheLock(layout, holder: "\(CacheLock.briefHolder), process \(getpid())")
    defer { withExtendedLifetime(lock) {} }
    let index = try Index(layout)
    let disk = SystemDisk()
    let known = try index.pictures(entries.map(\.id))
    if remote != nil {
      let rows = entries.filter { $0.isHeld || known[$0.id]?.isHeld != true }
      try index.save(rows)
      return entries.map { $0.isHeld ? $0 : known[$0.id] ?? $0 }
    }
    var rows: [PictureEntry] = []
    var folders: Set<UInt8> = []
    var held: [PictureID: PictureEntry] = [:]
    try layout.demandHold()
    for entry in entries {
      if let row = known[entry.id], row.isHeld,
        let found = try layout.folder(row.name.folder).find(row.name.file),
        row.stamp?.isSpoiled(found) != true
      {
        held[entry.id] = row
      }
      let isHeld = held[entry.id] != nil
      if !isHeld { rows.append(entry) }
      guard entry.isHeld else { continue }
      let name = entry.name
      let source = try source(of: name)
      guard !isHeld else {
        try disk.remove(name.file, in: source)
        continue
      }
      let folder = try layout.folder(name.folder)
      folders.insert(name.folder)
      // If an earlier attempt failed after it moved the file, the file is already there.
      guard try folder.find(name.file) != entry.stamp else { continue }
      try disk.rename(name.file, in: source, to: name.file, in: folder)
    }
    for folder in folders { try disk.sync(layout.folder(folder)) }
    try layout.syncFolderNames(on: disk)
    try index.save(rows)
    return entries.map { held[$0.id] ?? $0 }
  }

  private func source(of name: PictureName) throws(LarderError) -> Folder {
    let place = PictureName.folderName(name.folder)
    return try Folder(path: "\(folder)/images/\(place)", creating: false)
  }
}

extension SquareStore {
  /// Stores a square thumbnail that `larder serve` made.
  ///
  /// The cache's lock is held only during this call.
  ///
  /// - Parameters:
  ///   - square: The square's bytes, or the reason why no square can be made.
  ///   - picture: The picture that the square was made of.
  ///   - side: The number of pixels along a side.
  ///   - cache: The path of the cache.
  /// - Throws: ``LarderError``, with code `locked` while a run holds the cache's lock.
  package static func admit(
    _ square: Result<[UInt8], LarderError>,
    of picture: PictureEntry,
    side: Int,
    into cache: String
  ) throws(LarderError) {
    let layout = try CacheLayout(creating: cache)
    let lock = try CacheLock(layout, holder: "\(CacheLock.briefHolder), process \(getpid())")
    defer { withExtendedLifetime(lock) {} }
    let index = try Index(layout)
    // The picture may have been replaced or removed since the square was made.
    guard try index.pictures([picture.id])[picture.id]?.sha256 == picture.sha256 else { return }
    let store = SquareStore(layout, index: index, side: side)
    switch square {
    case .success(let bytes): try store.store(bytes, of: picture)
    case .failure(let error): try store.note(error.description, of: picture)
    }
    try store.flush()
  }
}
