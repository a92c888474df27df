import Base
import Catalog
import Glibc
import Synchronization

/// The only place that writes to the terminal.
///
/// Data goes to stdout, and everything else to stderr.
enum Output {
  private static let printed = Atomic(false)
  private static let endsWork = Atomic(false)
  private static let failed = Atomic(false)

  /// Whether a part of the output could not be written, although there is a reader.
  static var hasFailed: Bool { failed.load(ordering: .relaxed) }

  /// Whether anything was written to stdout.
  static var hasPrinted: Bool { printed.load(ordering: .relaxed) }

  /// Writes text to stdout, and a line feed if the text does not end with one.
  ///
  /// Callers must escape text from shops and servers with ``PlainText``. As a second defence, this function removes
  /// control characters. Only the sequences of larder's own colours stay.
  static func data(_ text: String) {
    let text = harmless(text)
    // The last byte is compared, because in Swift CR LF is one `Character`, which differs from a line feed.
    write(Array(text.utf8) + (text.utf8.last == 10 ? [] : [10]), to: STDOUT_FILENO)
  }

  /// Writes one JSON document, and a line feed.
  static func json(_ bytes: [UInt8]) {
    write(TerminalJSON.bytes(bytes) + [10], to: STDOUT_FILENO)
  }

  /// Writes a part of a JSON document.
  ///
  /// The part must end with a whole UTF-8 character.
  static func part(_ bytes: [UInt8]) {
    write(TerminalJSON.bytes(bytes), to: STDOUT_FILENO)
  }

  /// Writes a file to stdout, byte for byte.
  static func file(_ bytes: [UInt8]) {
    write(bytes, to: STDOUT_FILENO)
  }

  /// Prints an error on stderr, on one line.
  static func error(_ message: String) {
    note("\(Journal.prefix(3))larder: \(PlainText.row(message))")
  }

  /// Writes a message to stderr.
  static func note(_ message: String) {
    write(Array((harmless(message) + "\n").utf8), to: STDERR_FILENO)
  }

  /// Writes text, such as a progress line, to stderr without escaping it.
  static func raw(_ text: String) {
    write(Array(text.utf8), to: STDERR_FILENO)
  }

  /// Makes the command finish its work even if its output can no longer be written.
  ///
  /// Call this before work whose effects must not depend on the reader of the output, such as a run with its metrics and
  /// its hooks. Without this call, the command ends at once.
  static func finishWork() { endsWork.store(true, ordering: .relaxed) }

  /// Ends the process.
  static func end(_ status: ExitStatus) -> Never {
    LarderCommand.libcurlOpening.wait()
    let isWritten = !failed.load(ordering: .relaxed)
    exit((isWritten ? status : ExitStatus.mostSevere([status, .io])).rawValue)
  }

  /// Removes characters that move the cursor or change the direction of text.
  ///
  /// Line ends, tabs and the colours of ``Terminal/paint(_:_:)`` stay.
  static func harmless(_ text: String) -> String {
    if text.unicodeScalars.allSatisfy({ $0 == "\n" || !PlainText.isHarmful($0) }) { return text }
    var plain = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scalar == "\u{1B}", let sequence = Terminal.Color.sequences.first(where: rest.starts) {
        plain.append(scalar)
        plain.append(contentsOf: sequence)
        rest = rest.dropFirst(sequence.count)
      } else if scalar == "\r", rest.first == "\n" {
        plain.append(scalar)
      } else if scalar == "\n" || scalar == "\t" || isFlagTag(scalar, after: plain.last)
        || !PlainText.isHarmful(scalar)
      {
        plain.append(scalar)
      }
    }
    return String(plain)
  }

  /// Whether the character is a tag in the flag emoji of England, Scotland or Wales.
  private static func isFlagTag(_ scalar: Unicode.Scalar, after last: Unicode.Scalar?) -> Bool {
    guard (0xE0020...0xE007F).contains(scalar.value), let last else { return false }
    return last.value == 0x1F3F4 || (0xE0020...0xE007F).contains(last.value)
  }

  /// Ends the process, or discards the output if there is work to finish.
  ///
  /// If the reader closed the pipe, as `| head` does, that is quiet.
  private static func outputFailed(_ number: Int32) {
    let isQuiet = number == EPIPE
    if !isQuiet, !failed.exchange(true, ordering: .relaxed) {
      Output.error("cannot write the output: \(systemMessage(number))")
    }
    guard endsWork.load(ordering: .relaxed) else {
      _exit(isQuiet ? 0 : ExitStatus.io.rawValue)
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    if descriptor == STDOUT_FILENO { printed.store(true, ordering: .relaxed) }
    do throws(SystemError) {
      try Files.write(bytes.span.bytes, to: descriptor)
    } catch {
      if descriptor == STDOUT_FILENO { outputFailed(error.code) }
    }
  }
}

extension OutputOptions {
  /// Prints the result of a command on stdout: one JSON document with `--json`, otherwise text.
  ///
  /// - Parameters:
  ///   - document: The document, which is encoded only with `--json`.
  ///   - text: The text.
  ///   - always: Whether to print the text even with `--quiet`, for example because the command has no other purpose.
  /// - Throws: The error of the expression for the document or the text, or of its encoding.
  func show(
    _ document: @autoclosure () throws -> some Encodable,
    text: @autoclosure () throws -> String,
    always: Bool = false
  ) throws {
    if json {
      Output.json(try document().jsonLine())
    } else if always || !quiet {
      Output.data(try text())
    }
  }
}

/// Prefixes that tell the journal of systemd how severe a line on stderr is. (sd-daemon(3))
enum Journal {
  /// The prefix, such as `<4>`, if the journal reads stderr; otherwise an empty string.
  ///
  /// `level` is a level of syslog: 3 for an error, 4 for a warning.
  static func prefix(_ level: Int) -> String { reads ? "<\(level)>" : "" }

  /// Whether stderr is the file that `JOURNAL_STREAM` names.
  ///
  /// If a service starts another process, that process inherits the variable, although its stderr is possibly another
  /// file. (systemd.exec(5))
  private static let reads: Bool = {
    guard let named = getenv("JOURNAL_STREAM") else { return false }
    var status = stat()
    guard fstat(STDERR_FILENO, &status) == 0 else { return false }
    return String(cString: named) == "\(status.st_dev):\(status.st_ino)"
  }()
}

/// Makes JSON safe to print on a terminal.
///
/// Characters that move the cursor or change the direction of text are escaped. No value changes, because an escape
/// such as `\u200e` means the same character.
enum TerminalJSON {
  /// The document with harmful characters as `\u…`: DEL, C1, separators, bidirectional controls and similar characters.
  ///
  /// The encoder has already escaped the characters of C0. (RFC 8259, section 7) In JSON, harmful characters can occur
  /// only in strings, and strings can have escapes.
  static func bytes(_ document: [UInt8]) -> [UInt8] {
    // The first UTF-8 bytes of all characters to escape. The characters of Hangul and Han begin with other bytes, so a
    // document in Korean skips the slow loop.
    let suspects: [UInt8] = [0x7F, 0xC2, 0xD8, 0xE1, 0xE2, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4]
    guard document.contains(where: { $0 >= 0x7F && suspects.contains($0) }) else {
      return document
    }
    var escaped = ""
    escaped.reserveCapacity(document.count)
    for scalar in String(decoding: document, as: UTF8.self).unicodeScalars {
      if scalar.value < 0x7F || !PlainText.isHarmful(scalar) {
        escaped.unicodeScalars.append(scalar)
      } else {
        for unit in scalar.utf16 {
          let digits = String(unit, radix: 16)
          escaped += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
        }
      }
    }
    return Array(escaped.utf8)
  }

  /// The same as ``bytes(_:)``, as text.
  static func text(_ document: [UInt8]) -> String {
    String(decoding: bytes(document), as: UTF8.self)
  }
}

/// Writes messages to stderr, one on each line, as text or as JSON objects (`--log-format`).
struct Log {
  private let format: LogFormat

  init(_ options: OutputOptions) {
    format = options.logFormat
  }

  init(_ format: LogFormat) {
    self.format = format
  }

  /// Logs an error that ended the command.
  func error(_ message: String) {
    say("error", message)
  }

  /// Logs a problem that did not end the command.
  func warning(_ message: String) {
    say("warning", message)
  }

  /// Logs something that is no problem.
  func note(_ message: String) {
    if format == .json { say("info", message) } else { Output.note(message) }
  }

  private func say(_ level: String, _ message: String) {
    // The message stays on one line, even if it contains text from a server.
    let message = PlainText.row(message)
    if format == .json {
      let line = try? [
        "time": UnixTime.now().rfc3339, "level": level, "message": message,
      ].jsonLine()
      Output.note(TerminalJSON.text(line ?? []))
    } else if level == "error" {
      Output.error(message)
    } else {
      Output.note("\(Journal.prefix(4))\(level): \(message)")
    }
  }
}
