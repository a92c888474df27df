import Crypto

/// The SHA-256 of bytes, and the number that stands for it where 63 bits are enough.
package enum ContentDigest {
  /// The SHA-256 of `bytes`, 32 bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: bytes))
  }

  /// The first 63 bits of the SHA-256 of `bytes`.
  package static func number(of bytes: [UInt8]) -> Int64 {
    bytes.withUnsafeBytes { SHA256.hash(data: $0).withUnsafeBytes { prefix($0) } }
  }

  /// The first 63 bits of a digest; never 0, which stands for nothing held.
  static func prefix(_ digest: some Collection<UInt8>) -> Int64 {
    let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return max(1, Int64(number & UInt64(Int64.max)))
  }
}

/// The first 128 bits of a SHA-256: the key of everything that a feed can name.
///
/// Nobody finds a second text for a given key: that takes 2^128 attempts, and two texts of one key take 2^64. With 47
/// bits, a core found two URLs of one key in 36 seconds.
package struct IdentityDigest: Hashable, Comparable, Sendable {
  /// The first 8 bytes, big-endian.
  package let high: UInt64
  /// The next 8 bytes, big-endian.
  package let low: UInt64

  /// A key from its halves.
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

  /// How many bytes a key has.
  static let size = 16

  /// The key as the index keeps it, in the order of ``<(_:_:)``.
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

  /// Orders by the bytes.
  package static func < (left: IdentityDigest, right: IdentityDigest) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Half of the key is enough for a hash table, which compares the whole.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }

  /// Lists of keys as the index keeps them, one after the other.
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

  /// The keys of such a list; a torn last one is left out.
  static func unpack(_ bytes: UnsafeRawBufferPointer) -> [IdentityDigest] {
    (0..<bytes.count / size).map {
      IdentityDigest(reading: UnsafeRawBufferPointer(rebasing: bytes[($0 * size)...]))
    }
  }
}

/// The digest of bytes that come piece by piece.
package struct RunningDigest: Sendable {
  private var hash = SHA256()

  /// Of no bytes yet.
  package init() {}

  /// Adds bytes.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    hash.update(bufferPointer: bytes)
  }

  /// The ``ContentDigest/number(of:)`` of all bytes so far.
  package var number: Int64 { hash.finalize().withUnsafeBytes { ContentDigest.prefix($0) } }
}
