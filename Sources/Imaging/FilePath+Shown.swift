import SystemPackage

extension FilePath {
  /// The path as people and JSON get it: a byte that is no UTF-8 stands as `\xE9`.
  ///
  /// For messages and results only; the system is asked for the path's own bytes.
  package var shown: String {
    let bytes = withPlatformString { path in
      Array(UnsafeRawBufferPointer(start: path, count: length))
    }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var (text, rest) = ("", bytes[...])
    while let first = rest.first {
      let whole = (1...min(4, rest.count)).lazy.compactMap { count in
        String(validating: rest.prefix(count), as: UTF8.self).map { (count, $0) }
      }.first
      text += whole?.1 ?? "\\x\(String(first, radix: 16, uppercase: true))"
      rest = rest.dropFirst(whole?.0 ?? 1)
    }
    return text
  }
}
