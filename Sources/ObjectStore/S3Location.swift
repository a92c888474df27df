import Base

/// A place in an object store: a bucket and a prefix of keys, such as `s3://bucket/prefix`.
package struct S3Location: Hashable, Sendable, CustomStringConvertible {
  /// The name of the bucket.
  package let bucket: String
  /// The prefix of all keys, without a slash at its end; empty if the location is the whole bucket.
  package let prefix: String

  private static let scheme = "s3://"
  /// The maximum length of a prefix in bytes.
  ///
  /// S3 allows keys of 1,024 bytes, and the path of a picture below the prefix has fewer than 100.
  private static let longestPrefix = 512

  /// Whether a text begins with `s3://`, in upper or lower case.
  package static func isLocation(_ text: String) -> Bool { text.lowercased().hasPrefix(scheme) }

  /// Parses a location.
  ///
  /// - Parameter text: The text, such as `s3://bucket` or `s3://bucket/prefix`. Between its slashes, a prefix can
  ///   have letters, digits and `-._~`. All implementations of the signature encode these characters in the same way.
  /// - Throws: ``LarderError`` that names the allowed characters.
  package init(parsing text: String) throws(LarderError) {
    func wrong(_ words: String) -> LarderError {
      LarderError(.storeUnnamed, "cannot use \"\(text)\": \(words)")
    }
    guard Self.isLocation(text) else { throw wrong("it is not s3://bucket/prefix") }
    let rest = text.dropFirst(Self.scheme.count)
    let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
    let bucket = parts.first.map(String.init) ?? ""
    guard Self.isBucket(bucket) else {
      throw wrong(
        "a bucket's name has 3 to 63 lower-case letters, digits, dots and hyphens; write "
          + "s3://bucket/prefix"
      )
    }
    var segments = parts.dropFirst().map(String.init)
    if segments.last == "" { segments.removeLast() }
    guard segments.allSatisfy({ Self.isSegment($0) }) else {
      throw wrong("a prefix has letters, digits and -._~ between single slashes")
    }
    prefix = segments.joined(separator: "/")
    guard prefix.utf8.count <= Self.longestPrefix else {
      throw wrong("the prefix is longer than \(Self.longestPrefix) bytes")
    }
    self.bucket = bucket
  }

  /// The location as text, such as `s3://bucket/prefix`.
  package var description: String {
    Self.scheme + bucket + (prefix.isEmpty ? "" : "/" + prefix)
  }

  /// The key of the object at a path below this location.
  package func key(_ path: String) -> String { prefix.isEmpty ? path : "\(prefix)/\(path)" }

  /// The path of the object with this key, relative to this location; nil if the object is elsewhere.
  package func path(of key: String) -> String? {
    if prefix.isEmpty { return key }
    guard key.hasPrefix(prefix + "/") else { return nil }
    return String(key.dropFirst(prefix.count + 1))
  }

  private static func isBucket(_ name: String) -> Bool {
    name.wholeMatch(of: /[a-z0-9][a-z0-9.\-]{2,62}/) != nil && !name.contains("..")
  }

  private static func isSegment(_ segment: String) -> Bool {
    !segment.isEmpty && segment != "." && segment != ".."
      && segment.utf8.allSatisfy(PercentEncoding.isUnreserved)
  }
}

/// The credentials and the address of an object store, read from the environment variables that the AWS tools use.
package struct S3Environment: Sendable {
  /// The id of the access key.
  let user: String
  let secret: String
  /// The session token; nil unless the credentials are temporary.
  let token: String?
  /// The region of the store, such as `eu-central-1`.
  package let region: String
  /// The address of the store; nil if the store is AWS.
  package let endpoint: String?
  /// The path of a PEM file with the CA certificates to trust; nil if the system's certificates are trusted.
  package let certificates: String?

  /// Reads the environment.
  ///
  /// If several variables are set, `AWS_ENDPOINT_URL_S3` has precedence over `AWS_ENDPOINT_URL`, and `AWS_REGION` over
  /// `AWS_DEFAULT_REGION`. The default region is `us-east-1`.
  ///
  /// - Parameter variables: The environment variables.
  /// - Throws: ``LarderError`` that names the wrong variable, but never contains the value of a secret.
  package init(_ variables: [String: String]) throws(LarderError) {
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    }
    func wrong(_ words: String) -> LarderError {
      LarderError(.storeUnnamed, "cannot use \(words)")
    }
    guard let user = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") else {
      let name = value("AWS_ACCESS_KEY_ID") == nil ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"
      throw wrong(
        "an object store: \(name) is not set; set it, and for a store other than AWS "
          + "also AWS_REGION and AWS_ENDPOINT_URL_S3"
      )
    }
    for (name, text) in [("AWS_ACCESS_KEY_ID", user), ("AWS_SECRET_ACCESS_KEY", secret)]
    where !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
      throw wrong(
        "\(name): it has a space, a line feed or another character that keys lack; copy it again"
      )
    }
    let region = value("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
    guard region.utf8.count <= 64, region.utf8.allSatisfy(PercentEncoding.isUnreserved) else {
      throw wrong("AWS_REGION: a region has letters, digits and hyphens, such as eu-central-1")
    }
    let endpoint = value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    if let endpoint, !Self.isAddress(endpoint) {
      throw wrong("AWS_ENDPOINT_URL_S3: it is not https://host or http://host:port")
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

  /// The beginning of the URLs of a bucket's objects, without a slash at its end.
  ///
  /// For AWS, the bucket is in the host name, as in `https://bucket.s3.region.amazonaws.com`. For other stores, the
  /// bucket is in the path, as in `https://host/bucket`. The same applies to a bucket with a dot in its name, because
  /// no certificate matches such a host name.
  func base(of bucket: String) -> String {
    if let endpoint { return "\(endpoint)/\(bucket)" }
    let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
    return bucket.contains(".")
      ? "https://s3.\(region).\(domain)/\(bucket)" : "https://\(bucket).s3.\(region).\(domain)"
  }

  /// A name for the store that can be used in file names: the host of its address, or else its region.
  package var nickname: String {
    let text = endpoint.map { $0.replacing("http://", with: "").replacing("https://", with: "") }
    return String((text ?? region).map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "-" })
  }
}
