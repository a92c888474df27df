import Glibc

/// A number of bytes: of a body, of a file, or of all that is held.
///
/// A type of its own, so that sizes are not mixed with seconds, counts and identities, which are as many bits.
package struct ByteCount: Hashable, Comparable, Sendable, Codable, AdditiveArithmetic {
  /// The number.
  package let count: Int64

  /// A number of bytes.
  package init(_ count: Int64) { self.count = count }

  /// A number of bytes in memory.
  package init(_ count: Int) { self.count = Int64(count) }

  /// No bytes.
  package static let zero = ByteCount(0 as Int64)

  /// So many times 1,048,576 bytes.
  package static func mebibytes(_ number: Int64) -> ByteCount { ByteCount(number << 20) }

  /// Reads a plain number.
  package init(from decoder: any Decoder) throws {
    count = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes a plain number.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(count)
  }

  /// Orders by size.
  package static func < (left: ByteCount, right: ByteCount) -> Bool { left.count < right.count }

  /// The sum.
  package static func + (left: ByteCount, right: ByteCount) -> ByteCount {
    ByteCount(left.count + right.count)
  }

  /// The difference.
  package static func - (left: ByteCount, right: ByteCount) -> ByteCount {
    ByteCount(left.count - right.count)
  }
}

extension ByteCount {
  /// The bytes of so many things of one size.
  package static func * (size: ByteCount, number: Int64) -> ByteCount {
    ByteCount(size.count * number)
  }
}

extension ByteCount: ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// So many bytes.
  package init(integerLiteral count: Int64) { self.init(count) }

  /// The number in digits.
  package var description: String { String(count) }
}

/// Room that a run leaves free on a disk, for whatever else the machine does.
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

/// Tells compressed bodies that are made to fill a memory from those that shops send.
///
/// JSON and feeds become 5 to 50 times as large when they are unpacked; runs of one byte, a thousand times, and a million
/// times when they are packed twice. The limit therefore holds for all layers together: what comes out of the last is
/// related to the bytes that came on the wire.
package struct BombGuard {
  /// How many times as large as what was sent an unpacked body may be.
  package static let mostTimes: Int64 = 200
  /// What a body may become whatever was sent.
  package static let harmless = ByteCount.mebibytes(1)

  /// How large a body may become of which so much was sent.
  package static func limit(ofPacked count: ByteCount) -> ByteCount {
    let (product, isOver) = count.count.multipliedReportingOverflow(by: mostTimes)
    return max(harmless, ByteCount(isOver ? .max : product))
  }

  /// What is said of one that becomes larger.
  package static let words =
    "unpacked, it is more than \(mostTimes) times as large as what was sent"
}
