/// A command line for display: quoted for a shell, with user names, passwords and queries of URLs masked.
struct ShownCommand: CustomStringConvertible {
  let description: String

  /// - Parameter arguments: The process's arguments; the first, its name, is shown as `larder`.
  init(_ arguments: [String]) {
    description = (["larder"] + arguments.dropFirst().map(Self.masked)).map(Self.word)
      .joined(separator: " ")
  }

  /// Masks the user and the query of a URL, because both may contain credentials.
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

  /// Quotes a word for a shell: in single quotes, unless it has only letters, digits and `_-./:=@%+,`.
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
    // Works on scalars: to Swift, an apostrophe followed by a combining accent is a different `Character`.
    let closed = word.unicodeScalars.flatMap { $0 == "'" ? Array("'\\''".unicodeScalars) : [$0] }
    return "'\(String(String.UnicodeScalarView(closed)))'"
  }
}
