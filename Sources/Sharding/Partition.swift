import Crypto

/// What decides which shard a URL belongs to.
package enum Partition: String, Sendable, Codable, CaseIterable {
  /// The URL: shards are of nearly one size.
  case url
  /// Its host and port: one shard alone asks a host.
  case host

  /// The shard of a URL, the same on every machine: the first 8 bytes of the SHA-256 of the text, big-endian,
  /// modulo the number of shards.
  ///
  /// - Parameters:
  ///   - url: The URL's text, as it is sent.
  ///   - host: Its host and port, as `host:port`.
  ///   - count: How many shards there are, at least 1.
  /// - Returns: A number from 0 to `count - 1`.
  package func shard(of url: String, host: String, among count: Int) -> Int {
    var text = self == .url ? url : host
    return text.withUTF8 { utf8 in
      SHA256.hash(data: UnsafeRawBufferPointer(utf8)).withUnsafeBytes { digest in
        Int(UInt64(bigEndian: digest.loadUnaligned(as: UInt64.self)) % UInt64(count))
      }
    }
  }
}
