import Glibc
import Transport

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

  /// What can be done about it; a command adds which of its flags does it.
  package enum Remedy: String, Sendable, Hashable {
    /// Look at all orders.
    case list = "look at the orders there are"
    /// Look at the order's history.
    case history = "its history tells"
    /// Say who orders.
    case giveName = "give one"
    /// Order less, or allow more.
    case budget = "order less, or raise the budget"
    /// Order it although it is sold out.
    case anyway = "it can be ordered all the same"
    /// Choose a file.
    case nameFile = "name a file"
    /// Choose a file that can be written.
    case writableFile = "choose a file you may write"
    /// Give a secret, or none on purpose.
    case secret = "give whsec_…, or send unsigned if nobody checks"
  }

  /// What went wrong.
  package let code: Code
  /// What could not be done, and why: "cannot VERB THING: REASON".
  package let problem: String
  /// What can be done about it, where that is not part of the reason.
  package let remedy: Remedy?
  /// The path, item or order that it is about.
  package let thing: String?
  /// The operating system's number for it.
  package let errno: Int32?

  /// Makes an error from its code, its sentence and what else is known.
  package init(
    _ code: Code,
    _ problem: String,
    remedy: Remedy? = nil,
    thing: String? = nil,
    errno: Int32? = nil
  ) {
    self.code = code
    self.problem = problem
    self.remedy = remedy
    self.thing = thing
    self.errno = errno
  }

  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  package var description: String {
    problem + (remedy.map { "; \($0.rawValue)" } ?? "")
  }

  /// An error of the operating system while doing `verb` to `thing`.
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> OrdersError {
    let isFull = code == ENOSPC || code == EDQUOT
    let words =
      isFull
      ? "no space left; free some and run again" : systemWords(code)
    return OrdersError(
      isFull ? .diskFull : .disk,
      "cannot \(verb) \(thing): \(words)",
      remedy: isFull ? nil : .writableFile,
      thing: thing,
      errno: code
    )
  }
}
