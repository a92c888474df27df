/// Who asks a store, and where it is, as the environment says it to the AWS tools.
package struct StoreEnvironment: Sendable {
  /// The access key's public part.
  let user: String
  /// Its secret part.
  let secret: String
  /// What short-lived credentials have besides.
  let token: String?
  /// The store's region.
  package let region: String
  /// The store's own address; nil for AWS.
  package let endpoint: String?
  /// Certificates to trust in place of the system's, a PEM file.
  package let certificates: String?

  /// Reads the environment.
  ///
  /// `AWS_ENDPOINT_URL_S3` wins over `AWS_ENDPOINT_URL`, `AWS_REGION` over `AWS_DEFAULT_REGION`; without a region it is
  /// `us-east-1`.
  ///
  /// - Parameter variables: The environment.
  /// - Throws: ``StoreError`` that names the variable, and never its value where that is a secret.
  package init(_ variables: [String: String]) throws(StoreError) {
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    }
    guard let user = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") else {
      let name = value("AWS_ACCESS_KEY_ID") == nil ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"
      throw StoreError(
        .environment,
        "cannot ask an object store: \(name) is not set; set it, and AWS_REGION and "
          + "AWS_ENDPOINT_URL_S3 where they are not AWS's own"
      )
    }
    for (name, text) in [("AWS_ACCESS_KEY_ID", user), ("AWS_SECRET_ACCESS_KEY", secret)]
    where !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
      throw StoreError(
        .environment,
        "cannot use \(name): it has a space, a line feed or another character that keys lack; "
          + "copy it again"
      )
    }
    let region = value("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
    guard region.utf8.count <= 64, region.utf8.allSatisfy(StoreText.isUnreserved) else {
      throw StoreError(
        .environment,
        "cannot use AWS_REGION: a region has letters, digits and hyphens, as eu-central-1"
      )
    }
    let endpoint = value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    if let endpoint, !Self.isAddress(endpoint) {
      throw StoreError(
        .environment,
        "cannot use AWS_ENDPOINT_URL_S3: it is no https://host or http://host:port"
      )
    }
    (self.user, self.secret, self.region) = (user, secret, region)
    self.endpoint = endpoint.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    token = value("AWS_SESSION_TOKEN")
    certificates = value("AWS_CA_BUNDLE")
  }

  private static func isAddress(_ text: String) -> Bool {
    guard text.hasPrefix("https://") || text.hasPrefix("http://") else { return false }
    return !text.contains("@") && !text.contains("?") && !text.contains("#")
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// What the URLs of a bucket's objects begin with, without a slash at the end.
  ///
  /// A store of one's own is asked by path; AWS by the bucket's own host, but for buckets with a dot, which no
  /// certificate fits.
  func base(of bucket: String) -> String {
    if let endpoint { return "\(endpoint)/\(bucket)" }
    let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
    return bucket.contains(".")
      ? "https://s3.\(region).\(domain)/\(bucket)" : "https://\(bucket).s3.\(region).\(domain)"
  }

  /// A name for the store in file names: its host, or the region.
  package var nickname: String {
    let text = endpoint.map { $0.replacing("http://", with: "").replacing("https://", with: "") }
    return String((text ?? region).map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "-" })
  }
}
