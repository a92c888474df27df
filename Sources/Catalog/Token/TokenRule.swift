/// The value of `token:` in a catalog file.
///
/// It names the program that prints a new token when a server answers 401.
///
/// The run starts a command, which is a program with its arguments. The first line that the command prints is then sent
/// in a request header. No shell reads the command, and variables in it are not expanded.
public struct TokenRule: Hashable, Sendable {
  /// The name of the request header, for example "Authorization".
  public let header: String
  /// The program, followed by its arguments.
  public let command: [String]

  /// The name of the program, for messages.
  ///
  /// The arguments are left out because they can be secret.
  public var program: String {
    let name = command.first.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""
    return String(PlainText.line(name).prefix(80))
  }
}

/// Reads the key `token:` of a catalog file.
enum TokenParser {
  /// Reads a rule.
  ///
  /// - Parameter node: The value of the key.
  /// - Returns: The rule.
  /// - Throws: ``CatalogError`` with the line, the key and the expected value.
  static func parse(_ node: YAMLNode) throws(CatalogError) -> TokenRule {
    let mapping = try node.mapping(.token)
    let header = try mapping.required("header")
    let name = try header.filledText()
    do throws(CatalogError) {
      _ = try HeaderTemplate(name: name, rawValue: "")
    } catch {
      throw header.error(error.reason)
    }
    return TokenRule(header: name, command: try command(mapping.required("command")))
  }

  private static func command(_ node: YAMLNode) throws(CatalogError) -> [String] {
    let expected = "a list: the program, then its arguments"
    guard node.isList else {
      throw node.error(
        "expected \(expected)",
        remedy: "it is run without a shell: write [\"program\", \"argument\"]"
      )
    }
    var words: [String] = []
    for element in try node.list() {
      let word = try words.isEmpty ? element.filledText() : element.text()
      guard !word.utf8.contains(0) else {
        throw element.error("an argument holds no NUL")
      }
      words.append(word)
    }
    guard !words.isEmpty else { throw node.error("the list is empty") }
    return words
  }
}

/// The state of a run's token, which decides how the run reacts when a server answers a request with 401.
///
/// The command of the ``TokenRule`` is run once at most. If several requests are refused at the same time, the first
/// starts the command, and the others wait for its result. `Waiting` is the type of these requests.
///
/// The state has no lock, so its owner must not change it on two threads at once.
package struct TokenState<Waiting> {
  /// The reaction to a refused request.
  package enum Step: Hashable, Sendable {
    /// Run the command, and pass its result to ``TokenState/ended(_:)``. The request is kept until then.
    case run
    /// Do nothing, because the command is already running. The request is kept until it ends.
    case wait
    /// Send the request again with this header value.
    case again(String)
    /// Report the 401, because the server refused the token of the command too.
    case refusedAgain
    /// Report the 401, because the command failed. The text is ``ProgramFault/words``.
    case stand(String)
  }

  /// The header value that the command has printed, or the reason why it failed; nil until it has ended.
  private var result: Result<String, ProgramFault>?
  /// The requests that wait for the command; none if it has not been started, or has ended.
  private var waiting: [Waiting] = []

  /// Makes the state at the beginning of a run.
  package init() {}

  /// The header value for further requests.
  ///
  /// It is nil until the command has succeeded.
  package var value: String? { try? result?.get() }

  /// Decides how to react to a request that was answered with 401.
  ///
  /// - Parameters:
  ///   - sent: The header value of the command that was in the request, or nil if the request had none.
  ///   - waiting: The request.
  /// - Returns: The reaction.
  package mutating func refused(sentWith sent: String?, _ waiting: Waiting) -> Step {
    switch result {
    case .success(let value): return sent == value ? .refusedAgain : .again(value)
    case .failure(let fault): return .stand(fault.words)
    case nil:
      self.waiting.append(waiting)
      return self.waiting.count == 1 ? .run : .wait
    }
  }

  /// Records the result of the command.
  ///
  /// - Parameter result: The header value, or the reason why there is none.
  /// - Returns: The requests that waited for the command.
  package mutating func ended(_ result: Result<String, ProgramFault>) -> [Waiting] {
    guard self.result == nil else { return [] }
    self.result = result
    defer { waiting = [] }
    return waiting
  }
}

/// The result of a program that the user has configured, such as the command of a ``TokenRule``.
package struct ProgramOutput: Hashable, Sendable {
  /// How the program ended.
  package enum End: Hashable, Sendable {
    /// The program exited with this status.
    case status(Int32)
    /// The signal with this number ended the program.
    case signal(Int32)
    /// The program was ended because it ran longer than this number of seconds.
    case tooSlow(Int)
    /// The program could not be started. The text is the system's error message.
    case notStarted(String)
  }

  /// How the program ended.
  package var end: End
  /// The program's stdout, or the part of it that was read before reading stopped.
  package var output: [UInt8]
  /// The program's stderr, or the part of it that was read before reading stopped.
  package var errors: [UInt8]

  /// Makes a result.
  ///
  /// - Parameters:
  ///   - end: How the program ended.
  ///   - output: The program's stdout.
  ///   - errors: The program's stderr.
  package init(end: End, output: [UInt8] = [], errors: [UInt8] = []) {
    self.end = end
    self.output = output
    self.errors = errors
  }

  /// The maximum length of a header value in bytes.
  ///
  /// Servers commonly refuse longer ones.
  private static let longestValue = 16 << 10
  /// The maximum number of characters of stderr that a message repeats.
  private static let longestWords = 300

  /// The first line of stdout, without white space at its ends.
  private var line: String {
    let first = output.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false).first
    return String(decoding: first ?? [], as: UTF8.self).trimmed
  }

  /// The header value, which is the first line of stdout.
  ///
  /// - Parameter redactor: The secrets to replace in an error message, besides the value itself.
  /// - Returns: The value, or the reason why there is none.
  package func value(hiding redactor: SecretRedactor = SecretRedactor()) -> Result<
    String, ProgramFault
  > {
    let value = line
    var redactor = redactor
    redactor.hide(value)
    if let fault = fault(hiding: redactor) { return .failure(fault) }
    let reason: String? =
      if value.isEmpty {
        "printed nothing on its first line"
      } else if value.utf8.count > Self.longestValue {
        "printed more than 16 KiB on its first line"
      } else if !HeaderTemplate.isFieldValue(value) {
        "printed a control character on its first line"
      } else {
        nil
      }
    return reason.map { .failure(fault($0, hiding: redactor)) } ?? .success(value)
  }

  /// The failure of the program.
  ///
  /// - Parameter redactor: The secrets to replace in the words of the failure.
  /// - Returns: The failure with the beginning of stderr, or nil if the program exited with status 0.
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

/// The reason why a program failed.
package struct ProgramFault: Error, Hashable, Sendable {
  /// The words that follow the name of the program in a message, such as "ended with status 1".
  ///
  /// They have no secrets.
  package let words: String
}
