import Glibc

/// Bytes that a C function made with malloc, freed exactly once.
struct MallocBuffer: ~Copyable {
  var bytes: UnsafeMutablePointer<UInt8>?
  var count = 0

  /// A copy that Swift owns.
  func take() -> [UInt8] {
    Array(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
  }

  deinit { free(bytes) }
}

extension MallocBuffer {
  /// The output of `encode` in `room` bytes that are Swift's own, so that a file which fits there
  /// is never in memory twice; a larger one comes in memory that was made with malloc, and is
  /// copied.
  ///
  /// - Parameters:
  ///   - room: Bytes that most files fit in.
  ///   - encode: Takes the room and its size, and leaves there where the file is, and its size; false
  ///     when there is none.
  /// - Returns: The file; nil where `encode` made none.
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
