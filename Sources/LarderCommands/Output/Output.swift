import Base
import Catalog
import CurlTransport
import Glibc
import Pipeline
import Synchronization

/// The only place that writes to the terminal: data to stdout, all else to stderr.
enum Output {
  private static let printed = Atomic(false)

  /// Whether anything was written to stdout.
  static var hasPrinted: Bool { printed.load(ordering: .relaxed) }

  /// Writes data for people, whole lines.
  ///
  /// The text of a line may come from any source. The caller has made one line of it with
  /// ``PlainText``; this is a second defence, and larder's own colours stay.
  static func data(_ text: String) {
    let text = harmless(text)
    // By bytes: CR LF is one character, and its text ends in no line feed.
    write(Array(text.utf8) + (text.utf8.last == 10 ? [] : [10]), to: STDOUT_FILENO)
  }

  /// Writes one JSON document or line.
  static func json(_ bytes: [UInt8]) {
    write(TerminalJSON.bytes(bytes) + [10], to: STDOUT_FILENO)
  }

  /// Writes a part of a JSON document, which breaks no character in two.
  static func part(_ bytes: [UInt8]) {
    write(TerminalJSON.bytes(bytes), to: STDOUT_FILENO)
  }

  /// Writes a file to stdout, byte for byte.
  static func file(_ bytes: [UInt8]) {
    write(bytes, to: STDOUT_FILENO)
  }

  /// Prints an error, on one line.
  static func error(_ message: String) {
    note("\(Journal.prefix(.error))larder: \(PlainText.row(message))")
  }

  /// Says something that is no data.
  static func note(_ message: String) {
    write(Array((harmless(message) + "\n").utf8), to: STDERR_FILENO)
  }

  /// Writes to the terminal as it is, for a progress line.
  static func raw(_ text: String) {
    write(Array(text.utf8), to: STDERR_FILENO)
  }

  /// Ends the process.
  static func end(_ status: ExitStatus) -> Never {
    exit(status.rawValue)
  }

  /// The text without characters that move a cursor or change the text direction, except line ends
  /// and ``Terminal/paint(_:_:)``.
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

  /// Whether the character continues the flag of England, Scotland or Wales.
  private static func isFlagTag(_ scalar: Unicode.Scalar, after last: Unicode.Scalar?) -> Bool {
    guard (0xE0020...0xE007F).contains(scalar.value), let last else { return false }
    return last.value == 0x1F3F4 || (0xE0020...0xE007F).contains(last.value)
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    if descriptor == STDOUT_FILENO { printed.store(true, ordering: .relaxed) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        // The reader has gone, as in `| head`: nothing is left to say to anybody.
        if errno == EPIPE, descriptor == STDOUT_FILENO { _exit(0) }
        if descriptor == STDOUT_FILENO {
          Output.error("cannot write the output: \(systemMessage(errno))")
          _exit(ExitStatus.io.rawValue)
        }
        return
      }
      rest = rest.dropFirst(count)
    }
  }
}

/// The priority of a line on stderr for systemd's journal. (sd-daemon(3))
enum Journal {
  /// How grave a line is, as syslog counts.
  enum Priority: Int {
    case error = 3
    case warning = 4
  }

  /// `<4>` where the journal reads stderr; else empty.
  static func prefix(_ priority: Priority) -> String {
    reads ? "<\(priority.rawValue)>" : ""
  }

  /// Whether `JOURNAL_STREAM` names the file that stderr is: a child of a service may have another. (systemd.exec(5))
  private static let reads: Bool = {
    guard let named = getenv("JOURNAL_STREAM") else { return false }
    var status = stat()
    guard fstat(STDERR_FILENO, &status) == 0 else { return false }
    return String(cString: named) == "\(status.st_dev):\(status.st_ino)"
  }()
}

/// JSON that is safe to print on a terminal: characters that move the cursor or change the direction of text are
/// escaped, and no value changes.
enum TerminalJSON {
  /// The document with DEL, C1, separators, bidirectional controls and their like as `\u…`.
  ///
  /// The encoder escapes C0 itself. (RFC 8259, section 7) Such characters stand in strings only,
  /// where an escape means the same.
  static func bytes(_ document: [UInt8]) -> [UInt8] {
    // The first bytes of everything that is to be escaped; Hangul and Han begin with others.
    let suspects: [UInt8] = [0x7F, 0xC2, 0xD8, 0xE1, 0xE2, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4]
    guard document.contains(where: { $0 >= 0x7F && suspects.contains($0) }) else {
      return document
    }
    var escaped: [UInt8] = []
    escaped.reserveCapacity(document.count)
    var rest = document[...]
    while let first = rest.first {
      let length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      let bytes = rest.prefix(length)
      rest = rest.dropFirst(length)
      guard first >= 0x7F, suspects.contains(first),
        let scalar = String(decoding: bytes, as: UTF8.self).unicodeScalars.first,
        PlainText.isHarmful(scalar)
      else {
        escaped += bytes
        continue
      }
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        escaped += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
      }
    }
    return escaped
  }

  /// The same as text.
  static func text(_ document: [UInt8]) -> String {
    String(decoding: bytes(document), as: UTF8.self)
  }
}

/// Says things on stderr, a line each, as text or as one JSON object.
struct Log {
  private let format: LogFormat

  init(_ options: OutputOptions) {
    format = options.logFormat
  }

  init(_ format: LogFormat) {
    self.format = format
  }

  /// Something ended the command.
  func error(_ message: String) {
    say("error", message)
  }

  /// Something is wrong that did not end the command.
  func warning(_ message: String) {
    say("warning", message)
  }

  private func say(_ level: String, _ message: String) {
    // One line, for any text of a server or a feed.
    let message = PlainText.row(message)
    switch format {
    case .text:
      if level == "error" {
        Output.error(message)
      } else {
        Output.note("\(Journal.prefix(.warning))\(level): \(message)")
      }
    case .json:
      let line = try? [
        "time": UnixTime.now().rfc3339, "level": level, "message": message,
      ].jsonLine()
      Output.note(TerminalJSON.text(line ?? []))
    }
  }
}
