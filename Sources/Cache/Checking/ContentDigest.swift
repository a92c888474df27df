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

/// The digest of bytes that come piece by piece.
package struct RunningDigest: Sendable {
  private var hash = SHA256()

  /// Of no bytes yet.
  package init() {}

  /// Adds bytes.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    hash.update(bufferPointer: bytes)
  }

  /// What ``ContentDigest/number(of:)`` says of all bytes so far.
  package var number: Int64 { hash.finalize().withUnsafeBytes { ContentDigest.prefix($0) } }
}
