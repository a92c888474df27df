import Foundation
import Synchronization
import Testing

/// The help of each command, as the binary prints it for programs.
struct HelpPages: Decodable {
  /// A command and its subcommands.
  struct Page: Decodable {
    /// An option, a flag or an argument.
    struct Argument: Decodable {
      struct Name: Decodable {
        let kind: String
        let name: String
      }

      let shouldDisplay: Bool
      let names: [Name]?
    }

    let commandName: String
    let abstract: String
    let discussion: String?
    let shouldDisplay: Bool
    let arguments: [Argument]?
    let subcommands: [Page]?

    /// The exit statuses that the help lists.
    var statuses: [Int32] {
      (discussion ?? "").matches(of: #/(?m)^ +(\d+)  \S/#).compactMap { Int32($0.1) }
    }

    /// The options that the help shows, with their dashes.
    var options: [String] {
      (arguments ?? []).filter(\.shouldDisplay).flatMap { argument in
        (argument.names ?? []).map { name in (name.kind == "long" ? "--" : "-") + name.name }
      }
    }
  }

  private let command: Page

  /// The help of the built binary, read once.
  static let standard = Result { try read() }

  /// Every visible command with the words that call it.
  var all: [(path: [String], page: Page)] { Self.below(command, path: []) }

  /// The page of the command that the arguments call.
  func page(of arguments: [String]) -> Page {
    var page = command
    for word in arguments {
      guard let next = page.subcommands?.first(where: { $0.commandName == word }) else { break }
      page = next
    }
    return page
  }

  private static func below(_ page: Page, path: [String]) -> [(path: [String], page: Page)] {
    let shown = (page.subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    return [(path, page)] + shown.flatMap { below($0, path: path + [$0.commandName]) }
  }

  private static func read() throws -> HelpPages {
    let dump = try Running(Command.binary, ["--experimental-dump-help"]).wait()
    return try JSONDecoder().decode(HelpPages.self, from: Data(dump.output.utf8))
  }
}

extension Result<HelpPages, any Error> {
  /// Records an issue unless the command's help lists the exit status.
  func expect(_ status: Int32, of arguments: [String]) throws {
    let page = try get().page(of: arguments)
    guard page.shouldDisplay, page.commandName != "help", status != 0 else { return }
    if !page.statuses.contains(status) {
      Issue.record("\(page.commandName) ended with \(status), which its help does not list")
    }
  }
}
