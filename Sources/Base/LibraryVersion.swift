/// The version of a C library, such as 7.88.1.
package struct LibraryVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  private let parts: [Int]

  /// Makes a version from its numbers.
  package init(_ major: Int, _ minor: Int, _ patch: Int) {
    parts = [major, minor, patch]
  }

  /// Unpacks a version number of libcurl, which has eight bits for each part. (CURL_VERSION_BITS)
  package init(bits: UInt32) {
    self.init(Int(bits >> 16 & 0xFF), Int(bits >> 8 & 0xFF), Int(bits & 0xFF))
  }

  /// Unpacks a version number of SQLite, which has three decimal digits for each part: 3040001 is 3.40.1.
  /// (SQLITE_VERSION_NUMBER)
  package init(thousands: Int32) {
    self.init(Int(thousands / 1_000_000), Int(thousands / 1000 % 1000), Int(thousands % 1000))
  }

  /// The version in text form, such as `7.88.1`.
  package var description: String { parts.map(String.init).joined(separator: ".") }

  /// Compares the numbers from left to right.
  package static func < (left: LibraryVersion, right: LibraryVersion) -> Bool {
    left.parts.lexicographicallyPrecedes(right.parts)
  }

  /// The message about a library that is older than `needed`; nil if the library is new enough.
  package func shortcoming(of library: String, needed: LibraryVersion) -> String? {
    guard self < needed else { return nil }
    return
      "\(library) \(self) is too old: larder needs \(needed) or later; update the system's package"
  }
}
