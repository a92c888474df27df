import CCurl
import Transport

/// The URL of a handle's next transfer, parsed already where only its path differs from the last one's.
///
/// libcurl parses each URL that it is given as text, and prints what it has parsed for itself: a
/// sixth of the instructions that it takes for a small picture.
struct ParsedPlace: ~Copyable {
  private var parsed: URLHandle?
  /// Scheme, host and port of what is parsed.
  private var origin: [UInt8] = []
  private var isLent = false

  /// Tells a handle where to go.
  mutating func set(_ url: WebURL, on easy: borrowing EasyHandle) {
    // The text, too: libcurl shows it in messages, and asks for it when nothing is lent.
    _ = easy.set(CURLOPT_URL, url.text)
    let isReady = take(url)
    if isReady { parsed?.lend(to: easy) } else if isLent { easy.set(CURLOPT_CURLU, context: nil) }
    isLent = isReady
  }

  /// Puts the URL into the parsed one; false for what libcurl must read as a whole.
  private mutating func take(_ url: WebURL) -> Bool {
    var text = url.text
    return text.withUTF8 { bytes in
      let path = bytes[url.pathStart...]
      // libcurl would write the digits of escapes in lower case, and signatures cover their case.
      guard !path.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "?") }) else {
        return false
      }
      if parsed == nil || !origin.elementsEqual(bytes[..<url.pathStart]) {
        guard let fresh = URLHandle(), fresh.set(url.text) == CURLUE_OK else {
          parsed = nil
          return false
        }
        parsed = consume fresh
        origin = Array(bytes[..<url.pathStart])
        return true
      }
      return url.text.withCString { parsed?.set(path: $0 + url.pathStart) == CURLUE_OK }
    }
  }
}
