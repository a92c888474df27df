import Catalog

/// The result of a program that the user has configured, such as the command of a ``Catalog/TokenRule``.
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
  package var output: [UInt8] = []
  /// The program's stderr, or the part of it that was read before reading stopped.
  package var errors: [UInt8] = []

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
