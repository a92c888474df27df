import Base
import CGlibc
import Glibc

/// An unnamed temporary file in the cache, for the body of a document that is too large for memory.
///
/// The kernel removes the file when this object is released or the process ends.
package final class BodyFile: Sendable {
  private let descriptor: Int32
  private let folder: String

  /// Creates an empty file.
  ///
  /// - Parameter layout: The cache, in whose folder `partial/` the file is created.
  /// - Throws: ``LarderError`` when the file cannot be created.
  package init(in layout: CacheLayout) throws(LarderError) {
    let partial = layout.partial
    folder = partial.path
    var descriptor = larder_unnamed(partial.descriptor, ".", 0o600)
    if descriptor < 0 {
      // The file system does not support `O_TMPFILE`, so create a file with a name and unlink it. If the process is
      // killed in between, the next run removes the file.
      let name = "body-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
      let flags = O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL
      descriptor = openat(partial.descriptor, name, flags, 0o600)
      if descriptor >= 0 { unlinkat(partial.descriptor, name, 0) }
    }
    self.descriptor = descriptor
    guard descriptor >= 0 else { throw .system("make a file in", folder, errno: errno) }
  }

  /// Takes ownership of an open file.
  ///
  /// - Parameters:
  ///   - descriptor: The file's descriptor, which is closed when this object is released.
  ///   - folder: The folder's path, for messages.
  package init(descriptor: Int32, in folder: String) {
    self.descriptor = descriptor
    self.folder = folder
  }

  deinit { close(descriptor) }

  /// Writes bytes to the file.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - offset: The offset in the file at which to write.
  /// - Throws: ``LarderError`` when the bytes cannot be written.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LarderError) {
    do throws(SystemError) {
      try Files.write(bytes.bytes, to: descriptor, at: offset)
    } catch {
      throw .system("write to", folder, errno: error.code)
    }
  }

  /// Reads bytes of the file until the buffer is full.
  ///
  /// - Parameters:
  ///   - buffer: The buffer to fill.
  ///   - offset: The offset in the file at which to read.
  /// - Throws: ``LarderError`` when the bytes cannot be read, or the file ends earlier.
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
