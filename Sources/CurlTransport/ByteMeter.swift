import Transport

/// Counts the body bytes of the whole run against what it may take.
final class ByteMeter {
  private var left: ByteCount

  init(limit: ByteCount?) {
    left = limit ?? ByteCount(Int64.max)
  }

  /// Whether the run may take nothing more.
  private(set) var isExhausted = false

  /// Takes note of bytes that arrived; false once they are more than the run may take.
  func count(_ bytes: Int) -> Bool {
    left -= ByteCount(bytes)
    if left < .zero { isExhausted = true }
    return !isExhausted
  }
}
