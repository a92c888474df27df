import ArgumentParser

/// The file behind `--cacert`, looked at before anything is asked of anybody.
struct CertificateFile: Sendable {
  /// Its path.
  let path: String

  /// Reads the option's value.
  ///
  /// - Throws: `ValidationError` when the file cannot be read or holds no certificate.
  static func read(_ argument: String) throws -> CertificateFile {
    let bytes: [UInt8]
    do {
      bytes = try FileReading.bytes(argument, what: "certificates", limit: 16 << 20)
    } catch {
      throw ValidationError(CommandFailure(error)?.message ?? "it cannot be read")
    }
    // PEM as OpenSSL reads it. (RFC 7468, section 5)
    let marks = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]
    let text = String(decoding: bytes, as: UTF8.self)
    guard marks.contains(where: { text.contains("-----BEGIN \($0)-----") }) else {
      throw ValidationError("it holds no certificate; expected PEM: -----BEGIN CERTIFICATE-----")
    }
    return CertificateFile(path: argument)
  }
}
