/// A body whose bytes are read by their place, be they in memory or in a file.
package protocol RandomAccessBody: Sendable {
  /// How many bytes there are.
  var count: Int { get }

  /// Copies bytes.
  ///
  /// - Parameters:
  ///   - range: Which; all of them are in the body.
  ///   - buffer: As many bytes of room.
  /// - Returns: false when they cannot be read.
  func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) -> Bool
}

extension [UInt8]: RandomAccessBody {
  /// Copies bytes, which are there.
  package func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) -> Bool {
    withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
    return true
  }
}
