/// A command line for display on a page: fit to be pasted into a shell, and without secrets in URLs.
struct ShownCommand: CustomStringConvertible {
  let description: String

  /// - Parameter arguments: The process's arguments; the first, its name, is shown as `larder`.
  init(_ arguments: [String]) {
    description = (["larder"] + arguments.dropFirst().map(Self.masked)).map(Self.word)
      .joined(separator: " ")
  }

  /// A word whose URL has neither a user nor a query: both may hold credentials.
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

  /// A word as a shell takes it: the very text, in single quotes where it holds more than letters, digits and `_-./:=@%+,`.
  static func word(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "_-./:=@%+,".utf8.contains(byte)
        }
      }
    if isPlain { return word }
    // By scalars: an apostrophe with an accent after it is another character.
    let closed = word.unicodeScalars.flatMap { $0 == "'" ? Array("'\\''".unicodeScalars) : [$0] }
    return "'\(String(String.UnicodeScalarView(closed)))'"
  }
}
