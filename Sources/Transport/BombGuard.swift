import Base

/// Detects decompression bombs: small compressed bodies that are made to fill the memory of the program that unpacks
/// them.
///
/// JSON and feeds become 5 to 50 times as large when they are unpacked. Runs of one byte become a thousand times as
/// large, and a million times if they were packed twice. So the limit is for all layers of compression together: it
/// compares the output of the last layer with the bytes on the wire.
package struct BombGuard {
  /// The largest ratio of an unpacked body to its bytes on the wire.
  package static let mostTimes: Int64 = 200
  /// The size that every body may reach, even if only a few bytes were sent.
  package static let harmless = ByteCount.mebibytes(1)

  /// The largest allowed body for `count` bytes on the wire.
  package static func limit(ofPacked count: ByteCount) -> ByteCount {
    let (product, isOver) = count.count.multipliedReportingOverflow(by: mostTimes)
    return max(harmless, ByteCount(isOver ? .max : product))
  }

  /// The error message for a body beyond the limit.
  package static let words =
    "unpacked, it is more than \(mostTimes) times as large as its packed form"
}
