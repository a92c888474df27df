import Glibc

/// The features of the terminal: whether a progress line is allowed on stderr, and whether colours are allowed on
/// stdout.
struct Terminal: Sendable {
  /// Whether a progress line is allowed on stderr.
  let showsProgress: Bool
  /// Whether to use colours on stdout.
  let hasColor: Bool

  /// Determines the features from the environment and the options.
  init(_ options: OutputOptions) {
    let term = OutboxOptions.variable("TERM")
    let isDumb = term == nil || term == "dumb"
    showsProgress = isatty(STDERR_FILENO) == 1 && !isDumb && !options.quiet && !options.json
    let noColor = options.noColor || OutboxOptions.variable("NO_COLOR") != nil
    hasColor = isatty(STDOUT_FILENO) == 1 && !isDumb && !noColor
  }

  /// Whether stdin is a terminal of any kind.
  static var isStandardInput: Bool { isatty(STDIN_FILENO) == 1 }

  /// Whether stdout is a terminal of any kind.
  static var isStandardOutput: Bool { isatty(STDOUT_FILENO) == 1 }

  /// The current width of the terminal on stderr, in columns.
  static var width: Int { width(of: STDERR_FILENO) }

  /// The number of columns for help: that of the variable `COLUMNS` or of the terminal on stdout, but at least 40.
  ///
  /// The argument parser ends the process if it is to wrap its help in fewer than 27.
  static var widthOfHelp: Int {
    let wish = OutboxOptions.variable("COLUMNS").flatMap { Int($0) } ?? 0
    return max(40, wish > 0 ? wish : width(of: STDOUT_FILENO))
  }

  private static func width(of descriptor: Int32) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The text in a colour or style; unchanged if colours are off.
  func paint(_ text: String, _ color: Color) -> String {
    hasColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// The colours and styles that larder uses, readable on light and dark backgrounds.
  enum Color: Int, CaseIterable {
    case bold = 1
    case faint = 2
    case struck = 9
    case red = 31
    case green = 32
    case yellow = 33

    /// The characters that follow the escape character in a sequence, such as `[31m`: one entry for each colour, and
    /// one for the reset.
    static let sequences = (allCases.map(\.rawValue) + [0]).map {
      String.UnicodeScalarView("[\($0)m".unicodeScalars)
    }
  }
}

/// The number of columns that a text takes on a terminal.
///
/// A Hangul, Han or other wide character takes two columns. An emoji takes two as well, even if it consists of several
/// code points. (UAX 11, UTS 51)
func columns(_ text: String) -> Int {
  let count = text.utf8.count
  if text.utf8.allSatisfy({ $0 < 0x80 }) { return count }
  return text.reduce(0) { $0 + columns(of: $1) }
}

/// The number of columns of a grapheme cluster.
private func columns(of character: Character) -> Int {
  let scalars = character.unicodeScalars
  guard let first = scalars.first else { return 0 }
  guard scalars.count > 1 else { return columns(of: first) }
  // A variation selector turns a character into an emoji.
  if first.properties.isEmoji, scalars.contains("\u{FE0F}") { return 2 }
  // Code points that join an emoji, set its skin tone or complete a flag take no further columns.
  if first.properties.isEmojiPresentation { return 2 }
  return scalars.reduce(0) { $0 + columns(of: $1) }
}

private func columns(of scalar: Unicode.Scalar) -> Int {
  switch scalar.value {
  case 0x20...0x7E, 0xA0...0x02FF: return 1
  // The vowels and final consonants of decomposed Hangul are drawn within the columns of the first consonant.
  case 0x1160...0x11FF, 0xD7B0...0xD7FF, 0x200B...0x200F: return 0
  case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
    return 2
  default: break
  }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark: return 0
  default: return scalar.properties.isEmojiPresentation ? 2 : 1
  }
}

/// Pads the cells of a table with spaces, so that all cells of a column have the width of the widest cell.
///
/// The last cell of a row gets no spaces to its right.
///
/// - Parameters:
///   - rows: The rows, which all have the same number of cells.
///   - isRight: Whether to align a cell to the right, for example because it is a number. It is called with the
///     position of the row and of the column, each from 0.
/// - Returns: The rows with padded cells.
func aligned(
  _ rows: [[String]],
  right isRight: (_ row: Int, _ column: Int) -> Bool = { _, _ in false }
) -> [[String]] {
  guard let first = rows.first else { return [] }
  let widths = first.indices.map { column in rows.map { columns($0[column]) }.max() ?? 0 }
  return rows.enumerated().map { number, row in
    row.enumerated().map { column, cell in
      let isRight = isRight(number, column)
      return column == widths.count - 1 && !isRight
        ? cell : padded(cell, to: widths[column], right: isRight)
    }
  }
}

/// `text` with spaces to its right, or to its left, up to the given width.
func padded(_ text: String, to width: Int, right isRight: Bool = false) -> String {
  let space = String(repeating: " ", count: max(0, width - columns(text)))
  return isRight ? space + text : text + space
}
