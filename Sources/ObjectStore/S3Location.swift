import Base

/// A bucket and a prefix in it: `s3://bucket/prefix`.
package struct S3Location: Hashable, Sendable, CustomStringConvertible {
  /// The bucket.
  package let bucket: String
  /// The prefix of all keys, without a trailing slash; empty for the whole bucket.
  package let prefix: String

  private static let scheme = "s3://"
  /// The maximum length of a prefix in bytes.
  ///
  /// A key may have 1,024 bytes, and a picture's path below the prefix has fewer than 100.
  private static let longestPrefix = 512

  /// Whether a text begins with `s3://`, in either case.
  package static func isLocation(_ text: String) -> Bool { text.lowercased().hasPrefix(scheme) }

  /// Parses a location.
  ///
  /// - Parameter text: `s3://bucket` or `s3://bucket/prefix`. A prefix has letters, digits and `-._~` between its
  ///   slashes, because all implementations of the signature encode these in the same way.
  /// - Throws: ``LarderError`` that names the allowed characters.
  package init(parsing text: String) throws(LarderError) {
    func wrong(_ words: String) -> LarderError {
      LarderError(.storeLocation, "cannot use \"\(text)\": \(words)")
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

  /// The text form, `s3://bucket/prefix`.
  package var description: String {
    Self.scheme + bucket + (prefix.isEmpty ? "" : "/" + prefix)
  }

  /// The object key of a path below this location.
  package func key(_ path: String) -> String { prefix.isEmpty ? path : "\(prefix)/\(path)" }

  /// The path of an object key below this location; nil for a key elsewhere.
  package func path(of key: String) -> String? {
    if prefix.isEmpty { return key }
    guard key.hasPrefix(prefix + "/") else { return nil }
    return String(key.dropFirst(prefix.count + 1))
  }

  private static func isBucket(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return (3...63).contains(bytes.count) && bytes.first != UInt8(ascii: ".")
      && bytes.first != UInt8(ascii: "-") && !name.contains("..")
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
      }
  }

  private static func isSegment(_ segment: String) -> Bool {
    !segment.isEmpty && segment != "." && segment != ".."
      && segment.utf8.allSatisfy(PercentEncoding.isUnreserved)
  }
}

/// The credentials and the address of a store, from the environment variables of the AWS tools.
package struct S3Environment: Sendable {
  /// The access key id.
  let user: String
  /// The secret access key.
  let secret: String
  /// The session token of temporary credentials.
  let token: String?
  /// The store's region.
  package let region: String
  /// The store's own address; nil for AWS.
  package let endpoint: String?
  /// The path of a PEM file with CA certificates to trust instead of the system's.
  package let certificates: String?

  /// Reads the environment.
  ///
  /// `AWS_ENDPOINT_URL_S3` has precedence over `AWS_ENDPOINT_URL`, and `AWS_REGION` over `AWS_DEFAULT_REGION`. The
  /// default region is `us-east-1`.
  ///
  /// - Parameter variables: The environment.
  /// - Throws: ``LarderError`` that names the variable, but never the value of a secret.
  package init(_ variables: [String: String]) throws(LarderError) {
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    }
    guard let user = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") else {
      let name = value("AWS_ACCESS_KEY_ID") == nil ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"
      throw LarderError(
        .storeEnvironment,
        "cannot use an object store: \(name) is not set; set it, and for a store other than AWS "
          + "also AWS_REGION and AWS_ENDPOINT_URL_S3"
      )
    }
    for (name, text) in [("AWS_ACCESS_KEY_ID", user), ("AWS_SECRET_ACCESS_KEY", secret)]
    where !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
      throw LarderError(
        .storeEnvironment,
        "cannot use \(name): it has a space, a line feed or another character that keys lack; "
          + "copy it again"
      )
    }
    let region = value("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
    guard region.utf8.count <= 64, region.utf8.allSatisfy(PercentEncoding.isUnreserved) else {
      throw LarderError(
        .storeEnvironment,
        "cannot use AWS_REGION: a region has letters, digits and hyphens, such as eu-central-1"
      )
    }
    let endpoint = value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    if let endpoint, !Self.isAddress(endpoint) {
      throw LarderError(
        .storeEnvironment,
        "cannot use AWS_ENDPOINT_URL_S3: it is not https://host or http://host:port"
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

  /// The prefix of the URLs of a bucket's objects, without a trailing slash.
  ///
  /// AWS gets virtual-hosted addresses, `https://bucket.s3.region.amazonaws.com`. Other stores, and buckets with a dot
  /// in their name, which no certificate matches, get path-style addresses, `https://host/bucket`.
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
