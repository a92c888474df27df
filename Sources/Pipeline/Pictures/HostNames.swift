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
    // libcurl accepts any number of slashes behind the scheme.
    let slash = UInt8(ascii: "/")
    guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")),
      let start = url.utf8[colon...].dropFirst().firstIndex(where: { $0 != slash })
    else { return url[...] }
    return url[..<(url.utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? url.endIndex)]
  }
}
