import Glibc

/// Where the system keeps the certificates that it trusts.
///
/// libcurl looks where its distribution had them when it was built. A binary that brings libcurl along meets others.
enum TrustStore {
  /// Debian, Ubuntu, Arch and Gentoo; Fedora and its kin, new and old; openSUSE; Alpine and Void.
  private static let places = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
  ]

  /// The file to give to libcurl; nil where its own place is there, or none is.
  ///
  /// - Parameters:
  ///   - builtIn: where libcurl looks by itself.
  ///   - isReadable: whether there is a file that can be read.
  /// - Returns: The path.
  static func file(builtIn: String?, isReadable: (String) -> Bool) -> String? {
    if let builtIn, isReadable(builtIn) { return nil }
    return places.first(where: isReadable)
  }

  /// The same for this process; looked for once.
  static let file = file(builtIn: builtIn) { access($0, R_OK) == 0 }

  private static let builtIn = CurlTransport.library?.trust
}
