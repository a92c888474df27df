import Base
import Glibc
import Synchronization

/// The folders and files of one cache.
///
///     images/<2 hex>/…   pictures; empty if an object store has them
///     squares/<side>/<2 hex>/…   square thumbnails, named like their pictures
///     partial/           incomplete files, which readers ignore
///     shards/            work folders of shards, each with its own partial/
///     serving/           work folders of `larder serve`, for fetched pictures
///     index.sqlite       the index of these files
///     lock               locked while a run changes the cache
///     lock.host          the machine with the lock, on a shared file system
///     lock.seen          for each waiting machine, when it first saw the present lock.host
///     last-run.json      the result of the last `sync` or `warm`, written by the command
///     CACHEDIR.TAG       excludes the cache from backups (https://bford.info/cachedir/)
package final class CacheLayout: Sendable {
  /// The folder of the cache.
  ///
  /// In a layout for a work folder, it is the work folder.
  package let root: Folder
  let images: Folder
  /// The folder `partial/`, which contains files until all their bytes are written.
  var partial: Folder { partialFolder.withLock { $0 } }
  private let partialFolder: Mutex<Folder>
  /// The list of the objects in the object store that has the pictures instead of ``images``.
  ///
  /// It is nil for an ordinary cache.
  let listing: RemoteListing?
  /// The object store that has the pictures instead of ``images``.
  ///
  /// It is nil for an ordinary cache.
  var remote: (any RemotePictures)? { listing?.remote }
  /// The claim, a lease in the file `lock.host`, that this run must hold to change the cache.
  ///
  /// It is nil unless other machines may share the cache.
  private let claim = Mutex<HostClaim?>(nil)
  private let folders = Mutex(PictureFolders())
  /// Whether this process may have created a picture folder whose name is not synced yet.
  private let hasUnsyncedNames = Atomic<Bool>(false)

  /// The content of `CACHEDIR.TAG`; its first line makes backup programs skip the folder.
  static let tag = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This file marks a cache of larder; see https://bford.info/cachedir/

    """

  /// Opens the cache at `path` for changes, or a work folder in it, and creates missing folders.
  ///
  /// A work folder is used by a shard (one machine's part of a sync) and by a fetch of `larder serve`. ``root`` is then
  /// the work folder with the run's own files, but pictures are placed in the cache's `images/`. Placing them needs no
  /// lock, because a picture's name depends only on its URL and each file is renamed into place.
  ///
  /// - Parameters:
  ///   - path: The path of the cache.
  ///   - workFolder: The work folder's name, which no other run uses; nil to open the cache itself.
  ///   - remote: The object store that has the pictures; nil if the cache's folder has them.
  /// - Throws: ``LarderError`` when a folder cannot be created, or a folder in the cache is a symbolic link.
  package init(
    creating path: String,
    workFolder: String? = nil,
    remote: (any RemotePictures)? = nil
  ) throws(LarderError) {
    listing = remote.map { RemoteListing($0) }
    try Self.makeParents(of: path)
    let cache = try Folder(path: path, creating: true, isNamed: true)
    // Checked before anything is created in the folder.
    try cache.demandOwnership()
    try Self.tag(cache)
    images = try Folder(path: path + "/images", creating: true)
    if let workFolder {
      _ = try Folder(path: "\(path)/\(Self.workFolders)", creating: true)
      root = try Folder(path: "\(path)/\(Self.workFolders)/\(workFolder)", creating: true)
    } else {
      root = cache
    }
    partialFolder = Mutex(try Folder(path: root.path + "/partial", creating: true))
  }

  /// The folder in the cache that contains the work folders.
  private static let workFolders = "shards"

  /// Removes the work folders whose names begin with `prefix`, together with their contents.
  ///
  /// Errors are ignored.
  package static func removeWorkFolders(of path: String, prefix: String) {
    guard let folders = try? Folder(path: "\(path)/\(workFolders)", creating: false) else {
      return
    }
    for name in (try? folders.names()) ?? [] where name.hasPrefix(prefix) {
      try? folders.removeAll(name)
    }
    // While another run has a work folder, this fails, as it should.
    rmdir(folders.path)
  }

  /// The names that a cache without its index can have.
  private static let own: Set<String> = [
    "images", "squares", "thumbnails", "partial", "shards", "serving", "lock", "last-run.json",
  ]

  /// Marks a folder as a cache by the file `CACHEDIR.TAG`, which is the first file in every cache.
  ///
  /// - Throws: ``LarderError/Code/unfitFolder`` if the folder has other files. Backups would leave them out, and `gc` would
  ///   remove those in `images/`.
  private static func tag(_ root: Folder) throws(LarderError) {
    let names = try root.names()
    guard !names.contains("CACHEDIR.TAG") else { return }
    // A new volume can have `lost+found` or `.snapshot`, and a service's home folder a `.profile`.
    let isFree = names.allSatisfy { own.contains($0) || $0 == "lost+found" || $0.hasPrefix(".") }
    guard isFree || names.contains("index.sqlite") else {
      throw LarderError(
        .unfitFolder,
        "cannot use \(root.path) as the cache: it is not empty, and is no cache of larder",
        remedy: .ownFolder,
        thing: root.path
      )
    }
    let descriptor = openat(
      root.descriptor,
      "CACHEDIR.TAG",
      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
      0o644
    )
    if descriptor >= 0 {
      try OpenFile("\(root.path)/CACHEDIR.TAG", descriptor: descriptor)
        .write(Array(tag.utf8).span.bytes)
    }
  }

  /// Opens the cache at `path` for reading.
  ///
  /// - Parameters:
  ///   - path: The path of the cache.
  ///   - remote: The object store that has the pictures; nil if the cache's folder has them.
  ///   - mayLackIndex: Whether a cache without an index is opened too, for `larder verify`. If this process is allowed to
  ///     write to the cache, missing folders are then created; otherwise nothing is.
  /// - Throws: ``LarderError/Code/empty`` when there is no cache.
  package init(
    reading path: String,
    remote: (any RemotePictures)? = nil,
    mayLackIndex: Bool = false
  ) throws(LarderError) {
    listing = remote.map { RemoteListing($0) }
    let isThere = mayLackIndex && access(path + "/images", F_OK) == 0
    guard isThere || access(path + "/index.sqlite", F_OK) == 0 else {
      throw .unread(path, errno: errno)
    }
    root = try Folder(path: path, creating: false, isNamed: true)
    let isMade = mayLackIndex && access(path, W_OK) == 0
    images = try Folder(path: path + "/images", creating: isMade)
    partialFolder = Mutex(try Folder(path: path + "/partial", creating: isMade))
  }

  /// Sets the claim that this run must hold to change the cache, or nil if no claim is needed.
  func holds(_ claim: HostClaim?) {
    self.claim.withLock { $0 = claim }
  }

  /// Requires that no other machine has taken over the cache.
  ///
  /// Without a claim, this does nothing.
  ///
  /// - Throws: ``LarderError/Code/locked``.
  func demandHold() throws(LarderError) {
    try claim.withLock { $0 }?.demandHold()
  }

  /// Renames the `partial/` of the claim's previous holder, and makes an empty `partial/` for this run.
  ///
  /// The previous holder may still have its folder open, and would write files with the same names as this run's.
  ///
  /// Nothing useful is lost, because unfinished files are valid only on the machine that wrote them.
  ///
  /// - Parameter token: The token of the claim that was taken over, for the folder's new name.
  /// - Throws: ``LarderError`` when the folder cannot be renamed or created.
  func leavePartials(to token: String) throws(LarderError) {
    let aside = "partial-\(token)"
    guard renameat(root.descriptor, "partial", root.descriptor, aside) == 0 else {
      throw .system("rename", path("partial"), errno: errno)
    }
    let folder = try Folder(path: path("partial"), creating: true)
    partialFolder.withLock { $0 = folder }
    // After the folder is removed, the previous holder can no longer create files in it.
    try? root.removeAll(aside)
  }

  /// Whether the cache has no pictures.
  package var holdsNothing: Bool {
    (try? pictureFiles().isEmpty) ?? (listing == nil)
  }

  /// The full path of a file or folder in the cache, for messages and for other libraries.
  package func path(_ name: String) -> String {
    "\(root.path)/\(name)"
  }

  /// Opens the picture folder with this number, such as `images/3f` for 0x3F.
  func folder(_ number: UInt8, creating: Bool = true) throws(LarderError) -> Folder {
    let open = folders.withLock { folders in
      if creating { folders.filled[Int(number)] = true }
      return folders.open[number]
    }
    if let open { return open }
    // Set the flag even if the folder exists, because a killed run may have created it. Set it before another thread
    // can see the folder.
    if creating { hasUnsyncedNames.store(true, ordering: .sequentiallyConsistent) }
    let folder = try Folder(
      path: "\(images.path)/\(PictureName.folderName(number))",
      creating: creating
    )
    folders.withLock { $0.open[number] = folder }
    return folder
  }

  /// The numbers of the picture folders in which this process may have put files.
  var filledFolders: [UInt8] {
    let filled = folders.withLock { $0.filled }
    return (UInt8.min...UInt8.max).filter { filled[Int($0)] }
  }

  /// Syncs `images/` if this process may have created a folder in it, so that the new folder's name is on the device.
  ///
  /// Without this sync, a crash could lose the name of a folder, and thus all files in the folder.
  ///
  /// - Throws: ``LarderError`` when the sync fails. The next call tries again.
  func syncFolderNames(on disk: some Disk) throws(LarderError) {
    guard hasUnsyncedNames.exchange(false, ordering: .sequentiallyConsistent) else { return }
    do {
      try disk.sync(images)
    } catch {
      hasUnsyncedNames.store(true, ordering: .sequentiallyConsistent)
      throw error
    }
  }

  /// The picture folder with this number; nil if there is no such folder, for example because a link has its path.
  func existingFolder(_ number: UInt8) throws(LarderError) -> Folder? {
    guard try images.findKind(PictureName.folderName(number)) == S_IFDIR else { return nil }
    return try folder(number, creating: false)
  }

  /// The number of the picture folder with this name, such as 0x3F for `3f`; nil if there is no such folder.
  func pictureFolder(_ name: String) -> UInt8? {
    guard let number = folderNumber(named: name), images.kind(of: name) == S_IFDIR else {
      return nil
    }
    return number
  }

  /// Parses the name of a picture folder, such as `3f`; nil for any other name.
  func folderNumber(named name: String) -> UInt8? {
    UInt8(name, radix: 16).flatMap { PictureName.folderName($0) == name ? $0 : nil }
  }

  /// Creates the missing parent folders of `path`, like `mkdir -p`.
  static func makeParents(of path: String) throws(LarderError) {
    var prefix = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/").dropLast() {
      prefix += prefix.isEmpty || prefix == "/" ? String(part) : "/" + part
      if mkdir(prefix, 0o755) != 0, errno != EEXIST {
        // For an existing folder, `mkdir` may fail with EROFS or EACCES instead of EEXIST.
        var status = stat()
        if stat(prefix, &status) != 0 { throw .system("make", prefix, errno: errno) }
      }
    }
  }
}

/// The picture folders that this process has used.
private struct PictureFolders {
  var open: [UInt8: Folder] = [:]
  /// For the number of each folder, whether this process may have put files into that folder.
  var filled = [Bool](repeating: false, count: 256)
}
