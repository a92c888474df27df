import CCrypto

/// Computes the SHA-256 of bytes that arrive piece by piece. (FIPS 180-4)
package struct SHA256: Sendable {
  private var state = SHA256_CTX()

  /// The size of a digest in bytes.
  private static let size = 32

  /// Makes the digest of no bytes.
  package init() { ccrypto_begin(&state) }

  /// Adds the next bytes.
  package mutating func add(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { ccrypto_add(&state, $0.baseAddress, $0.count) }
  }

  /// The digest of all bytes that were added so far, 32 bytes.
  package var digest: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
      var state = state
      if let start = buffer.baseAddress { ccrypto_end(&state, start) }
      count = Self.size
    }
  }

  /// The digest of `bytes`, 32 bytes.
  package static func digest(of bytes: RawSpan) -> [UInt8] {
    var hash = SHA256()
    hash.add(bytes)
    return hash.digest
  }

  /// The digest of `bytes`, 32 bytes.
  package static func digest(of bytes: [UInt8]) -> [UInt8] { digest(of: bytes.span.bytes) }

  /// The message authentication code HMAC-SHA256, 32 bytes. (RFC 2104)
  package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      if let start = buffer.baseAddress {
        ccrypto_code(key, key.count, message, message.count, start)
      }
      count = size
    }
  }
}
