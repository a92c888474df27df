import CTLS

/// The certificate chain of a server, and the private key of its first certificate.
package final class TLSIdentity: @unchecked Sendable {
  // SAFETY: A context of libssl is thread-safe once it is set up, which `init` does.
  let context: OpaquePointer

  /// Reads a certificate chain and a key from PEM files.
  ///
  /// - Parameters:
  ///   - certificateFile: The path of the chain, which begins with the server's own certificate.
  ///   - keyFile: The path of the private key of that certificate, without encryption.
  ///   - isHTTP2: Whether the server speaks HTTP/2 instead of HTTP/1.1. (RFC 7301)
  /// - Throws: The reason as libssl gives it, when the chain or the key cannot be read, or they do not fit.
  package init(
    certificateFile: String,
    keyFile: String,
    isHTTP2: Bool = false
  ) throws(Refused) {
    var (failure, reason) = (Int32(0), UnsafePointer<CChar>?.none)
    guard let context = ctls_make(certificateFile, keyFile, isHTTP2, &failure, &reason) else {
      throw Refused(reason: reason.map { String(cString: $0) } ?? "")
    }
    self.context = context
  }

  deinit { ctls_free(context) }

  /// The files make no identity.
  package struct Refused: Error {
    /// The reason as libssl gives it.
    let reason: String
  }
}
