/// Counts the body bytes of the whole run against what it may take.
final class ByteMeter {
  private var left: Int64

  init(limit: Int64?) {
    left = limit ?? .max
  }

  /// Whether the run may take nothing more.
  private(set) var isExhausted = false

  /// Takes note of bytes that arrived; false once they are more than the run may take.
  func count(_ bytes: Int) -> Bool {
    left -= Int64(bytes)
    if left < 0 { isExhausted = true }
    return !isExhausted
  }
}
