import Crypto
import FoundationEssentials

/// A key that signs messages. (Standard Webhooks 1.0, "Symmetric")
package struct WebhookSecret: Sendable {
  private let key: SymmetricKey

  /// The least length of a key. (Standard Webhooks 1.0, "Signature scheme": 24 to 64 bytes)
  private static let leastBytes = 24

  /// Reads keys as a file or the environment has them: `whsec_` and base64, white space between.
  ///
  /// - Parameter text: one key or several; all of them sign, so that a receiver can change over.
  /// - Returns: The keys, at least one.
  /// - Throws: ``OrdersError`` of code `usage`, which repeats nothing of the text; also for a key of fewer than 24 bytes.
  package static func parse(_ text: String) throws(OrdersError) -> [WebhookSecret] {
    var secrets: [WebhookSecret] = []
    for (index, word) in text.split(whereSeparator: \.isWhitespace).enumerated() {
      guard word.hasPrefix("whsec_"),
        let bytes = Data(base64Encoded: String(word.dropFirst("whsec_".count))), !bytes.isEmpty
      else {
        throw OrdersError(
          .usage,
          "cannot sign: secret \(index + 1) is not whsec_ and base64; copy it whole"
        )
      }
      guard bytes.count >= leastBytes else {
        throw OrdersError(
          .usage,
          "cannot sign: secret \(index + 1) has fewer than \(leastBytes) bytes, which can be guessed; "
            + "make a longer one with: echo whsec_$(head -c 32 /dev/urandom | base64)"
        )
      }
      secrets.append(WebhookSecret(key: SymmetricKey(data: bytes)))
    }
    guard !secrets.isEmpty else {
      throw OrdersError(
        .usage,
        "cannot sign: the secret is empty",
        remedy: .secret
      )
    }
    return secrets
  }

  /// The value of `webhook-signature` for one key: `v1,` and the HMAC-SHA256 in base64.
  ///
  /// - Parameters:
  ///   - id: the value of `webhook-id`.
  ///   - timestamp: the value of `webhook-timestamp`, seconds since 1970.
  ///   - body: the body's bytes.
  /// - Returns: The signature.
  package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
    return "v1," + Data(code).base64EncodedString()
  }
}
