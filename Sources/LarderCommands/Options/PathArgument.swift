import ArgumentParser

/// A path on the command line.
enum PathArgument {
  /// Reads the value of an option or argument that names a file or folder.
  ///
  /// - Throws: `ValidationError` when it is empty, as a variable that is not set leaves it: an empty path would mean the
  ///   working folder in one place and nothing in another.
  static func read(_ argument: String) throws -> String {
    guard !argument.isEmpty else {
      throw ValidationError("a path cannot be empty; name one, or leave out the option")
    }
    return argument
  }
}

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

extension CompletionKind {
  /// Catalog files, which the shell lists by itself.
  ///
  /// Completions hold words of larder and files that the shell finds, never text of a feed or a cache: bash expands each
  /// word of a completion list, so that an id such as `$(command)` would be run.
  static let catalogFile = CompletionKind.file(extensions: ["yaml", "yml", "json"])
}
