import Transport

/// Counts the body bytes of the whole run against what it may take, and looks at the room that the disk is to keep.
final class ByteMeter {
  private var left: ByteCount
  private let reserve: DiskReserve?
  /// How many bytes may come before the disk is looked at again.
  private var unlooked: ByteCount = .zero

  /// A look costs a system call; in between the room shrinks by this much at most, and by what waits in memory.
  private static let stride: ByteCount = 1_048_576

  init(limit: ByteCount?, reserve: DiskReserve? = nil) {
    left = limit ?? ByteCount(Int64.max)
    self.reserve = reserve
  }

  /// Why the run may take nothing more; nil while it may.
  private(set) var end: FailureReason?

  /// Takes note of bytes that arrived.
  ///
  /// - Parameter bytes: How many.
  /// - Returns: Why they are too many; nil when the run may take them.
  func count(_ bytes: Int) -> FailureReason? {
    guard end == nil else { return end }
    left -= ByteCount(bytes)
    if left < .zero { end = .bytesLimit }
    guard let reserve, end == nil else { return end }
    unlooked -= ByteCount(bytes)
    if unlooked < .zero {
      unlooked = Self.stride
      if !reserve.isKept { end = .keepFree }
    }
    return end
  }
}
