/// Whether a text fits a pattern in which `*` is any run of bytes and `?` any one byte.
func glob(_ pattern: String, matches text: String) -> Bool {
  let (pattern, text) = (Array(pattern.utf8), Array(text.utf8))
  var (at, from) = (0, 0)
  var retry: (pattern: Int, text: Int)?
  while from < text.count {
    if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
      at += 1
      retry = (at, from)
    } else if at < pattern.count, pattern[at] == UInt8(ascii: "?") || pattern[at] == text[from] {
      (at, from) = (at + 1, from + 1)
    } else if let (starAt, starFrom) = retry {
      (at, from) = (starAt, starFrom + 1)
      retry = (starAt, starFrom + 1)
    } else {
      return false
    }
  }
  return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
}
