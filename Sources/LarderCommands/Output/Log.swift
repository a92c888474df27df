import Catalog
import CurlTransport
import Pipeline
import Transport

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
    // One line, whatever a server or a feed put into it.
    let message = PlainText.row(message)
    switch format {
    case .text:
      if level == "error" { Output.error(message) } else { Output.note("\(level): \(message)") }
    case .json:
      let line = try? [
        "time": UnixTime.now().rfc3339, "level": level, "message": message,
      ].jsonLine()
      Output.note(TerminalJSON.text(line ?? []))
    }
  }
}
