import Base
import Glibc

/// Space that a run leaves free on a disk for other programs.
package struct DiskReserve: Sendable {
  /// The space to leave free.
  package let size: ByteCount
  private let free: @Sendable () -> ByteCount?

  /// A reserve on a disk that the caller measures.
  ///
  /// - Parameters:
  ///   - size: The space to leave free.
  ///   - free: Measures the free space now; nil when it is unknown.
  package init(_ size: ByteCount, free: @escaping @Sendable () -> ByteCount?) {
    (self.size, self.free) = (size, free)
  }

  /// A reserve on the disk of a folder, which need not exist yet.
  package init(_ size: ByteCount, of folder: String) {
    self.init(size) { Self.free(of: folder) }
  }

  /// Whether more may be written; true if the free space is unknown.
  package var isKept: Bool { free().map { $0 >= size } ?? true }

  /// The free space on the disk of a folder, or of its nearest ancestor that exists.
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
