import ArgumentParser
import Catalog

/// Looks whether the words of a command line name a command.
///
/// The parser takes a word that it does not know for an argument too many, and `help` with such a word for a
/// question about everything.
enum CommandName {
  /// What to say of a command line whose command is none; nil when it names one, or asks for none.
  ///
  /// - Parameters:
  ///   - arguments: The words behind the program's name.
  ///   - root: The command that they begin at.
  /// - Returns: What is wrong, and which command was probably meant.
  static func fault(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
    var words = arguments[...]
    if words.first == "help" { words = words.dropFirst() }
    var command = root
    var path = name(of: root)
    while let word = words.popFirst() {
      let known = command.configuration.subcommands
      // An option, or an argument of a command that has no commands of its own.
      guard !known.isEmpty, !word.hasPrefix("-") else { return nil }
      guard let next = known.first(where: { name(of: $0) == word }) else {
        if command == root, isCatalogFile(word) {
          return "\"\(word)\" is no command; to fetch that shop: larder sync \(word)"
        }
        let names = known.filter { $0.configuration.shouldDisplay }.map { name(of: $0) }
        let meant = probablyMeant(by: word, in: names)
        let near = meant.map { ", nearest is \"\(path) \($0)\"" } ?? ""
        return "there is no command \"\(path) \(word)\"\(near); see \"\(path) --help\""
      }
      command = next
      path += " \(word)"
    }
    return nil
  }

  /// Whether a word looks like a catalog file whose command was forgotten.
  private static func isCatalogFile(_ word: String) -> Bool {
    [".yaml", ".yml", ".json"].contains { word.lowercased().hasSuffix($0) }
  }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? ""
  }
}
