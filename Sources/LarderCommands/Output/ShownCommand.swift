/// A command line for display, quoted for a shell.
///
/// In URLs, the user, the password and the query are masked.
struct ShownCommand: CustomStringConvertible {
  let description: String

  /// Makes the text of a command line.
  ///
  /// - Parameter arguments: The arguments of the process. The first one, which is the program's name, is shown as
  ///   `larder`.
  init(_ arguments: [String]) {
    description = (["larder"] + arguments.dropFirst().map(Self.masked)).map(Self.word)
      .joined(separator: " ")
  }

  /// Masks the user and the query of a URL, because both can contain credentials.
  private static func masked(_ word: String) -> String {
    guard let slashes = word.firstRange(of: "://") else { return word }
    var rest = word[slashes.upperBound...]
    var shown = String(word[..<slashes.upperBound])
    let authority = rest.prefix { !"/?#".contains($0) }
    if let at = authority.lastIndex(of: "@") {
      shown += "***@"
      rest = rest[rest.index(after: at)...]
    }
    guard let query = rest.firstIndex(of: "?") else { return shown + rest }
    return shown + rest[..<query] + "?***"
  }

  /// Puts a word into single quotes for a shell, unless it has only letters, digits and the characters `_-./:=@%+,`.
  static func word(_ word: String) -> String {
    let isPlain = word.wholeMatch(of: /[a-zA-Z0-9_.\/:=@%+,-]+/) != nil
    if isPlain { return word }
    // Scalars are compared, because an apostrophe and a combining accent after it would be another `Character`.
    let closed = word.unicodeScalars.flatMap { $0 == "'" ? Array("'\\''".unicodeScalars) : [$0] }
    return "'\(String(String.UnicodeScalarView(closed)))'"
  }
}
