/// Quotes words of a command line for a shell.
enum ShellWord {
  /// Puts a word into single quotes, unless it has only letters, digits and the characters `_-./:=@%+,`.
  static func quoted(_ word: String) -> String {
    if word.wholeMatch(of: /[a-zA-Z0-9_.\/:=@%+,-]+/) != nil { return word }
    // Scalars are compared, because an apostrophe and a combining accent after it would be another `Character`.
    let closed = word.unicodeScalars.flatMap { $0 == "'" ? Array("'\\''".unicodeScalars) : [$0] }
    return "'\(String(String.UnicodeScalarView(closed)))'"
  }
}
