import NIOSSL

/// The certificate chain of a store, and the private key of its first certificate.
package struct TLSIdentity: Sendable {
  let configuration: TLSConfiguration

  /// Reads a certificate chain and a key from PEM files.
  ///
  /// - Parameters:
  ///   - certificateFile: The path of the chain, which begins with the server's own certificate.
  ///   - keyFile: The path of the private key of that certificate, without encryption.
  /// - Throws: ``SampleError`` with code `identity` when the chain or the key cannot be read.
  package init(certificateFile: String, keyFile: String) throws(SampleError) {
    let chain = try Self.read(certificateFile) { try NIOSSLCertificate.fromPEMFile($0) }
    let key = try Self.read(keyFile) { try NIOSSLPrivateKey(file: $0, format: .pem) }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) },
      privateKey: .privateKey(key)
    )
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    // A client that does not answer the end of TLS must not delay the stop of the store.
    configuration.shutdownTimeout = .milliseconds(100)
    self.configuration = configuration
  }

  private static func read<Value>(
    _ thing: String,
    _ body: (String) throws -> Value
  ) throws(SampleError) -> Value {
    do {
      return try body(thing)
    } catch {
      throw SampleError(
        .identity,
        "read \(thing)",
        "\(error)",
        "give a PEM file that openssl can read"
      )
    }
  }
}
