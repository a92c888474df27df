import Crypto
import Transport

/// Who a visitor is to the store, and what proves that a form came from one of its pages.
///
/// The proof is a keyed digest of the session, which a page of another origin can neither read nor make; the
/// cookie is not even sent when another site asks (SameSite=Strict).
struct StoreSession: Sendable {
  /// The cookie that holds it.
  static let cookie = "larder-session"

  /// 128 bits of chance, as 32 hexadecimal digits.
  let id: String
  /// Whether no cookie named it yet.
  let isNew: Bool

  /// The session that a cookie names, or a new one.
  init(cookie: String?) {
    if let cookie, cookie.utf8.count == 32,
      cookie.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    {
      (id, isNew) = (cookie, false)
    } else {
      var generator = SystemRandomNumberGenerator()
      let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
      (id, isNew) = (Hexadecimal.text(bytes), true)
    }
  }

  /// What a form of this session holds.
  func token(_ key: SymmetricKey) -> String {
    Hexadecimal.text(HMAC<SHA256>.authenticationCode(for: Array(id.utf8), using: key))
  }

  /// Whether a form holds what its session's forms hold; takes the same time for every wrong token.
  func admits(_ token: String?, _ key: SymmetricKey) -> Bool {
    guard let bytes = token.flatMap(Hexadecimal.bytes) else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(
      bytes,
      authenticating: Array(id.utf8),
      using: key
    )
  }
}

/// Why a form is not taken.
enum FormRefusal: Equatable {
  /// Another site's page sent it.
  case foreign
  /// It has not what the store's own forms have, or has it from before the store began anew.
  case outdated

  /// Judges a posted form.
  ///
  /// - Returns: Why it is not taken; nil when it is.
  static func of(_ request: StoreRequest, _ session: StoreSession, _ key: SymmetricKey)
    -> FormRefusal?
  {
    // What a browser says of where a request comes from cannot be made up by a page. (W3C, Fetch Metadata)
    if let site = request.fetchSite, site != "same-origin" { return .foreign }
    if let origin = request.origin {
      guard let host = request.host, !host.isEmpty,
        origin == "http://\(host)" || origin == "https://\(host)"
      else { return .foreign }
    }
    guard !session.isNew, session.admits(request.posted("token"), key) else { return .outdated }
    return nil
  }
}
