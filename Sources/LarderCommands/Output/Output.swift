import Glibc

/// The only place that writes to the terminal: data to stdout, all else to stderr.
enum Output {
  /// Writes data, whole lines.
  static func data(_ text: String) {
    // By bytes: CR LF is one character, and its text ends in no line feed.
    write(Array(text.utf8) + (text.utf8.last == 10 ? [] : [10]), to: STDOUT_FILENO)
  }

  /// Writes one JSON document or line.
  static func json(_ bytes: [UInt8]) {
    write(bytes + [10], to: STDOUT_FILENO)
  }

  /// Says what went wrong.
  static func error(_ message: String) {
    note("larder: \(message)")
  }

  /// Says something that is no data.
  static func note(_ message: String) {
    write(Array((message + "\n").utf8), to: STDERR_FILENO)
  }

  /// Writes to the terminal as it is, for a progress line.
  static func raw(_ text: String) {
    write(Array(text.utf8), to: STDERR_FILENO)
  }

  /// Ends the process.
  static func end(_ status: ExitStatus) -> Never {
    exit(status.rawValue)
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        // The reader has gone, as in `| head`: nothing is left to say to anybody.
        if errno == EPIPE, descriptor == STDOUT_FILENO { _exit(0) }
        if descriptor == STDOUT_FILENO {
          let words = String(cString: strerror(errno)).lowercased()
          Output.error("cannot write the output: \(words)")
          _exit(ExitStatus.io.rawValue)
        }
        return
      }
      rest = rest.dropFirst(count)
    }
  }
}
