import CCrypto

/// Computes the SHA-256 of bytes that arrive piece by piece. (FIPS 180-4)
package struct SHA256: Sendable {
  private var state = SHA256_CTX()

  /// The size of a digest in bytes.
  private static let size = 32
  /// The size in bytes of the blocks that SHA-256 processes.
  private static let block = 64

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
    var key = key.count > block ? digest(of: key) : key
    key += repeatElement(0, count: block - key.count)
    let inner = digest(of: key.map { $0 ^ 0x36 } + message)
    return digest(of: key.map { $0 ^ 0x5C } + inner)
  }

  /// Whether `code` is the ``code(of:key:)`` of the message; compares in constant time.
  package static func isCode(_ code: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
    code.count == size && ccrypto_is_equal(code, self.code(of: message, key: key), size)
  }
}
