import Base
import Cache
import Glibc

/// A file of an exported folder that is written piece by piece, however long it becomes.
///
/// It takes its place in one step, and only when it differs from what is there.
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
  ///   - path: Where it goes.
  ///   - temporary: Where it is written until it is whole.
  /// - Throws: ``CacheError`` when it cannot be created.
  init(_ path: String, temporary: String) throws(CacheError) {
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
  /// - Throws: ``CacheError`` when they cannot be written.
  func append(_ bytes: some Sequence<UInt8>) throws(CacheError) {
    buffer += bytes
    if buffer.count >= Self.piece { try flush() }
  }

  /// Puts the file in its place.
  ///
  /// - Throws: ``CacheError`` when it cannot be put there.
  func finish() throws(CacheError) {
    try flush()
    if isThere() { return }
    guard fsync(descriptor) == 0, rename(temporary, path) == 0 else {
      throw ExportFolder.failure("write", path, errno)
    }
    isFinished = true
  }

  private func flush() throws(CacheError) {
    try ExportFolder.append(buffer[...], to: descriptor, path)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Whether a file with the same bytes stands at the path.
  private func isThere() -> Bool {
    let other = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard other >= 0 else { return false }
    defer { close(other) }
    var (own, status) = (stat(), stat())
    guard fstat(descriptor, &own) == 0, fstat(other, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG, own.st_size == status.st_size
    else { return false }
    var offset = 0
    while offset < own.st_size {
      guard let mine = try? Files.bytes(of: descriptor, Self.piece, at: offset), !mine.isEmpty,
        let theirs = try? Files.bytes(of: other, Self.piece, at: offset), mine == theirs
      else { return false }
      offset += mine.count
    }
    return true
  }
}
