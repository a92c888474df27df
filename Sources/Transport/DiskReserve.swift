import Base
import Glibc

/// The disk space that a run leaves free for other programs.
///
/// The option `--keep-free` sets it.
package struct DiskReserve: Sendable {
  private let size: ByteCount
  private let free: @Sendable () -> ByteCount?

  /// Makes a reserve on a disk whose free space is measured by a closure.
  ///
  /// - Parameters:
  ///   - size: The space to leave free.
  ///   - free: Returns the free space at the moment, or nil if it is not known.
  package init(_ size: ByteCount, free: @escaping @Sendable () -> ByteCount?) {
    (self.size, self.free) = (size, free)
  }

  /// Makes a reserve on the disk that contains a folder.
  ///
  /// The folder need not exist yet.
  package init(_ size: ByteCount, of folder: String) {
    self.init(size) { Self.free(of: folder) }
  }

  /// Whether at least the reserved space is free.
  ///
  /// The result is also true if the free space is not known.
  package var isKept: Bool { free().map { $0 >= size } ?? true }

  /// The free space on the disk that contains a folder.
  ///
  /// If the folder does not exist, its nearest existing parent folder counts.
  package static func free(of folder: String) -> ByteCount? {
    var path = folder.hasPrefix("/") ? folder : "./" + folder
    var status = statvfs()
    while statvfs(path, &status) != 0 {
      guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
        return nil
      }
      path = String(path[..<slash])
    }
    let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return ByteCount(bytes.overflow ? .max : Int64(clamping: bytes.partialValue))
  }
}
