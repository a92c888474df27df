/// How a run gets new credentials when an origin refuses those that it sent.
///
/// The command is an argument vector: no shell reads it, and nothing in it is replaced.
public struct TokenRule: Hashable, Sendable {
  /// The request header that takes what the command prints.
  public let header: String
  /// The program and its arguments.
  public let command: [String]

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - header: The request header that takes what the command prints.
  ///   - command: The program and its arguments; not empty.
  public init(header: String, command: [String]) {
    self.header = header
    self.command = command
  }

  /// The program's name, for messages: arguments may hold what nobody else is to see.
  public var program: String {
    let name = command.first.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""
    return String(PlainText.line(name).prefix(80))
  }
}
