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
    case red = 31
    case green = 32
    case yellow = 33

    /// What follows the escape character: each colour, and the end of all.
    static let sequences = (allCases.map(\.rawValue) + [0]).map {
      String.UnicodeScalarView("[\($0)m".unicodeScalars)
    }
  }
}

/// Columns that a text takes on a terminal: two for each Hangul, Han or wide character.
func columns(_ text: String) -> Int {
  text.unicodeScalars.reduce(0) { sum, scalar in
    switch scalar.value {
    case 0x0300...0x036F, 0x200B...0x200F, 0xFE00...0xFE0F: sum
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      sum + 2
    default: sum + 1
    }
  }
}

/// `text` with spaces to its right, to so many columns.
func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - columns(text)))
}
