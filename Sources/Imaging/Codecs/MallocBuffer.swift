import Glibc

/// A buffer that C allocated with malloc, freed exactly once.
struct MallocBuffer: ~Copyable {
  var bytes: UnsafeMutablePointer<UInt8>?
  var count = 0

  /// A copy of the bytes in an array.
  func take() -> [UInt8] {
    Array(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
  }

  deinit { free(bytes) }
}

extension MallocBuffer {
  /// Collects the output of `encode` in an array with space for `room` bytes.
  ///
  /// An output that fits is never in memory twice. An output that does not fit is allocated by `encode` with malloc,
  /// and is copied.
  ///
  /// - Parameters:
  ///   - room: A number of bytes in which most outputs fit.
  ///   - encode: Gets the address and the size of the room, and replaces them by the address and the size of the
  ///     output. Returns false if it made no output.
  /// - Returns: The output; nil if `encode` made none.
  static func collect(
    room: Int,
    _ encode: (
      _ bytes: inout UnsafeMutablePointer<UInt8>?,
      _ count: inout Int
    ) -> Bool
  ) -> [UInt8]? {
    var elsewhere = MallocBuffer()
    var isMade = false
    let bytes = [UInt8](unsafeUninitializedCapacity: max(room, 1)) { room, count in
      var (out, size) = (room.baseAddress, room.count)
      isMade = encode(&out, &size)
      guard isMade else { return }
      if out == room.baseAddress {
        count = size
      } else {
        (elsewhere.bytes, elsewhere.count) = (out, size)
      }
    }
    guard isMade else { return nil }
    return elsewhere.bytes == nil ? bytes : elsewhere.take()
  }
}
