import Base
import CGlibc
import Glibc

/// A file without a name in the cache, for a document's body that is too large for memory.
///
/// The kernel removes it when this object is released or the process ends, however that happens.
package final class BodyFile: Sendable {
  private let descriptor: Int32
  private let folder: String

  /// Makes an empty file.
  ///
  /// - Parameter layout: The cache that holds it.
  /// - Throws: ``LarderError`` when it cannot be made.
  package init(in layout: CacheLayout) throws(LarderError) {
    let partial = layout.partial
    folder = partial.path
    var descriptor = larder_unnamed(partial.descriptor, ".", 0o600)
    if descriptor < 0 {
      // Not every file system knows files without a name. The sweep removes files that a kill leaves here.
      let name = "body-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
      let flags = O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL
      descriptor = openat(partial.descriptor, name, flags, 0o600)
      if descriptor >= 0 { unlinkat(partial.descriptor, name, 0) }
    }
    self.descriptor = descriptor
    guard descriptor >= 0 else { throw .system("make a file in", folder, errno: errno) }
  }

  /// Takes an open file over.
  ///
  /// - Parameters:
  ///   - descriptor: The file.
  ///   - folder: Where it is, for messages.
  package init(descriptor: Int32, in folder: String) {
    self.descriptor = descriptor
    self.folder = folder
  }

  deinit { close(descriptor) }

  /// Writes bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - offset: Where they belong in the file.
  /// - Throws: ``LarderError`` when they cannot be written.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LarderError) {
    do throws(SystemError) {
      try Files.write(bytes.bytes, to: descriptor, at: offset)
    } catch {
      throw .system("write to", folder, errno: error.code)
    }
  }

  /// Reads bytes that were written.
  ///
  /// - Parameters:
  ///   - buffer: Room for them.
  ///   - offset: Where they are in the file.
  /// - Throws: ``LarderError`` when they cannot be read.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer,
    at offset: Int
  ) throws(LarderError) {
    do throws(SystemError) {
      guard try Files.read(descriptor, into: buffer, at: offset) == buffer.count else {
        throw SystemError(code: EIO)
      }
    } catch {
      throw .system("read from", folder, errno: error.code)
    }
  }
}
