import ArgumentParser
import Glibc
import Orders

/// The options for the outbox, which is the file with the orders, and for the language of messages about orders.
struct OutboxOptions: ParsableArguments {
  @Option(
    path:
      "The file with the orders (default: LARDER_ORDERS, else larder/orders.sqlite in XDG_STATE_HOME).",
    value: "file"
  )
  var orders: String?

  @Option(
    "The language of messages about orders (default: LC_ALL, LC_MESSAGES, LANG).",
    value: "locale"
  )
  var locale: String?

  /// The path of the outbox.
  ///
  /// The path is the value of the option, or else of `LARDER_ORDERS`, or else `larder/orders.sqlite` in the user's
  /// folder for state. (XDG Base Directory Specification)
  func path() throws -> String {
    if let path = try orders ?? Self.path("LARDER_ORDERS") { return path }
    if let state = try Self.path("XDG_STATE_HOME"), state.hasPrefix("/") {
      return "\(state)/larder/orders.sqlite"
    }
    guard let home = try Self.path("HOME") else {
      throw CommandFailure(
        "cannot find the orders: neither HOME nor LARDER_ORDERS is set; set one, or give --orders"
      )
    }
    return "\(home)/.local/state/larder/orders.sqlite"
  }

  /// The outbox.
  ///
  /// It is created if it does not exist.
  func outbox() throws -> Outbox { try Outbox(path()) }

  /// The outbox that the environment names; nil if it names none, or nothing was ever ordered.
  ///
  /// It is for commands that are not about orders.
  static func ofEnvironment() throws -> Outbox? {
    guard let path = try? OutboxOptions.parse([]).path() else { return nil }
    return try Outbox.existing(path)
  }

  /// The outbox; nil if nothing was ever ordered.
  func existing() throws -> Outbox? { try Outbox.existing(path()) }

  /// The outbox for a command about one order.
  ///
  /// - Throws: ``CommandFailure`` when nothing was ever ordered.
  func outbox(of order: String) throws -> Outbox {
    guard let outbox = try existing() else {
      throw CommandFailure("cannot find order \(order): there are no orders yet", .failed)
    }
    return outbox
  }

  /// The language of `--locale`, or else of the environment.
  var language: Language {
    Language(locale: locale ?? Self.environmentLocale)
  }

  /// The locale of the environment for messages, such as `ko_KR.UTF-8`; `C` if none is set. (POSIX, section 8.2)
  static var environmentLocale: String {
    ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(Self.variable).first ?? "C"
  }

  /// The value of an environment variable; nil if the variable is empty or not set.
  static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The path that an environment variable names; nil if the variable is empty or not set.
  ///
  /// - Throws: `ValidationError` when the path is not UTF-8, because its text would name another file.
  static func path(_ name: String) throws -> String? {
    guard let value = getenv(name), String(validatingCString: value) == nil else {
      return variable(name)
    }
    throw ValidationError("cannot use \(name): its path is not UTF-8; give a name in UTF-8")
  }
}
