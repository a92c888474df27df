import Base
import CSQLite
import Glibc

/// The file of the outbox: found, made and kept to its owner.
enum OutboxFile {
  /// Makes the file and the folders above it as far as they are missing.
  ///
  /// Folders are 0700 and the file 0600 whatever the umask, for the file names who ordered what.
  /// What is made is synced, so that a power cut after the first order does not take the file's
  /// name away.
  ///
  /// - Throws: ``OrdersError`` when the system refuses.
  static func make(_ path: String) throws(OrdersError) {
    let folder = self.folder(of: path)
    try makeFolders(folder)
    // Made without a descriptor: closing one would drop the locks of this process on the file.
    // (https://sqlite.org/howtocorrupt.html, section 2.2)
    if mknod(path, S_IFREG | 0o600, 0) != 0, errno != EEXIST {
      throw .system("make", path, errno: errno)
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .system("open", path, errno: errno) }
    // A link in its place would put the orders where others might read them.
    guard status.st_mode & S_IFMT != S_IFLNK else { throw .system("open", path, errno: ELOOP) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw OrdersError(
        .disk,
        "cannot open \(path): "
          + (status.st_mode & S_IFMT == S_IFDIR ? "is a directory" : "not a regular file"),
        remedy: .nameFile,
        thing: path
      )
    }
    if status.st_mode & 0o077 != 0, fchmodat(AT_FDCWD, path, 0o600, AT_SYMLINK_NOFOLLOW) != 0 {
      throw .system("close to others", path, errno: errno)
    }
    if status.st_size == 0 { try sync(folder) }
  }

  /// The version that a SQLite database says it has, read from its header without a lock.
  ///
  /// - Returns: The `user_version` at offset 60; nil when there is no such file, or it is
  ///   something else. (SQLite, "Database File Format", section 1.3)
  static func version(of path: String) -> Int? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let file = larder_sqlite_open_header(path)
    else { return nil }
    defer { larder_sqlite_close_header(file) }
    var header = [UInt8](repeating: 0, count: 100)
    guard larder_sqlite_read_header(file, &header, Int32(header.count), 0) == 0,
      header.starts(with: "SQLite format 3\0".utf8)
    else { return nil }
    return header[60..<64].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The folder that a path lies in.
  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func makeFolders(_ path: String) throws(OrdersError) {
    var status = stat()
    if stat(path, &status) == 0 { return }
    let parent = folder(of: path)
    try makeFolders(parent)
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system("make", path, errno: errno) }
    try sync(parent)
  }

  private static func sync(_ folder: String) throws(OrdersError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // A folder that may be passed but not read cannot be synced by its users.
      if errno == EACCES { return }
      throw .system("open", folder, errno: errno)
    }
    defer { close(descriptor) }
    do throws(SystemError) {
      try Files.sync(folder: descriptor)
    } catch {
      throw .system("sync", folder, errno: error.code)
    }
  }
}
