extension WebURL {
  /// The URL as the name of a resource: without a signature, which may be new each time that the same resource is
  /// asked for, and which no file or database is to hold.
  ///
  /// Storage services sign a URL in its query, under names of their own: Amazon S3 (`X-Amz-Signature`; before, and
  /// CloudFront, `Signature`), Google Cloud Storage (`X-Goog-Signature`), Azure (`sig`).
  package var resource: String {
    guard let query else { return text }
    let members = query.split(separator: "&", omittingEmptySubsequences: false)
    let names = members.map { $0.prefix { $0 != "=" }.lowercased() }
    guard names.contains(where: Self.signatures.contains) else { return text }
    let kept = zip(names, members).filter { name, _ in
      !Self.signatures.contains(name) && !Self.besideSignatures.contains(name)
        && !name.hasPrefix("x-amz-") && !name.hasPrefix("x-goog-")
    }
    let rest = kept.map(\.1).joined(separator: "&")
    return rest.isEmpty ? place : place + "?" + rest
  }

  private static let signatures: Set = ["x-amz-signature", "x-goog-signature", "signature", "sig"]

  /// What such a signature covers besides the resource: who signed, and until when it holds.
  private static let besideSignatures: Set = [
    "awsaccesskeyid", "googleaccessid", "expires", "policy", "key-pair-id", "se", "st", "sp",
    "spr", "sv", "sr", "skoid", "sktid", "skt", "ske", "sks", "skv",
  ]
}
