import Foundation

/// A test certificate authority, by openssl in a folder.
package struct TestAuthority {
  /// The contents of a certificate.
  package struct Certificate {
    /// The subject, and the file's name without extension.
    package var name: String
    /// The issuer; nil for a self-signed certificate.
    package var issuer: String?
    /// The start of validity, as `YYYYMMDDHHMMSSZ`.
    package var from = "20200101000000Z"
    /// The end of validity.
    package var until = "20491231000000Z"
    /// The digest for the signature.
    package var digest = "sha256"
    /// The key's algorithm and options for openssl.
    package var key = ["EC", "ec_paramgen_curve:P-256"]
    /// The extensions in openssl's notation.
    package var extensions: String

    /// A certificate for a server on this machine.
    package static func server(_ name: String, by issuer: String?) -> Certificate {
      Certificate(
        name: name,
        issuer: issuer,
        extensions: """
          basicConstraints=CA:FALSE
          extendedKeyUsage=serverAuth
          subjectAltName=DNS:localhost
          """
      )
    }

    /// A certificate authority's certificate.
    package static func authority(_ name: String, by issuer: String? = nil) -> Certificate {
      Certificate(
        name: name,
        issuer: issuer,
        extensions: "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign"
      )
    }
  }

  private let folder: TemporaryFolder

  /// Creates an authority with its files in `folder`.
  package init(_ folder: TemporaryFolder) throws {
    self.folder = folder
    try folder.write(
      """
      [ca]
      default_ca=one
      [one]
      new_certs_dir=\(folder.path)
      database=\(folder.path("database"))
      serial=\(folder.path("serial"))
      unique_subject=no
      policy=any
      default_crl_days=30
      [any]
      commonName=supplied
      """,
      to: "ca.conf"
    )
    try folder.write("", to: "database")
  }

  /// Makes a certificate and its key: `NAME.pem` and `NAME.key`.
  package func make(_ certificate: Certificate) throws {
    let name = certificate.name
    let path = folder.path
    try openssl(
      ["genpkey", "-algorithm", certificate.key[0], "-pkeyopt", certificate.key[1]]
        + ["-out", "\(path)/\(name).key"]
    )
    try openssl(
      ["req", "-new", "-key", "\(path)/\(name).key", "-subj", "/CN=\(name)"]
        + ["-out", "\(path)/\(name).csr"]
    )
    try folder.write(certificate.extensions + "\n", to: "\(name).ext")
    let signer: [String] =
      if let issuer = certificate.issuer {
        ["-cert", "\(path)/\(issuer).pem", "-keyfile", "\(path)/\(issuer).key"]
      } else {
        ["-selfsign", "-keyfile", "\(path)/\(name).key"]
      }
    try openssl(
      ["ca", "-batch", "-notext", "-rand_serial", "-config", "\(path)/ca.conf"] + signer
        + ["-md", certificate.digest, "-startdate", certificate.from]
        + ["-enddate", certificate.until, "-extfile", "\(path)/\(name).ext"]
        + ["-in", "\(path)/\(name).csr", "-out", "\(path)/\(name).pem"]
    )
  }

  /// Makes a certificate with `height` authorities between it and `issuer`.
  ///
  /// Writes `NAME.pem` and its key, and all certificates between in `NAME-between.pem`. They share
  /// one key and differ in their names.
  package func makeTower(_ name: String, by issuer: String, height: Int) throws {
    let path = folder.path
    let key = "\(path)/\(name).key"
    try folder.write(folder.read("\(issuer).key"), to: "\(name).key")
    try openssl(["pkey", "-in", key, "-pubout", "-out", "\(path)/\(name).pub"])
    var signer = issuer
    var between: [UInt8] = []
    for floor in 0...height {
      let isLeaf = floor == height
      let made = isLeaf ? name : "\(name)-\(floor)"
      let kind: Certificate = isLeaf ? .server(made, by: signer) : .authority(made, by: signer)
      try folder.write(kind.extensions + "\n", to: "\(name).ext")
      try openssl(
        ["x509", "-new", "-force_pubkey", "\(path)/\(name).pub", "-subj", "/CN=\(made)"]
          + ["-CA", "\(path)/\(signer).pem", "-CAkey", key, "-days", "30"]
          + ["-extfile", "\(path)/\(name).ext", "-out", "\(path)/\(made).pem"]
      )
      if !isLeaf { between = try folder.read("\(made).pem") + between }
      signer = made
    }
    try folder.write(between, to: "\(name)-between.pem")
  }

  /// Joins certificates into the chain that a server presents, leaf first.
  ///
  /// - Returns: The chain's path.
  package func chain(_ names: String...) throws -> String {
    let file = "chain-\(names.joined(separator: "-")).pem"
    try folder.write(try names.flatMap { try folder.read("\($0).pem") }, to: file)
    return folder.path(file)
  }

  /// The path of the key of this name.
  package func key(_ name: String) -> String { folder.path("\(name).key") }

  /// The path of the certificate of this name.
  package func certificate(_ name: String) -> String { folder.path("\(name).pem") }

  private func openssl(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments
    let words = Pipe()
    process.standardError = words
    process.standardOutput = words
    try process.run()
    let said = words.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw OpenSSLRefusal(description: String(decoding: said, as: UTF8.self))
    }
  }

  private struct OpenSSLRefusal: Error, CustomStringConvertible {
    let description: String
  }
}
