import Base

/// Detects decompression bombs: small compressed bodies that are made to fill the memory of the program that unpacks
/// them.
///
/// JSON and XML documents become 5 to 50 times as large when they are unpacked. A long run of one byte becomes a
/// thousand times as large, or a million times as large if it was compressed twice. So the limit applies to all layers
/// of compression together: it compares the output of the last layer with the bytes that the server sent.
package enum BombGuard {
  /// The largest allowed ratio of an unpacked body to the bytes that the server sent.
  package static let mostTimes: Int64 = 200
  /// The size up to which an unpacked body is allowed regardless of the ratio.
  package static let harmless = ByteCount.mebibytes(1)

  /// The largest allowed size of an unpacked body if the server sent `count` bytes.
  package static func limit(ofPacked count: ByteCount) -> ByteCount {
    let (product, isOver) = count.count.multipliedReportingOverflow(by: mostTimes)
    return max(harmless, ByteCount(isOver ? .max : product))
  }

  /// The error message for a body that exceeds the limit.
  package static let words =
    "unpacked, it is more than \(mostTimes) times as large as its packed form"
}
