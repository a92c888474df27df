import Base
import Glibc
import Synchronization

/// The folders of one cache: where pictures lie, and where bytes wait until they are whole.
///
///     images/<2 hex>/…   pictures, each whole; none where a store keeps them
///     squares/<side>/<2 hex>/…   squares of them, made by larder, under the same names
///     thumbnails/<side>/<2 hex>/…   small pictures for pages, named by their sources
///     partial/           bytes on their way; nothing here is ever shown
///     shards/            the rooms of runs that place pictures side by side, each with a partial/ of its own
///     serving/           working folders of servers, for fetched pictures until they can be kept
///     index.sqlite       the index of these files
///     lock               held while a run changes anything
///     lock.host          which machine holds it, on a file system that several see
///     lock.seen          since when other machines wait for that one in vain
///     last-run.json      how the last `sync` or `warm` ended, written by the command
///     CACHEDIR.TAG       tells backups to pass by (https://bford.info/cachedir/)
package final class CacheLayout: Sendable {
  /// The cache itself.
  package let root: Folder
  let images: Folder
  /// Where bytes wait until they are whole.
  var partial: Folder { partialFolder.withLock { $0 } }
  private let partialFolder: Mutex<Folder>
  /// The list of the store that keeps the pictures instead of ``images``; nil for an ordinary cache.
  let listing: RemoteListing?
  /// That store.
  var remote: (any RemotePictures)? { listing?.remote }
  /// The claim that the run's changes depend on, where other machines see the cache.
  private let claim = Mutex<HostClaim?>(nil)
  private let folders = Mutex(PictureFolders())
  /// Whether a picture folder's own name may not be on the device yet.
  private let hasUnsyncedNames = Atomic<Bool>(false)

  /// The first line that makes a folder a cache for every backup program.
  static let tag = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This file marks a cache of larder; see https://bford.info/cachedir/

    """

  /// Opens the cache at `path`, creating missing folders.
  ///
  /// - Throws: ``LarderError`` when a folder cannot be made, or one below the cache is a symbolic link.
  package init(
    creating path: String,
    remote: (any RemotePictures)? = nil
  ) throws(LarderError) {
    listing = remote.map { RemoteListing($0) }
    try Self.makeParents(of: path)
    root = try Folder(path: path, creating: true, isNamed: true)
    // Before anything is made in it.
    try root.demandOwnership()
    images = try Folder(path: path + "/images", creating: true)
    partialFolder = Mutex(try Folder(path: path + "/partial", creating: true))
    try Self.tag(root)
  }

  /// Opens a working folder in the cache at `path` for a shard, creating missing folders.
  ///
  /// ``root`` is then the working folder: the run's own files are there, and its pictures go into the cache's
  /// `images/`, on the same file system. No lock guards that: a picture's name says its URL, and each comes by a
  /// rename.
  ///
  /// - Parameters:
  ///   - path: The cache.
  ///   - room: The room's name, which no other run has.
  ///   - remote: The store that keeps the pictures instead of the cache's folder, if any.
  /// - Throws: ``LarderError`` when a folder cannot be made or is a symbolic link.
  package init(
    beside path: String,
    room: String,
    remote: (any RemotePictures)? = nil
  ) throws(LarderError) {
    listing = remote.map { RemoteListing($0) }
    try Self.makeParents(of: path)
    let cache = try Folder(path: path, creating: true, isNamed: true)
    try cache.demandOwnership()
    try Self.tag(cache)
    images = try Folder(path: path + "/images", creating: true)
    _ = try Folder(path: "\(path)/\(Self.rooms)", creating: true)
    root = try Folder(path: "\(path)/\(Self.rooms)/\(room)", creating: true)
    partialFolder = Mutex(try Folder(path: root.path + "/partial", creating: true))
  }

  /// Where rooms are, below the cache.
  private static let rooms = "shards"

  /// Removes the working folders whose names begin with a text, with their contents; those that cannot be
  /// removed stay.
  package static func removeWorkFolders(of path: String, prefix: String) {
    guard let rooms = try? Folder(path: "\(path)/\(Self.rooms)", creating: false) else { return }
    for name in (try? rooms.names()) ?? [] where name.hasPrefix(prefix) {
      if let partial = try? Folder(path: "\(rooms.path)/\(name)/partial", creating: false) {
        for file in (try? partial.names()) ?? [] { unlinkat(partial.descriptor, file, 0) }
      }
      unlinkat(rooms.descriptor, name + "/partial", AT_REMOVEDIR)
      unlinkat(rooms.descriptor, name, AT_REMOVEDIR)
    }
    // Not while another run has a room.
    rmdir(rooms.path)
  }

  private static func tag(_ root: Folder) throws(LarderError) {
    let descriptor = openat(
      root.descriptor,
      "CACHEDIR.TAG",
      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
      0o644
    )
    if descriptor >= 0 {
      let file = OpenFile("CACHEDIR.TAG", in: root, descriptor: descriptor)
      try SystemDisk().append(Array(tag.utf8).span.bytes, to: file)
    }
  }

  /// Opens the cache at `path` as it is, making nothing.
  ///
  /// - Throws: ``LarderError/Code/empty`` when there is no cache.
  package init(
    reading path: String,
    remote: (any RemotePictures)? = nil
  ) throws(LarderError) {
    listing = remote.map { RemoteListing($0) }
    guard access(path + "/index.sqlite", F_OK) == 0 else {
      throw .unread(path, errno: errno)
    }
    root = try Folder(path: path, creating: false, isNamed: true)
    images = try Folder(path: path + "/images", creating: false)
    partialFolder = Mutex(try Folder(path: path + "/partial", creating: false))
  }

  /// Opens the cache at `path` to be checked: its folders must be there, its index need not.
  ///
  /// - Throws: ``LarderError/Code/empty`` when there is no cache.
  package init(
    checking path: String,
    remote: (any RemotePictures)? = nil
  ) throws(LarderError) {
    listing = remote.map { RemoteListing($0) }
    guard access(path + "/images", F_OK) == 0 || access(path + "/index.sqlite", F_OK) == 0 else {
      throw .unread(path, errno: errno)
    }
    root = try Folder(path: path, creating: false, isNamed: true)
    let isMine = access(path, W_OK) == 0
    images = try Folder(path: path + "/images", creating: isMine)
    partialFolder = Mutex(try Folder(path: path + "/partial", creating: isMine))
  }

  /// Enters the claim that changes depend on from now on; nil for none.
  func holds(_ claim: HostClaim?) {
    self.claim.withLock { $0 = claim }
  }

  /// Demands that no other machine has taken the cache over; free where no other can.
  ///
  /// - Throws: ``LarderError/Code/locked``.
  func demandHold() throws(LarderError) {
    try claim.withLock { $0 }?.demandHold()
  }

  /// Moves the `partial/` of the run that lost the cache aside, and gives this run an empty one: the other
  /// run has the folder open, and its files have the same names as this one's.
  ///
  /// Nothing is lost that could be of use: unfinished bodies count on the machine alone that wrote them.
  ///
  /// - Parameter token: that of the claim that was taken over.
  /// - Throws: ``LarderError`` when the folder cannot be made.
  func leavePartials(to token: String) throws(LarderError) {
    let aside = "partial-\(token)"
    guard renameat(root.descriptor, "partial", root.descriptor, aside) == 0 else {
      throw .system("rename", path("partial"), errno: errno)
    }
    let old = partial
    let folder = try Folder(path: path("partial"), creating: true)
    partialFolder.withLock { $0 = folder }
    // A folder without a name takes no new file either.
    for name in (try? old.names()) ?? [] { unlinkat(old.descriptor, name, 0) }
    unlinkat(root.descriptor, aside, AT_REMOVEDIR)
  }

  /// Whether there are no pictures.
  package var holdsNothing: Bool {
    if let listing { return (try? listing.objects().isEmpty) ?? false }
    return (try? existingFolders().allSatisfy { try folder($0).names().isEmpty }) ?? true
  }

  /// The path of something in the cache, for messages and other libraries.
  package func path(_ name: String) -> String {
    "\(root.path)/\(name)"
  }

  /// The folder that holds the pictures whose name starts with these two digits.
  func folder(_ number: UInt8, creating: Bool = true) throws(LarderError) -> Folder {
    let open = folders.withLock { folders in
      if creating { folders.filled[Int(number)] = true }
      return folders.open[number]
    }
    if let open { return open }
    // Set before another thread can see the folder, and also when it exists: a killed run may have made it.
    if creating { hasUnsyncedNames.store(true, ordering: .sequentiallyConsistent) }
    let folder = try Folder(
      path: "\(images.path)/\(PictureName.folderName(number))",
      creating: creating
    )
    folders.withLock { $0.open[number] = folder }
    return folder
  }

  /// The picture folders that this process may have put files in.
  var filledFolders: [UInt8] {
    let filled = folders.withLock { $0.filled }
    return (UInt8.min...UInt8.max).filter { filled[Int($0)] }
  }

  /// Waits until the picture folders themselves are on the device: a synced folder is lost with all
  /// that is in it when the name that leads there is.
  ///
  /// - Throws: ``LarderError``; the next call tries again.
  func syncFolderNames(on disk: some Disk) throws(LarderError) {
    guard hasUnsyncedNames.exchange(false, ordering: .sequentiallyConsistent) else { return }
    do {
      try disk.sync(images)
    } catch {
      hasUnsyncedNames.store(true, ordering: .sequentiallyConsistent)
      throw error
    }
  }

  /// The same without creating it; nil if there is none, or a link or file at its path.
  func existingFolder(_ number: UInt8) throws(LarderError) -> Folder? {
    guard try images.findKind(PictureName.folderName(number)) == S_IFDIR else { return nil }
    return try folder(number, creating: false)
  }

  /// The picture folders that there are.
  func existingFolders() throws(LarderError) -> [UInt8] {
    try images.names().compactMap(pictureFolder).sorted()
  }

  /// The number of the picture folder of this name below `images/`; nil for anything else there.
  func pictureFolder(_ name: String) -> UInt8? {
    guard let number = folderNumber(named: name), images.kind(of: name) == S_IFDIR else {
      return nil
    }
    return number
  }

  /// The number of the picture folder that would have this name; nil where none would.
  func folderNumber(named name: String) -> UInt8? {
    UInt8(name, radix: 16).flatMap { PictureName.folderName($0) == name ? $0 : nil }
  }

  /// Makes the folders above `path` as `mkdir -p` would.
  private static func makeParents(of path: String) throws(LarderError) {
    var prefix = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/").dropLast() {
      prefix += prefix.isEmpty || prefix == "/" ? String(part) : "/" + part
      if mkdir(prefix, 0o755) != 0, errno != EEXIST {
        // A folder that exists but may not be written answers EROFS or EACCES before EEXIST.
        var status = stat()
        if stat(prefix, &status) != 0 { throw .system("make", prefix, errno: errno) }
      }
    }
  }

  /// The name of the file in which a check notes how far it came.
  private static let noteName = "verify.json"

  /// The note of an interrupted check; nil if there is none.
  package func note() -> String? {
    root.text(of: Self.noteName, limit: 16 << 20)
  }

  /// Notes how far a check came, in one step, or that nothing is left to be done.
  package func setNote(_ text: String?) {
    guard let text else {
      unlinkat(root.descriptor, Self.noteName, 0)
      return
    }
    let disk = SystemDisk()
    let temporary = Self.noteName + ".new"
    guard let file = try? disk.create(temporary, in: root) else { return }
    do throws(LarderError) {
      try disk.append(Array(text.utf8).span.bytes, to: file)
      try disk.sync(file)
      try disk.rename(temporary, in: root, to: Self.noteName, in: root)
    } catch {
      try? disk.remove(temporary, in: root)
    }
  }
}

/// The picture folders of a cache that this process uses.
private struct PictureFolders {
  var open: [UInt8: Folder] = [:]
  /// Whether files may have been put there, by the folder's number.
  var filled = [Bool](repeating: false, count: 256)
}
