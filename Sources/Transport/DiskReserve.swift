import Base
import Glibc

/// Space that a run leaves free on a disk for other programs.
package struct DiskReserve: Sendable {
  /// The room to be left.
  package let size: ByteCount
  private let free: @Sendable () -> ByteCount?

  /// A reserve on a disk that the caller measures.
  ///
  /// - Parameters:
  ///   - size: The room to be left.
  ///   - free: Measures the room that is left now; nil when that cannot be told.
  package init(_ size: ByteCount, free: @escaping @Sendable () -> ByteCount?) {
    (self.size, self.free) = (size, free)
  }

  /// A reserve on the disk of a folder, which may not be there yet.
  package init(_ size: ByteCount, of folder: String) {
    self.init(size) { Self.free(of: folder) }
  }

  /// Whether more may be written; true where the room cannot be told.
  package var isKept: Bool { free().map { $0 >= size } ?? true }

  /// The room of the disk of a folder, or of the nearest one above it that is there.
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
