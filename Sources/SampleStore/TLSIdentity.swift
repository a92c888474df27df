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
    self.init(chain, key)
  }

  /// Reads a certificate chain and a key from texts in PEM format.
  ///
  /// - Parameters:
  ///   - certificate: The chain, which begins with the server's own certificate.
  ///   - key: The private key of that certificate, without encryption.
  /// - Throws: ``SampleError`` with code `identity` when the chain or the key cannot be read.
  package init(certificate: String, key: String) throws(SampleError) {
    let chain = try Self.read("the certificate given") { _ in
      try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
    }
    let key = try Self.read("the key given") { _ in
      try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)
    }
    self.init(chain, key)
  }

  private init(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) },
      privateKey: .privateKey(key)
    )
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
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
