import Glibc
import Synchronization

/// The files of one folder, kept in memory for as long as they stay the same on disk.
final class Folder: Sendable {
  /// What tells one state of a file from the next.
  private struct Stamp: Equatable {
    let device, inode: UInt
    let size, seconds, nanoseconds: Int

    init?(_ path: String) {
      var info = stat()
      guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
      device = info.st_dev
      inode = info.st_ino
      size = info.st_size
      seconds = info.st_mtim.tv_sec
      nanoseconds = info.st_mtim.tv_nsec
    }
  }

  private let root: String
  private let held = Mutex<[String: (stamp: Stamp, servable: Servable)]>([:])

  init(_ path: String) throws(StoreError) {
    var info = stat()
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, let root = Self.real(path)
    else {
      throw StoreError(
        .folder,
        "serve \(path)",
        "it is not a folder that can be read",
        "name a folder"
      )
    }
    self.root = root == "/" ? "" : root
  }

  /// Reads the file at a path that holds no dot segments, unless the copy in memory still fits.
  ///
  /// A link that leads out of the folder is as good as no file.
  func find(_ path: String, servable: (String, Resource) -> Servable) -> Servable? {
    guard let stamp = Stamp(root + path) else { return nil }
    if let held = held.withLock({ $0[path] }), held.stamp == stamp { return held.servable }
    guard let real = Self.real(root + path), real.hasPrefix(root + "/"),
      Stamp(real) == stamp, let bytes = Self.read(real)
    else { return nil }
    let type = MediaType.of(path: path)
    let made = servable(path, Resource(bytes, type: type, lastModified: stamp.seconds))
    held.withLock { $0[path] = (stamp, made) }
    return made
  }

  /// Drops every copy, because the rules that went into it have changed.
  func forget() {
    held.withLock { $0.removeAll() }
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func read(_ path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
      let count = Glibc.read(file, &piece, piece.count)
      if count == 0 { return bytes }
      guard count > 0 else { return nil }
      bytes += piece[..<count]
    }
  }
}
