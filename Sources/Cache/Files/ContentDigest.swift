import Hashing

/// Computes the SHA-256 of bytes, and a number of 63 bits from its beginning for hash tables.
package enum ContentDigest {
  /// The SHA-256 of `bytes`, 32 bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    SHA256.digest(of: bytes)
  }

  /// A number made of 63 bits at the beginning of the SHA-256 of `bytes`; never 0.
  package static func number(of bytes: [UInt8]) -> Int64 {
    prefix(SHA256.digest(of: bytes))
  }

  /// The first 64 bits of a digest without the topmost bit, as a number.
  ///
  /// It is at least 1, because the index uses 0 for a picture without bytes.
  static func prefix(_ digest: some Collection<UInt8>) -> Int64 {
    let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return max(1, Int64(number & UInt64(Int64.max)))
  }
}

/// The first 128 bits of a SHA-256, which the index uses as the key of pictures, documents, items and listings.
///
/// An attacker needs about 2^64 attempts to find two texts with the same key. With keys of 47 bits, one processor core
/// found two such URLs in 36 seconds.
package struct IdentityDigest: Hashable, Comparable, Sendable {
  /// The first 8 bytes, big-endian.
  package let high: UInt64
  /// The next 8 bytes, big-endian.
  package let low: UInt64

  /// Makes a key from its halves.
  package init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// The key of the given bytes.
  package init(of bytes: UnsafeRawBufferPointer) {
    self = SHA256.digest(of: bytes.bytes).withUnsafeBytes { Self(reading: $0) }
  }

  /// The key of the given bytes.
  package init(of bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { Self(of: $0) }
  }

  /// The key of the UTF-8 bytes of `text`.
  package init(of text: String) {
    var text = text
    self = text.withUTF8 { Self(of: UnsafeRawBufferPointer($0)) }
  }

  /// Reads a key from the first ``size`` bytes of a buffer.
  init(reading bytes: UnsafeRawBufferPointer) {
    high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// The size of a stored key in bytes.
  static let size = 16

  /// The key as the index stores it.
  ///
  /// Keys and their stored bytes have the same sorting order.
  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
      write(to: UnsafeMutableRawBufferPointer(buffer))
      count = Self.size
    }
  }

  /// Writes the key to the first ``size`` bytes of a buffer.
  func write(to buffer: UnsafeMutableRawBufferPointer) {
    buffer.storeBytes(of: high.bigEndian, as: UInt64.self)
    buffer.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
  }

  /// Compares the bytes.
  package static func < (left: IdentityDigest, right: IdentityDigest) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Hashes only half of the key, because a hash table also compares the whole keys.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }
}

/// Computes the SHA-256 of bytes that arrive piece by piece.
package struct RunningDigest: Sendable {
  private var hash = SHA256()

  /// Makes the digest of no bytes.
  package init() {}

  /// Adds the next bytes.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    hash.add(bytes.bytes)
  }

  /// The ``ContentDigest/number(of:)`` of all bytes that were added so far.
  package var number: Int64 { ContentDigest.prefix(hash.digest) }

  /// The ``IdentityDigest`` of all bytes that were added so far.
  var identity: IdentityDigest { hash.digest.withUnsafeBytes { IdentityDigest(reading: $0) } }
}
