import Glibc

/// What stdout and stderr are, and how they may be written to.
struct Terminal: Sendable {
  /// Whether a progress line may be drawn on stderr.
  let showsProgress: Bool
  /// Whether stdout takes colours.
  let hasColor: Bool

  /// Looks at the environment and the flags.
  init(_ options: OutputOptions) {
    let term = Self.environment("TERM")
    let isDumb = term == nil || term == "dumb"
    showsProgress = isatty(STDERR_FILENO) == 1 && !isDumb && !options.quiet && !options.json
    let noColor = (Self.environment("NO_COLOR") ?? "").isEmpty == false
    hasColor = isatty(STDOUT_FILENO) == 1 && !isDumb && !noColor && !options.noColor
  }

  /// Whether stdin is a terminal, whatever it may be.
  static var isStandardInput: Bool { isatty(STDIN_FILENO) == 1 }

  /// Whether stdout is a terminal, whatever it may be.
  static var isStandardOutput: Bool { isatty(STDOUT_FILENO) == 1 }

  /// How many columns stderr has now.
  static var width: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// A variable of the environment.
  static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// `text` in one of the terminal's sixteen colours, where there are colours.
  func paint(_ text: String, _ color: Color) -> String {
    hasColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// The few colours that larder uses, readable on light and dark.
  enum Color: Int, CaseIterable {
    case bold = 1
    case faint = 2
    case struck = 9
    case red = 31
    case green = 32
    case yellow = 33

    /// What follows the escape character: each colour, and the end of all.
    static let sequences = (allCases.map(\.rawValue) + [0]).map {
      String.UnicodeScalarView("[\($0)m".unicodeScalars)
    }
  }
}
