import Glibc

/// Items' ids one behind the other, each ended by a zero byte, as a listing keeps them.
enum PackedKeys {
  /// The places of an id among the others, counting from 0.
  ///
  /// A listing of a million ids is searched in the time that it takes to read it once.
  ///
  /// - Parameters:
  ///   - wanted: The id, ended by a zero byte.
  ///   - keys: All ids.
  /// - Returns: Where it stands, in ascending order; nothing when it does not.
  static func places(of wanted: [UInt8], in keys: UnsafeRawBufferPointer) -> [Int] {
    guard let start = keys.baseAddress else { return [] }
    var places: [Int] = []
    var (offset, place) = (0, 0)
    while offset < keys.count, let end = memchr(start + offset, 0, keys.count - offset) {
      let next = start.distance(to: UnsafeRawPointer(end)) + 1
      if next - offset == wanted.count, memcmp(start + offset, wanted, wanted.count) == 0 {
        places.append(place)
      }
      (offset, place) = (next, place + 1)
    }
    return places
  }
}
