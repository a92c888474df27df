/// How a program that the user names ended, such as the command of a ``TokenRule``.
package struct ProgramOutput: Hashable, Sendable {
  /// What ended it.
  package enum End: Hashable, Sendable {
    /// It left with a status.
    case status(Int32)
    /// A signal ended it.
    case signal(Int32)
    /// It took longer than so many seconds.
    case tooSlow(Int)
    /// It could not be started; the system's words.
    case notStarted(String)
  }

  /// What ended it.
  package var end: End
  /// What it wrote to stdout, as far as it was read.
  package var output: [UInt8]
  /// What it wrote to stderr, as far as it was read.
  package var errors: [UInt8]

  /// Makes an outcome.
  ///
  /// - Parameters:
  ///   - end: What ended it.
  ///   - output: What it wrote to stdout.
  ///   - errors: What it wrote to stderr.
  package init(end: End, output: [UInt8] = [], errors: [UInt8] = []) {
    self.end = end
    self.output = output
    self.errors = errors
  }

  /// The most bytes of a header's value that servers commonly take.
  private static let longestValue = 16 << 10
  /// The most characters of stderr that a message repeats.
  private static let longestWords = 300

  /// The first line of stdout without white space around it; may be no value.
  private var line: String {
    let first = output.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false).first
    return String(decoding: first ?? [], as: UTF8.self).trimmed
  }

  /// The header's value, or why there is none, as words that follow the program's name.
  ///
  /// - Parameter veil: What may not stand in the words besides the value itself.
  /// - Returns: The value, or the words.
  package func value(hiding veil: SecretVeil = SecretVeil()) -> Result<String, ProgramFault> {
    var veil = veil
    veil.hide(line)
    if let fault = self.fault(hiding: veil) { return .failure(fault) }
    func fault(_ reason: String) -> Result<String, ProgramFault> {
      .failure(self.fault(reason, hiding: veil))
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

  /// Why the program did not do what it should, as words that follow its name; nil when its status is 0.
  ///
  /// - Parameter veil: What may not stand in the words.
  /// - Returns: The fault, with what the program wrote to stderr.
  package func fault(hiding veil: SecretVeil = SecretVeil()) -> ProgramFault? {
    switch end {
    case .notStarted(let words): fault("cannot be started (\(words))", hiding: veil)
    case .signal(let number): fault("was ended by signal \(number)", hiding: veil)
    case .tooSlow(let seconds): fault("took longer than \(seconds) s", hiding: veil)
    case .status(0): nil
    case .status(let status): fault("ended with status \(status)", hiding: veil)
    }
  }

  private func fault(_ reason: String, hiding veil: SecretVeil) -> ProgramFault {
    let said = PlainText.line(veil.applied(to: String(decoding: errors, as: UTF8.self)))
    let cut = said.count > Self.longestWords ? said.prefix(Self.longestWords) + "…" : said[...]
    return ProgramFault(words: reason + (cut.isEmpty ? "" : ": \(cut)"))
  }
}

/// Why a program was of no use.
package struct ProgramFault: Error, Hashable, Sendable {
  /// What happened, in words that follow the program's name; without what is secret.
  package let words: String
}
