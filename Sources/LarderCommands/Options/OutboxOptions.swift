import ArgumentParser
import Orders

/// Where the orders are kept, and the language they are told in.
struct OutboxOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The orders' file (default: LARDER_ORDERS, else larder/orders.sqlite below XDG_STATE_HOME).",
      valueName: "file"
    ),
    transform: PathArgument.read
  )
  var orders: String?

  @Option(
    help: ArgumentHelp(
      "The language to tell orders in (default: LC_ALL, LC_MESSAGES, LANG).",
      valueName: "locale"
    )
  )
  var locale: String?

  /// The flag, else the environment, else the place that the XDG base directories name.
  func path() throws -> String {
    if let path = orders ?? Self.variable("LARDER_ORDERS") { return path }
    if let state = Self.variable("XDG_STATE_HOME"), state.hasPrefix("/") {
      return "\(state)/larder/orders.sqlite"
    }
    guard let home = Self.variable("HOME") else {
      throw CommandFailure(
        "cannot find the orders: neither HOME nor LARDER_ORDERS is set; set one, or give --orders",
        .usage
      )
    }
    return "\(home)/.local/state/larder/orders.sqlite"
  }

  /// The outbox, made when it is missing.
  func outbox() throws -> Outbox { try Outbox(path()) }

  /// The outbox, or nil when nothing was ever ordered.
  func existing() throws -> Outbox? {
    let path = try path()
    return Outbox.exists(at: path) ? try Outbox(path) : nil
  }

  /// The outbox of an order that is named, which must be there.
  func outbox(of order: String) throws -> Outbox {
    guard let outbox = try existing() else {
      throw CommandFailure("cannot find order \(order): nothing was ordered yet", .failed)
    }
    return outbox
  }

  /// The flag's language, else the environment's.
  var language: Language {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(Self.variable)
    return Language(locale: locale ?? names.first ?? "C")
  }

  /// A variable that is set to something.
  static func variable(_ name: String) -> String? {
    Terminal.environment(name).flatMap { $0.isEmpty ? nil : $0 }
  }
}
