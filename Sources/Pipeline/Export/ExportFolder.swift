import Base
import Cache
import FoundationEssentials
import Glibc
import SystemPackage
import Transport

/// The folder that an export fills.
///
/// Every file in it is whole at any moment, because it is written under a temporary name and then renamed.
struct ExportFolder {
  /// How a file came into the folder.
  enum Arrival: Equatable {
    /// The file was already there.
    case unchanged
    /// It was linked to the file of the cache, by a hard link.
    case linked
    /// It was copied.
    case copied
    /// It is not in the folder, because the file of the cache no longer exists, or has other bytes than expected.
    case missing
  }

  let path: String
  private let temporary: String

  /// Creates the folder if necessary, and removes partial files of exports that were killed.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - isAlive: Whether a process with this id exists.
  /// - Throws: ``LarderError`` when the folder cannot be made.
  init(_ path: String, isAlive: (pid_t) -> Bool = Self.isAlive) throws(LarderError) {
    self.path = path
    temporary = "\(path)/\(Self.temporaryName(of: getpid()))"
    try Self.make(path, isNamed: true)
    for name in (try? Files.names(in: path)) ?? [] {
      guard let owner = Self.owner(of: name), owner != getpid(), !isAlive(owner) else { continue }
      var status = stat()
      guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        continue
      }
      unlink("\(path)/\(name)")
    }
  }

  /// Whether a path is that of an existing folder or leads into it, also through links.
  ///
  /// The end of the path need not exist.
  static func isPlace(_ path: String, inside folder: String) -> Bool {
    var (own, here) = (stat(), stat())
    guard stat(folder, &own) == 0 else { return false }
    var path = FilePath(path)
    while !path.isEmpty, stat(path.string, &here) != 0 { path.removeLastComponent() }
    path.append(".")
    while stat(path.string, &here) == 0, !isSame(own, here) {
      let last = here
      path.append("..")
      guard stat(path.string, &here) == 0, !isSame(last, here) else { return false }
    }
    return isSame(own, here)
  }

  /// The temporary name of a file that a process is writing.
  private static func temporaryName(of process: pid_t) -> String { ".larder-\(process).tmp" }

  /// Opens a file in the folder, to write the file piece by piece.
  func file(_ name: String) throws(LarderError) -> ExportFile {
    try ExportFile("\(path)/\(name)", temporary: "\(path)/.larder-\(getpid())-\(name).tmp")
  }

  /// The id of the process that writes a temporary file, as the file's name gives it; nil if the name is not that of a
  /// temporary file.
  static func owner(of name: String) -> pid_t? {
    guard name.hasPrefix(".larder-"), name.hasSuffix(".tmp") else { return nil }
    let digits = name.dropFirst(".larder-".count).prefix { $0 != "-" && $0 != "." }
    let list = name.dropFirst(".larder-".count + digits.count).dropLast(".tmp".count)
    guard let process = pid_t(digits), process > 0, String(process) == digits,
      list.isEmpty || ["-\(ExportDocument.name)", "-\(ExportRecord.name)"].contains(list)
    else { return nil }
    return process
  }

  private static func isAlive(_ process: pid_t) -> Bool {
    kill(process, 0) == 0 || errno != ESRCH
  }

  /// Whether no file is at a path in the folder, or the same file as in the cache.
  ///
  /// - Parameters:
  ///   - relative: The path in the folder.
  ///   - source: The path of the file of the cache; nil if there is none.
  /// - Returns: Whether a file can be put there without the loss of another.
  func isFree(_ relative: String, from source: String?) -> Bool {
    var (held, there) = (stat(), stat())
    guard lstat("\(path)/\(relative)", &there) == 0 else { return true }
    guard let source, lstat(source, &held) == 0 else { return false }
    return Self.isSame(held, there) || Self.isEqual(held, there)
  }

  private static func isSame(_ held: stat, _ there: stat) -> Bool {
    held.st_ino == there.st_ino && held.st_dev == there.st_dev
  }

  private static func isEqual(_ held: stat, _ there: stat) -> Bool {
    // FAT stores times in steps of two seconds.
    there.st_mode & S_IFMT == S_IFREG && held.st_size == there.st_size
      && abs(held.st_mtim.tv_sec - there.st_mtim.tv_sec) < 2
  }

  /// Puts a file of the cache at a path in the folder.
  ///
  /// - Parameters:
  ///   - source: The path of the file of the cache.
  ///   - relative: The path in the folder.
  ///   - links: Whether to make a hard link. If that is impossible, the file is copied.
  ///   - isRight: Called with the status of the file of the cache; whether the file has the expected bytes.
  ///   - mayKeep: Whether a file in the folder that has the same size and time can have the same bytes.
  /// - Returns: How the file came into the folder.
  /// - Throws: ``LarderError`` when it cannot be put there.
  func place(
    _ source: String,
    at relative: String,
    links: Bool,
    isRight: (stat) -> Bool = { _ in true },
    mayKeep: Bool = true
  ) throws(LarderError) -> Arrival {
    let target = "\(path)/\(relative)"
    for parent in ExportPath.parents(of: relative) { try Self.make("\(path)/\(parent)") }
    let descriptor = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return .missing }
    defer { close(descriptor) }
    var (held, there) = (stat(), stat())
    guard fstat(descriptor, &held) == 0, held.st_mode & S_IFMT == S_IFREG, isRight(held) else {
      return .missing
    }
    let isThere = lstat(target, &there) == 0
    let isSame = isThere && Self.isSame(held, there)
    if links, isSame { return .unchanged }
    unlink(temporary)
    var arrival = Arrival.linked
    if !links || link(source, temporary) != 0 {
      if isThere, !isSame, mayKeep, Self.isEqual(held, there) { return .unchanged }
      arrival = .copied
      do throws(LarderError) {
        try copy(descriptor, held)
      } catch {
        unlink(temporary)
        throw error
      }
    } else if lstat(temporary, &there) != 0 || !Self.isSame(held, there) {
      // A sync has replaced the file since it was opened.
      unlink(temporary)
      return .missing
    }
    guard rename(temporary, target) == 0 else {
      let code = errno
      unlink(temporary)
      throw Self.failure("write", target, code)
    }
    return arrival
  }

  /// Writes text to a file in the folder, atomically.
  ///
  /// If the file already has this text, it is not written.
  func write(_ text: String, to relative: String) throws(LarderError) {
    let file = try file(relative)
    try file.append(text.utf8)
    try file.finish()
  }

  /// Reads a file in the folder; nil if there is no file, or if a symbolic link is at its path.
  func bytes(of relative: String) -> [UInt8]? { Files.contents(of: "\(path)/\(relative)") }

  /// The size and the modification time of a file in the folder; nil if there is no file, or if its path leads through
  /// a symbolic link.
  func state(of relative: String) -> (bytes: ByteCount, modified: Int64)? {
    var status = stat()
    for parent in ExportPath.parents(of: relative) {
      guard lstat("\(path)/\(parent)", &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        return nil
      }
    }
    guard lstat("\(path)/\(relative)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    return (ByteCount(status.st_size), Int64(status.st_mtim.tv_sec))
  }

  /// The record of earlier exports.
  var record: ExportRecord {
    bytes(of: ExportRecord.name).flatMap(ExportRecord.init(decoding:)) ?? ExportRecord()
  }

  /// The record's entry for an existing file.
  func file(_ relative: String, of url: String?, sha256: String? = nil) -> ExportRecord.File {
    let state = state(of: relative)
    return ExportRecord.File(
      url: url,
      bytes: state?.bytes,
      modified: state?.modified,
      sha256: sha256
    )
  }

  /// The type of a picture file of the cache, by its first bytes; nil if it is not a picture.
  static func type(of source: String) -> PictureType? {
    let descriptor = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var head = [UInt8](repeating: 0, count: PictureType.sniffLength)
    let count = pread(descriptor, &head, head.count, 0)
    return count > 0 ? PictureType(shown: head[..<count]) : nil
  }

  /// Removes a file in the folder, and the folders above it that are then empty.
  ///
  /// - Parameters:
  ///   - relative: The file's path in the folder.
  ///   - file: The record of the file. If the file has changed since it was recorded, it is not removed.
  /// - Returns: Whether the file was removed.
  /// - Throws: ``LarderError`` when the system refuses.
  func remove(_ relative: String, ifStill file: ExportRecord.File) throws(LarderError) -> Bool {
    guard let state = state(of: relative), file.bytes.map({ $0 == state.bytes }) ?? true,
      file.modified.map({ $0 == state.modified }) ?? true
    else { return false }
    guard unlink("\(path)/\(relative)") == 0 else {
      throw Self.failure("remove", "\(path)/\(relative)", errno)
    }
    for parent in ExportPath.parents(of: relative).reversed() {
      guard rmdir("\(path)/\(parent)") == 0 else { break }
    }
    return true
  }

  private func copy(_ source: Int32, _ status: stat) throws(LarderError) {
    let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard file >= 0 else { throw Self.failure("create", temporary, errno) }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count: Int
      do throws(SystemError) {
        count = try Files.read(source, into: &buffer)
      } catch {
        throw Self.failure("read", "a picture", error.code)
      }
      try Self.append(buffer[..<count], to: file, path)
      if count < buffer.count { break }
    }
    _ = futimens(file, [status.st_atim, status.st_mtim])
  }

  /// Writes bytes to the end of an open file.
  static func append(
    _ bytes: ArraySlice<UInt8>,
    to file: Int32,
    _ path: String
  ) throws(LarderError) {
    do throws(SystemError) {
      try Files.write(bytes.span.bytes, to: file)
    } catch {
      throw failure("write", path, error.code)
    }
  }

  /// Creates a folder if it does not exist.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - isNamed: Whether the user named this path. If so, a symbolic link at the path is followed.
  /// - Throws: ``LarderError`` when it cannot be made.
  private static func make(_ path: String, isNamed: Bool = false) throws(LarderError) {
    var status = stat()
    let isThere = (isNamed ? stat(path, &status) : lstat(path, &status)) == 0
    if isThere, status.st_mode & S_IFMT == S_IFDIR { return }
    // A symbolic link in the exported folder could lead out of it. mkdir fails if a link or a file is at the path.
    guard mkdir(path, 0o755) == 0 else { throw failure("make", path, errno) }
  }

  static func failure(_ verb: String, _ path: String, _ code: Int32) -> LarderError {
    guard code == EINVAL || code == EILSEQ else {
      return .system(verb, path, errno: code, remedy: nil)
    }
    return LarderError(
      .disk,
      "cannot \(verb) \(path): its file system refuses the name; export to another one",
      thing: path,
      errno: code
    )
  }
}

extension ExportFolder {
  /// Downloads a picture from a remote store to a path in the folder, atomically.
  ///
  /// - Parameters:
  ///   - source: The picture's name in the store.
  ///   - remote: The store.
  ///   - relative: The path in the folder.
  ///   - digest: The SHA-256 of its bytes in hexadecimal digits. If the file in the folder already has this digest,
  ///     nothing is downloaded.
  /// - Returns: How the file came into the folder.
  /// - Throws: ``LarderError`` when the store cannot be read, or the folder cannot be written.
  func place(
    _ source: String,
    of remote: any RemotePictures,
    at relative: String,
    ifNot digest: String?
  ) throws(LarderError) -> Arrival {
    let target = "\(path)/\(relative)"
    if let digest, FileDigest(ofFile: target)?.hexadecimal == digest { return .unchanged }
    let sink = MemorySink()
    let isThere = try remote.read(source, into: sink) != nil
    let bytes = sink.bytes
    // Another program can have replaced the object.
    guard isThere, digest.map({ $0 == Hexadecimal.text(ContentDigest.sha256(bytes)) }) ?? true
    else { return .missing }
    for parent in ExportPath.parents(of: relative) { try Self.make("\(path)/\(parent)") }
    // A file of this name that a killed export left can be a hard link to a picture of a cache.
    unlink(temporary)
    do throws(SystemError) {
      try Files.replace(target, with: bytes.span.bytes, by: temporary, isDurable: false)
    } catch {
      throw Self.failure("write", target, error.code)
    }
    return .copied
  }
}

/// A file of an exported folder.
///
/// It is written piece by piece, so it can have any length.
///
/// It replaces an existing file atomically, and only if the two differ.
final class ExportFile {
  private let path: String
  private let temporary: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var isFinished = false

  private static let piece = 256 << 10

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - path: The final path.
  ///   - temporary: The path until the file is whole.
  /// - Throws: ``LarderError`` when it cannot be created.
  init(_ path: String, temporary: String) throws(LarderError) {
    (self.path, self.temporary) = (path, temporary)
    unlink(temporary)
    descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw ExportFolder.failure("create", temporary, errno) }
  }

  deinit {
    close(descriptor)
    if !isFinished { unlink(temporary) }
  }

  /// Adds bytes.
  ///
  /// - Throws: ``LarderError`` when they cannot be written.
  func append(_ bytes: some Sequence<UInt8>) throws(LarderError) {
    buffer += bytes
    if buffer.count >= Self.piece { try flush() }
  }

  /// Completes the file, and renames it to its final path.
  ///
  /// - Throws: ``LarderError`` when it cannot be put there.
  func finish() throws(LarderError) {
    try flush()
    if isThere() { return }
    guard fsync(descriptor) == 0, rename(temporary, path) == 0 else {
      throw ExportFolder.failure("write", path, errno)
    }
    isFinished = true
  }

  private func flush() throws(LarderError) {
    try ExportFolder.append(buffer[...], to: descriptor, path)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Whether a file with the same bytes is already at the final path.
  private func isThere() -> Bool {
    let held = FileDigest(ofFile: path)?.hexadecimal
    return held != nil && held == FileDigest(ofFile: temporary)?.hexadecimal
  }
}

/// The record of the files that exports wrote into a folder.
///
/// It is the file `export.json` in the folder.
///
/// An export never removes files that are not in the record, or that have changed since they were recorded.
struct ExportRecord: Codable, Equatable {
  /// One file.
  struct File: Codable, Equatable {
    /// The URL of the picture in the file; nil for `catalog.json`.
    var url: String?
    /// The file's size in bytes.
    var bytes: ByteCount?
    /// The file's modification time in Unix seconds; nil while the file is being written.
    var modified: Int64?
    /// The SHA-256 of a picture in hexadecimal digits; nil if it is not known.
    var sha256: String?
  }

  /// The name of the file.
  static let name = "export.json"

  /// The files, by their paths in the folder.
  var files: [String: File] = [:]

  /// An empty record.
  init() {}

  /// Reads a record; nil if it is malformed.
  ///
  /// Paths that lead out of the folder are ignored.
  init?(decoding bytes: [UInt8]) {
    guard let record = try? JSONDecoder().decode(ExportRecord.self, from: Data(bytes)) else {
      return nil
    }
    files = record.files.filter { Self.isBelow($0.key) }
  }

  /// The record as text.
  var text: String { String(decoding: (try? jsonLine()) ?? [], as: UTF8.self) + "\n" }

  /// The recorded files that the export no longer needs.
  ///
  /// These are files that the export did not write. The file of a picture that is not in the cache at the moment is
  /// still needed.
  ///
  /// - Parameters:
  ///   - written: The paths of the files that this export wrote or found unchanged.
  ///   - missing: The URLs of pictures that catalogs refer to, but that are not in the cache.
  ///   - spared: The URLs of pictures whose squares are still needed. In an export without squares, these are all
  ///     pictures of the catalogs.
  /// - Returns: The paths whose files can be removed, sorted.
  func outdated(written: Set<String>, missing: Set<String>, squaresOf spared: Set<String>)
    -> [String]
  {
    files.filter { path, file in
      let wanted = path.hasPrefix(ExportPlan.squares + "/") ? spared : missing
      return !written.contains(path) && !(file.url.map(wanted.contains) ?? false)
    }
    .keys.sorted()
  }

  /// Whether a path stays in the folder.
  private static func isBelow(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
      && !path.utf8.contains(0)
  }
}
