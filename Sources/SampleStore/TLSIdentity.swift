import NIOSSL

/// The certificate chain of a store, and the private key of its first certificate.
package struct TLSIdentity: Sendable {
  let context: NIOSSLContext

  /// Reads a certificate chain and a key from PEM files.
  ///
  /// - Parameters:
  ///   - certificateFile: The path of the chain, which begins with the server's own certificate.
  ///   - keyFile: The path of the private key of that certificate, without encryption.
  /// - Throws: ``SampleError`` with code `identity` when the chain or the key cannot be read, or they do not fit.
  package init(certificateFile: String, keyFile: String) throws(SampleError) {
    let advice = "give a PEM file that openssl can read"
    let chain = try Self.attempt("read \(certificateFile)", advice) {
      try NIOSSLCertificate.fromPEMFile(certificateFile)
    }
    let key = try Self.attempt("read \(keyFile)", advice) {
      try NIOSSLPrivateKey(file: keyFile, format: .pem)
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) },
      privateKey: .privateKey(key)
    )
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    // A client that does not answer the end of TLS must not delay the stop of the store.
    configuration.shutdownTimeout = .milliseconds(100)
    let complete = configuration
    context = try Self.attempt("speak TLS", "give a key that fits the certificate") {
      try NIOSSLContext(configuration: complete)
    }
  }

  private static func attempt<Value>(
    _ task: String,
    _ advice: String,
    _ body: () throws -> Value
  ) throws(SampleError) -> Value {
    do {
      return try body()
    } catch {
      throw SampleError(.identity, task, "\(error)", advice)
    }
  }
}
