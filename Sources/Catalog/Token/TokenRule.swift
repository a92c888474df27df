/// How a run gets a new token when an origin answers 401.
///
/// The command is an argument vector: no shell reads it, and no variable in it is expanded.
public struct TokenRule: Hashable, Sendable {
  /// The request header that carries the token.
  public let header: String
  /// The program and its arguments.
  public let command: [String]

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - header: The request header that carries the token.
  ///   - command: The program and its arguments; not empty.
  public init(header: String, command: [String]) {
    self.header = header
    self.command = command
  }

  /// The program's name, for messages.
  ///
  /// The arguments are left out because they may be secret.
  public var program: String {
    let name = command.first.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""
    return String(PlainText.line(name).prefix(80))
  }
}

/// Reads `token:` of a catalog file.
enum TokenParser {
  /// Reads a rule.
  ///
  /// - Parameter node: The value of `token`.
  /// - Returns: The rule.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func parse(_ node: YAMLNode) throws(CatalogError) -> TokenRule {
    let mapping = try node.mapping()
    try mapping.checkKeys(.token)
    let header = try mapping.required("header")
    let name = try header.filledText()
    do throws(CatalogError) {
      _ = try HeaderTemplate(name: name, rawValue: "")
    } catch {
      throw header.error(error.reason, expected: "a header name")
    }
    return TokenRule(header: name, command: try command(mapping.required("command")))
  }

  private static func command(_ node: YAMLNode) throws(CatalogError) -> [String] {
    let expected = "a list: the program, then its arguments"
    guard node.isList else {
      throw node.error(
        "expected \(expected)",
        expected: expected,
        remedy: "it is run without a shell: write [\"program\", \"argument\"]"
      )
    }
    var words: [String] = []
    for element in try node.list() {
      let word = try words.isEmpty ? element.filledText() : element.text()
      guard !word.utf8.contains(0) else {
        throw element.error("an argument holds no NUL", expected: "text without NUL")
      }
      words.append(word)
    }
    guard !words.isEmpty else { throw node.error("the list is empty", expected: expected) }
    return words
  }
}

/// The state of a run's token, and the reaction to each 401.
///
/// The state is a value; its owner must guard it, and must run the command when the step is ``Step/run``. If many
/// requests are refused at once, the first starts the command and the others wait for its result.
package struct TokenState<Waiting> {
  private enum Phase {
    case unasked
    case asking([Waiting])
    case held(String)
    case failed(String)
  }

  /// The reaction to a refused request.
  package enum Step: Hashable, Sendable {
    /// Run the command; the request waits for it.
    case run
    /// The command is already running; the request waits for it.
    case wait
    /// Send the request again with this header value.
    case again(String)
    /// Report the 401, because the origin refused the command's token too.
    case refusedAgain
    /// Report the 401, because the command failed.
    ///
    /// The text is ``ProgramFault/words``.
    case stand(String)
  }

  private var phase = Phase.unasked

  /// Makes the state at the beginning of a run.
  package init() {}

  /// The header value for further requests; nil until the command has succeeded.
  package var value: String? {
    if case .held(let value) = phase { value } else { nil }
  }

  /// Decides how to react to a request that was answered with 401.
  ///
  /// - Parameters:
  ///   - sent: The command's value that was in the request; nil when the request had none yet.
  ///   - waiting: The request, which is kept until the command has ended.
  /// - Returns: The reaction.
  package mutating func refused(sentWith sent: String?, _ waiting: Waiting) -> Step {
    switch phase {
    case .unasked:
      phase = .asking([waiting])
      return .run
    case .asking(let others):
      phase = .asking(others + [waiting])
      return .wait
    case .held(let value):
      return sent == value ? .refusedAgain : .again(value)
    case .failed(let words): return .stand(words)
    }
  }

  /// Records how the command ended.
  ///
  /// - Parameter result: The header value, or why there is none.
  /// - Returns: The requests that waited for the command.
  package mutating func ended(_ result: Result<String, ProgramFault>) -> [Waiting] {
    guard case .asking(let waiting) = phase else { return [] }
    switch result {
    case .success(let value): phase = .held(value)
    case .failure(let fault): phase = .failed(fault.words)
    }
    return waiting
  }
}

/// The outcome of a program that the user configured, such as the command of a ``TokenRule``.
package struct ProgramOutput: Hashable, Sendable {
  /// The way in which the program ended.
  package enum End: Hashable, Sendable {
    /// The program exited with a status.
    case status(Int32)
    /// A signal ended the program.
    case signal(Int32)
    /// The program ran longer than its limit, given in seconds.
    case tooSlow(Int)
    /// The program could not be started, with the system's error message.
    case notStarted(String)
  }

  /// The way in which the program ended.
  package var end: End
  /// The program's stdout; a part of it if reading stopped early.
  package var output: [UInt8]
  /// The program's stderr; a part of it if reading stopped early.
  package var errors: [UInt8]

  /// Makes an outcome.
  ///
  /// - Parameters:
  ///   - end: The way in which the program ended.
  ///   - output: The program's stdout.
  ///   - errors: The program's stderr.
  package init(end: End, output: [UInt8] = [], errors: [UInt8] = []) {
    self.end = end
    self.output = output
    self.errors = errors
  }

  /// The maximum length of a header's value that servers commonly accept, in bytes.
  private static let longestValue = 16 << 10
  /// The maximum number of characters of stderr that a message repeats.
  private static let longestWords = 300

  /// The first line of stdout, trimmed; it may not be a valid header value.
  private var line: String {
    let first = output.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false).first
    return String(decoding: first ?? [], as: UTF8.self).trimmed
  }

  /// The header's value.
  ///
  /// If there is none, the reason, as words that follow the program's name.
  ///
  /// - Parameter redactor: The secrets to redact in the reason, besides the value itself.
  /// - Returns: The value or the reason.
  package func value(hiding redactor: SecretRedactor = SecretRedactor()) -> Result<
    String, ProgramFault
  > {
    var redactor = redactor
    redactor.hide(line)
    if let fault = self.fault(hiding: redactor) { return .failure(fault) }
    func fault(_ reason: String) -> Result<String, ProgramFault> {
      .failure(self.fault(reason, hiding: redactor))
    }
    let value = line
    guard !value.isEmpty else { return fault("printed nothing on its first line") }
    guard value.utf8.count <= Self.longestValue else {
      return fault("printed more than 16 KiB on its first line")
    }
    guard HeaderTemplate.isFieldValue(value) else {
      return fault("printed a control character on its first line")
    }
    return .success(value)
  }

  /// The program's failure; nil when its status is 0.
  ///
  /// - Parameter redactor: The secrets to redact in the words.
  /// - Returns: The failure, with the program's stderr.
  package func fault(hiding redactor: SecretRedactor = SecretRedactor()) -> ProgramFault? {
    switch end {
    case .notStarted(let words): fault("cannot be started (\(words))", hiding: redactor)
    case .signal(let number): fault("was ended by signal \(number)", hiding: redactor)
    case .tooSlow(let seconds): fault("took longer than \(seconds) s", hiding: redactor)
    case .status(0): nil
    case .status(let status): fault("ended with status \(status)", hiding: redactor)
    }
  }

  private func fault(_ reason: String, hiding redactor: SecretRedactor) -> ProgramFault {
    let said = PlainText.line(redactor.applied(to: String(decoding: errors, as: UTF8.self)))
    let cut = said.count > Self.longestWords ? said.prefix(Self.longestWords) + "…" : said[...]
    return ProgramFault(words: reason + (cut.isEmpty ? "" : ": \(cut)"))
  }
}

/// Why a program failed.
package struct ProgramFault: Error, Hashable, Sendable {
  /// The failure, in words that follow the program's name; without secrets.
  package let words: String
}
