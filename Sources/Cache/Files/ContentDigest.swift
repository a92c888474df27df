import Crypto

/// The SHA-256 of bytes, and its first 63 bits for hash tables.
package enum ContentDigest {
  /// The SHA-256 of `bytes`, 32 bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: bytes))
  }

  /// The first 63 bits of the SHA-256 of `bytes`.
  package static func number(of bytes: [UInt8]) -> Int64 {
    bytes.withUnsafeBytes { SHA256.hash(data: $0).withUnsafeBytes { prefix($0) } }
  }

  /// The first 63 bits of a digest; never 0, because the index uses 0 for a picture without bytes.
  static func prefix(_ digest: some Collection<UInt8>) -> Int64 {
    let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return max(1, Int64(number & UInt64(Int64.max)))
  }
}

/// The first 128 bits of a SHA-256: the key of pictures, documents and other things that a feed can refer to.
///
/// To find a second text for a given key takes 2^128 attempts; to find any two texts with the same key takes 2^64. With
/// 47 bits, one core found two URLs with the same key in 36 seconds.
package struct IdentityDigest: Hashable, Comparable, Sendable {
  /// The first 8 bytes, big-endian.
  package let high: UInt64
  /// The next 8 bytes, big-endian.
  package let low: UInt64

  /// Makes a key from its halves.
  package init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// The key of bytes.
  package init(of bytes: UnsafeRawBufferPointer) {
    self = SHA256.hash(data: bytes).withUnsafeBytes { Self(reading: $0) }
  }

  /// The key of bytes.
  package init(of bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { Self(of: $0) }
  }

  /// The key of a text in UTF-8.
  package init(of text: String) {
    var text = text
    self = text.withUTF8 { Self(of: UnsafeRawBufferPointer($0)) }
  }

  /// Reads a key from at least ``size`` bytes.
  init(reading bytes: UnsafeRawBufferPointer) {
    high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// The number of bytes of a key.
  static let size = 16

  /// The key as the index stores it; the bytes have the same order as the keys.
  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
      write(to: UnsafeMutableRawBufferPointer(buffer))
      count = Self.size
    }
  }

  /// Writes the key to at least ``size`` bytes.
  func write(to buffer: UnsafeMutableRawBufferPointer) {
    buffer.storeBytes(of: high.bigEndian, as: UInt64.self)
    buffer.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
  }

  /// Compares the bytes.
  package static func < (left: IdentityDigest, right: IdentityDigest) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Half of the key is enough, because hash tables also compare the whole key.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }

  /// A list of keys as the index stores it: their bytes in sequence.
  static func pack(_ keys: some Collection<IdentityDigest>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: keys.count * size) { buffer, count in
      for key in keys {
        key.write(
          to: UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]
          )
        )
        count += size
      }
    }
  }

  /// The keys of a packed list; an incomplete last key is left out.
  static func unpack(_ bytes: UnsafeRawBufferPointer) -> [IdentityDigest] {
    (0..<bytes.count / size).map {
      IdentityDigest(reading: UnsafeRawBufferPointer(rebasing: bytes[($0 * size)...]))
    }
  }
}

/// Computes a digest of bytes that arrive piece by piece.
package struct RunningDigest: Sendable {
  private var hash = SHA256()

  /// Makes a digest without bytes.
  package init() {}

  /// Adds bytes.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    hash.update(bufferPointer: bytes)
  }

  /// The ``ContentDigest/number(of:)`` of all bytes so far.
  package var number: Int64 { hash.finalize().withUnsafeBytes { ContentDigest.prefix($0) } }
}
