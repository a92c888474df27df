import CGlibc
import SystemPackage

/// The words of the command line, as the system handed them to the program.
///
/// `CommandLine.arguments` reads them from `/proc`, and has none where a jail has no `/proc`.
enum ProgramArguments {
  /// The words, the program's own name first; a byte that is no UTF-8 reads as U+FFFD.
  static let all: [String] = words.map { String(cString: $0) }

  private static var words: [UnsafePointer<CChar>] {
    (0..<larder_argument_count()).compactMap { larder_argument($0) }
  }

  /// The path that a word of the command line names, with the bytes that it came in.
  ///
  /// - Parameter argument: A word of the command line, or the part behind an equals sign, as text.
  /// - Returns: The path.
  static func path(_ argument: String) -> FilePath {
    guard argument.unicodeScalars.contains("\u{FFFD}") else { return FilePath(argument) }
    for word in words {
      if String(cString: word) == argument { return FilePath(platformString: word) }
      var rest = word
      while rest.pointee != 0, rest.pointee != CChar(UInt8(ascii: "=")) { rest += 1 }
      guard rest.pointee != 0 else { continue }
      if String(cString: rest + 1) == argument { return FilePath(platformString: rest + 1) }
    }
    return FilePath(argument)
  }
}
