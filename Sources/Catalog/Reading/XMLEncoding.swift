/// The encoding of an XML document.
enum XMLEncoding {
  /// The encodings that write markup characters such as `<` as ASCII does, and nothing else with these bytes.
  ///
  /// ISO-2022, UTF-7 and EBCDIC are not among them, for example.
  private static let alikeASCII = [
    "utf-8", "utf8", "us-ascii", "ascii", "iso-8859", "iso8859", "iso_8859", "latin", "windows-",
    "cp125", "cp949", "euc", "shift_jis", "shift-jis", "sjis", "big5", "gb", "koi8", "ks_c",
    "uhc", "tis-620", "macintosh",
  ]

  /// Whether the markup of a document is ASCII, according to the document's first bytes and its XML declaration.
  static func isAlikeASCII(_ beginning: [UInt8]) -> Bool {
    guard let name = name(in: String(decoding: beginning.prefix(1024), as: UTF8.self)) else {
      return true
    }
    return alikeASCII.contains(where: name.hasPrefix)
  }

  /// The encoding that the declaration at the beginning of a document names, in lower case, or nil if there is none.
  ///
  /// The declaration can be behind white space that shops send by mistake. (XML 1.0, section 2.8)
  static func name(in head: String) -> String? {
    let declaration = /<\?xml(?:(?!\?>)[\s\S])*?encoding[\s=]*["']([^"']*)/
    return head.trimmed.prefixMatch(of: declaration)?.output.1.lowercased()
  }
}
