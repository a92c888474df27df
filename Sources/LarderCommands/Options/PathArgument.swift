import ArgumentParser

/// A path on the command line.
enum PathArgument {
  /// Parses the value of an option or argument that names a file or folder.
  ///
  /// - Throws: `ValidationError` when the path is empty, for example because a shell variable is not set. An empty path
  ///   would mean the working folder in some places, and no path in others.
  static func read(_ argument: String) throws -> String {
    guard !argument.isEmpty else {
      throw ValidationError("the path is empty; give one, or leave out the option")
    }
    return argument
  }
}

/// Checks the file of `--cacert` before any request is sent.
enum CertificateFile {
  /// Parses the option's value, and returns the file's path.
  ///
  /// - Throws: `ValidationError` when the file cannot be read or holds no certificate.
  static func read(_ argument: String) throws -> String {
    let bytes: [UInt8]
    do {
      bytes = try FileReading.bytes(argument, what: "certificates", limit: 16 << 20)
    } catch {
      throw ValidationError(CommandFailure(error)?.message ?? "it cannot be read")
    }
    // The PEM labels that OpenSSL accepts. (RFC 7468, section 5)
    let marks = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]
    let text = String(decoding: bytes, as: UTF8.self)
    guard marks.contains(where: { text.contains("-----BEGIN \($0)-----") }) else {
      throw ValidationError(
        "it contains no certificate; expected PEM: -----BEGIN CERTIFICATE-----"
      )
    }
    return argument
  }
}

extension CompletionKind {
  /// Completes the names of catalog files.
  ///
  /// The shell itself lists the files.
  ///
  /// Completions must never contain text from a shop, such as the ids of items. Bash expands each word of a completion
  /// list, so the shell would execute an id such as `$(command)`.
  static let catalogFile = CompletionKind.file(extensions: ["yaml", "yml", "json"])
}
