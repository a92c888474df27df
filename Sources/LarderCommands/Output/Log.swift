import FoundationEssentials

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

  /// Something to know.
  func info(_ message: String) {
    say("info", message)
  }

  private func say(_ level: String, _ message: String) {
    switch format {
    case .text:
      switch level {
      case "info": Output.note(message)
      case "error": Output.error(message)
      default: Output.note("\(level): \(message)")
      }
    case .json:
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let line = try? encoder.encode(["level": level, "message": message])
      Output.note(String(decoding: line ?? Data(), as: UTF8.self))
    }
  }
}
