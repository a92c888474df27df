import Synchronization
import Transport

/// The hosts of URLs.
///
/// Each host is parsed once, because parsing the URLs of all pictures takes a twentieth of a sync's time.
final class HostNames: Sendable {
  private let parser: any URLParsing
  private let known = Mutex<[Substring: String]>([:])

  /// Makes an empty memory; `parser` parses the URLs.
  init(of parser: any URLParsing) { self.parser = parser }

  /// The host and port that a URL is requested from, as a text; empty if the text is not a URL.
  func host(of url: String) -> String {
    let origin = Self.origin(of: url)
    return known.withLock { known in
      if let host = known[origin] { return host }
      guard let parsed = try? parser.parse(String(origin), relativeTo: nil) else { return "" }
      known[origin] = "\(parsed.hostPort)"
      return "\(parsed.hostPort)"
    }
  }

  /// The part of a URL before its path, query and fragment.
  private static func origin(of url: String) -> Substring {
    var slashes = 0
    let end = url.utf8.firstIndex { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
    return url[..<(end ?? url.endIndex)]
  }
}
