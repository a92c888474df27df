import Glibc

/// Why an order could not be taken, changed or sent, with what to do about it.
package struct OrdersError: Error, Equatable, CustomStringConvertible {
  /// What went wrong, as a stable word.
  ///
  /// An open set: new members break nobody.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The word that scripts may rely on.
    package let rawValue: String

    /// Makes a code from its word.
    package init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The command line asks for what cannot be: a quantity, a webhook, a secret, a template.
    package static let usage = Code(rawValue: "usage")
    /// The order is refused: sold out, without a price, or beyond the budget.
    package static let refused = Code(rawValue: "refused")
    /// No order has this id.
    package static let unknown = Code(rawValue: "unknown")
    /// The order's state does not allow it.
    package static let state = Code(rawValue: "state")
    /// The disk, or a quota on it, is full.
    package static let diskFull = Code(rawValue: "disk-full")
    /// The operating system or SQLite refused.
    package static let disk = Code(rawValue: "disk")
    /// What is on disk is not what larder wrote.
    package static let damaged = Code(rawValue: "damaged")
    /// A newer larder wrote this outbox.
    package static let tooNew = Code(rawValue: "too-new")
    /// Another process kept the outbox busy for too long.
    package static let busy = Code(rawValue: "busy")
  }

  /// What went wrong.
  package let code: Code
  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  package let description: String

  /// Makes an error from its code and its sentence.
  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// An error of the operating system while doing `verb` to `thing`.
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> OrdersError {
    switch code {
    case ENOSPC, EDQUOT:
      return OrdersError(
        .diskFull,
        "cannot \(verb) \(thing): no space left; free some and run again"
      )
    default:
      let words = String(cString: strerror(code)).lowercased()
      return OrdersError(
        .disk,
        "cannot \(verb) \(thing): \(words); choose a file you may write with LARDER_ORDERS"
      )
    }
  }
}
